"""One suite over every embedder: the fake, both engines over a tiny XLM-RoBERTa, a server, and the real e5.

A remote embedder has no token vectors, whether they are asked for or not.
"""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest
from encoder_models import tiny_xlm_roberta
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from openai_stand_in import stand_in

from pipeline.embedders.hash import HashEmbedder
from pipeline.embedders.onnx import OnnxEmbedder
from pipeline.embedders.openai import OpenAiEmbedder
from pipeline.embedders.remembering import RememberingEmbedder
from pipeline.embedders.sentence_transformers import SentenceTransformersEmbedder
from pipeline.errors import TextTooLongError
from pipeline.remote.client import RemoteClient

TEXTS = ["Сколько дней отпуск?", "склад", "what leave the store: 12 day", "ё", "номер 5, склад 7. отпуск!"]
KINDS = [
    "hash",
    "remembering",
    "onnx-e5",
    "onnx-none",
    "torch-e5",
    "torch-none",
    "remote-e5",
    "remote-none",
    pytest.param("real", marks=pytest.mark.models),
]


@pytest.fixture(scope="session")
def tiny(tmp_path_factory):
    return tiny_xlm_roberta(tmp_path_factory.mktemp("models") / "tiny")


@pytest.fixture(scope="session")
def made():
    with ExitStack() as stack:
        yield {"": stack}


@pytest.fixture(params=KINDS)
def embedder(request, made):
    kind = request.param
    if kind not in made:
        made[kind] = make(kind, request, made[""])
    return made[kind]


def make(kind, request, stack):
    if kind == "hash":
        return HashEmbedder(dimension=16, token_limit=60)
    if kind == "remembering":
        return RememberingEmbedder(HashEmbedder(dimension=16, token_limit=60))
    if kind == "real":
        folder = request.getfixturevalue("models_folder") / "multilingual-e5-small"
        return OnnxEmbedder(folder, threads=2)
    engine, scheme = kind.split("-")
    if engine == "remote":
        server = stack.enter_context(stand_in(scheme=scheme))
        client = RemoteClient([server.url])
        stack.callback(client.close)
        return OpenAiEmbedder(client, "stand-in", prefix_scheme=scheme, batch=2)
    folder = request.getfixturevalue("tiny")
    create = OnnxEmbedder if engine == "onnx" else SentenceTransformersEmbedder
    return create(folder, threads=2, prefix_scheme=scheme)


def test_vectors_have_length_one_and_the_promised_shape(embedder):
    for role in ("query", "passage"):
        encoded = embedder.encode(TEXTS, role, with_tokens=True)
        assert encoded.vectors.dtype == np.float32
        assert encoded.vectors.shape == (len(TEXTS), embedder.spec.dimension)
        assert np.linalg.norm(encoded.vectors, axis=1) == pytest.approx(1, abs=1e-4)
        assert (encoded.tokens is None) == isinstance(embedder, OpenAiEmbedder)
        for text, tokens in zip(TEXTS, encoded.tokens or (), strict=encoded.tokens is not None):
            assert tokens.vectors.dtype == np.float32
            assert tokens.spans.dtype == np.int32
            assert tokens.vectors.shape == (len(tokens), embedder.spec.dimension)
            assert np.linalg.norm(tokens.vectors, axis=1) == pytest.approx(1, abs=1e-4)
            assert tokens.spans.tolist() == embedder.token_spans(text).tolist()


def test_the_spec_says_who_it_is(embedder):
    spec = embedder.spec
    assert spec == embedder.spec
    assert spec.id
    assert spec.prefix_scheme in ("e5", "none")
    assert spec.token_limit > 0


def test_tokens_come_only_when_asked_for(embedder):
    assert embedder.encode(TEXTS, "query").tokens is None


def test_the_same_text_gives_the_same_bytes(embedder):
    one, two = (embedder.encode(TEXTS, "passage", with_tokens=True) for _ in range(2))
    assert one.vectors.tobytes() == two.vectors.tobytes()
    for first, second in zip(one.tokens or (), two.tokens or (), strict=True):
        assert first.vectors.tobytes() == second.vectors.tobytes()


def test_neither_order_nor_company_changes_a_vector(embedder):
    together = embedder.encode(TEXTS, "passage", with_tokens=True)
    backwards = embedder.encode(TEXTS[::-1], "passage", with_tokens=True)
    for row, text in enumerate(TEXTS):
        alone = embedder.encode([text], "passage", with_tokens=True)
        for other, at in ((alone, 0), (backwards, len(TEXTS) - 1 - row)):
            assert np.abs(other.vectors[at] - together.vectors[row]).max() < 1e-3
            if together.tokens is not None:
                assert np.abs(other.tokens[at].vectors - together.tokens[row].vectors).max() < 1e-3


def test_no_texts_give_no_vectors(embedder):
    encoded = embedder.encode([], "passage", with_tokens=True)
    assert encoded.vectors.shape == (0, embedder.spec.dimension)
    assert not encoded.tokens


def test_a_text_without_words_still_has_a_vector(embedder):
    """Case 7: nothing but spaces."""
    encoded = embedder.encode(["", "  \n\t "], "passage", with_tokens=True)
    assert np.isfinite(encoded.vectors).all()
    assert np.linalg.norm(encoded.vectors, axis=1) == pytest.approx(1, abs=1e-4)
    assert encoded.tokens is None or len(encoded.tokens[0]) == 0
    assert embedder.token_spans("").shape == (0, 2)


def test_a_text_at_the_limit_fits_and_one_token_more_is_refused(embedder):
    """Case 15: nothing is ever cut; prefix and special tokens are already taken off the limit."""
    limit = embedder.spec.token_limit
    fitting, too_long = " ".join(["2"] * limit), " ".join(["2"] * (limit + 1))
    if len(embedder.token_spans(fitting)) != limit:
        pytest.fail("the test needs a word of one token")
    for role in ("query", "passage"):
        tokens = embedder.encode([fitting], role, with_tokens=True).tokens
        assert tokens is None or len(tokens[0]) == limit
        with pytest.raises(TextTooLongError) as caught:
            embedder.encode(["склад", too_long], role)
        assert caught.value.values == {"tokens": limit + 1, "limit": limit}
    assert len(embedder.token_spans(too_long)) == limit + 1


def test_a_lonely_space_before_the_text_does_not_overrun_the_model(embedder):
    """Case 15: "▁" before an emoji is a token that belongs neither to the prefix nor to the text."""
    text = "👨 " + " ".join(["2"] * (embedder.spec.token_limit + 1))
    while len(embedder.token_spans(text)) > embedder.spec.token_limit:
        text = text.removesuffix(" 2")
    assert np.isfinite(embedder.encode([text], "query").vectors).all()


def test_the_end_of_the_longest_text_counts(embedder):
    """Case 15: the last word moves the vector."""
    words = ["2"] * (embedder.spec.token_limit - 1)
    vectors = embedder.encode([" ".join([*words, "3"]), " ".join([*words, "2"])], "passage").vectors
    assert np.abs(vectors[0] - vectors[1]).max() > 1e-6


@pytest.mark.parametrize(
    "text",
    [
        "\ud83d",
        "склад \udc00 отпуск",
        "a\x00b",
        "👨‍👩‍👧 склад",
        "\ufeffсклад",
        "½ № ﬁ Å",
        "й й",
        "\u2028\u200b",
    ],
)
def test_odd_characters_do_no_harm(embedder, text):
    """Cases 6 and 11: lone surrogates, NUL, emoji, combining and compatibility characters."""
    encoded = embedder.encode([text, "склад"], "query", with_tokens=True)
    assert np.isfinite(encoded.vectors).all()
    spans = encoded.tokens[0].spans if encoded.tokens else embedder.token_spans(text)
    assert ((spans >= 0) & (spans <= len(text))).all()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(st.characters(codec=None), max_size=60))
def test_spans_lie_in_the_text_in_order(embedder, text):
    spans = embedder.token_spans(text)
    assert spans.dtype == np.int32
    assert (spans[:, 0] >= 0).all()
    assert (spans[:, 0] <= spans[:, 1]).all()
    assert (spans[:, 1] <= len(text)).all()
    assert (np.diff(spans[:, 0]) >= 0).all()
    assert (np.diff(spans[:, 1]) >= 0).all()


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(words=st.lists(st.text("абвгдежзиклмнопрстуя0123456789", min_size=1, max_size=12), max_size=8))
def test_on_simple_text_the_spans_cover_every_word_and_no_space(embedder, words):
    text = " ".join(words)
    spans = embedder.token_spans(text)
    covered = {place for start, end in spans for place in range(start, end)}
    assert {place for place, letter in enumerate(text) if letter != " "} <= covered
    assert all(text[start:end] == " " or " " not in text[start:end] for start, end in spans)


def test_progress_ends_with_everything_done(embedder):
    calls: list[tuple[int, int]] = []
    embedder.encode(TEXTS, "passage", progress=lambda done, total: calls.append((done, total)))
    assert [done for done, _ in calls] == sorted(done for done, _ in calls)
    assert calls[-1] == (len(TEXTS), len(TEXTS))


def test_many_threads_get_their_own_vectors(embedder):
    expected = embedder.encode(TEXTS, "query").vectors
    barrier = threading.Barrier(4)

    def one(row: int):
        barrier.wait()
        return embedder.encode([TEXTS[row]], "query").vectors[0]

    with ThreadPoolExecutor(4) as pool:
        for row, vector in enumerate(pool.map(one, range(4))):
            assert np.abs(vector - expected[row]).max() < 1e-3


def test_more_texts_than_one_helping(embedder):
    texts = [f"склад {number}" for number in range(260)]
    encoded = embedder.encode(texts, "passage", with_tokens=True)
    assert np.abs(encoded.vectors[259] - embedder.encode(texts[259:], "passage").vectors[0]).max() < 1e-3
    assert encoded.vectors.shape[0] == 260
    assert encoded.tokens is None or len(encoded.tokens) == 260


class Recorder:
    """Stands before a tokenizer and keeps what it is given."""

    def __init__(self, tokenizer):
        self._tokenizer, self.texts = tokenizer, []

    def encode(self, text):
        self.texts.append(text)
        return self._tokenizer.encode(text)


@pytest.mark.parametrize("engine", [OnnxEmbedder, SentenceTransformersEmbedder])
@pytest.mark.parametrize(
    ("scheme", "expected"),
    [("e5", ["query: склад", "passage: query: склад"]), ("none", ["склад", "query: склад"])],
)
def test_the_prefix_is_added_exactly_once(engine, scheme, expected, tiny, monkeypatch):
    """Case 16; a text that happens to begin with a prefix is still only a text."""
    embedder = engine(tiny, threads=1, prefix_scheme=scheme)
    recorder = Recorder(embedder._tokenise._tokenizer)
    monkeypatch.setattr(embedder._tokenise, "_tokenizer", recorder)
    embedder.encode(["склад"], "query")
    embedder.encode(["query: склад"], "passage")
    assert recorder.texts == expected


def test_prefix_and_specials_are_no_text_tokens(embedder):
    if isinstance(embedder, OpenAiEmbedder):
        pytest.skip("no tokens")
    tokens = embedder.encode(["склад"], "query", with_tokens=True).tokens[0]
    assert {tuple(span) for span in tokens.spans.tolist()} <= {(0, 5), (0, 1), (1, 2), (2, 3), (3, 4), (4, 5)}
    assert tokens.spans[0][0] == 0
    assert tokens.spans[-1][1] == 5
