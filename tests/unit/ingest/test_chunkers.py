"""All chunking strategies: what every one must keep, and what each is for."""

from __future__ import annotations

import itertools
import typing

import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as examples
from hypothesis import strategies as st
from word_embedder import WordEmbedder

from pipeline.ingest.build import build_index
from pipeline.ingest.chunkers.chunker import Chunker, topic_characters
from pipeline.ingest.chunkers.paragraphs import lines_of, paragraphs
from pipeline.ingest.chunkers.semantic import best_borders
from pipeline.ingest.chunkers.strategies import STRATEGIES
from pipeline.ingest.chunkers.units import Unit
from pipeline.settings import ChunkingName, IndexSettings, load_settings
from pipeline.text.anonymise import anonymise
from pipeline.text.embedded import embedded_text
from pipeline.text.graphemes import is_boundary
from pipeline.text.normalise import clean_text
from pipeline.types import Block, Chunk, Document

NAMES: tuple[ChunkingName, ...] = typing.get_args(ChunkingName)
every_strategy = pytest.mark.parametrize("name", NAMES)

CODE = "```bsl\nПроцедура А()\n\n    Сообщить(1);\n\nКонецПроцедуры\n```"
ROWS = [f"| Должность: Кладовщик {n} | Оклад: {n} 000 |" for n in range(30)]


def document(text: str, kind: str = "txt") -> Document:
    return Document("d", "a", "Тема", None, text, (Block(0, len(text), "Тема"),), {"source_type": kind})


def chunks_of(text: str, name: ChunkingName, size: int = 16, limit: int = 60) -> list[Chunk]:
    return Chunker(WordEmbedder(limit=limit), size, size // 4, name).chunk(document(text))


def assert_sound(text: str, chunks: list[Chunk], name: ChunkingName, size: int, limit: int = 60) -> None:
    """Every chunk is a fitting piece of the text, in order, and all non-space text is in one."""
    embedder = WordEmbedder(limit=limit)
    covered = 0
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.text.strip() == chunk.text
        assert not text[covered : chunk.start].strip()
        assert chunk.end > covered
        covered = chunk.end
        assert len(embedder.token_spans(embedded_text(chunk, topic_characters(embedder.spec)))) <= limit
        if name != "headings":
            assert len(embedder.token_spans(anonymise(chunk.text).text)) <= size
    assert not text[covered:].strip()
    for before, after in itertools.pairwise(chunks):
        assert before.start < after.start
        assert name == "sentences" or before.end <= after.start


def test_the_settings_name_every_strategy() -> None:
    assert set(STRATEGIES) == set(NAMES)


PIECES = st.sampled_from(
    ["слово", "Да. ", " ", "\n", "\n\n", ". ", "http://a.b/c", "👨\u200d👩\u200d👧", "- ", "ы" * 40, "x@y.ru",
     "```\n", "8.3", "\u0301", "| а | б |\n", "# ", "1. "]
)  # fmt: skip
TEXTS = st.lists(PIECES, max_size=60).map("".join) | st.text(max_size=200)


@every_strategy
@examples(max_examples=80, deadline=None)
@given(text=TEXTS.map(clean_text), size=st.integers(10, 30))
def test_any_text_is_covered_within_the_limits_and_always_alike(
    name: ChunkingName, text: str, size: int
) -> None:
    chunks = chunks_of(text, name, size, limit=40)
    assert_sound(text, chunks, name, size, limit=40)
    assert chunks == chunks_of(text, name, size, limit=40)


@every_strategy
@examples(max_examples=40, deadline=None)
@given(text=TEXTS.map(clean_text), size=st.integers(1, 9))
def test_a_tiny_chunk_loses_nothing_either(name: ChunkingName, text: str, size: int) -> None:
    """A single visible character may have more tokens than such a chunk; only then it is over."""
    chunks = chunks_of(text, name, size, limit=40)
    assert not "".join(c for i, c in enumerate(text) if not any(k.start <= i < k.end for k in chunks)).strip()


@every_strategy
@pytest.mark.parametrize(
    "text",
    [
        "Пункт договора о поставке. " * 1000,
        "слово " * 3000,
        "ы" * 5000,
        "\n\n".join(["Абзац из пяти слов тут."] * 500),
        "абв\n" * 2000,
        "👨\u200d👩\u200d👧" * 300,
        "\n".join(["| а | " + "б " * 400 + "|"] * 3),
    ],
    ids=["sentences", "words", "one word", "paragraphs", "lines", "emoji", "rows"],
)
def test_long_texts_of_every_shape(name: ChunkingName, text: str) -> None:
    """Cases 8 and 11."""
    chunks = chunks_of(text, name)
    assert_sound(text, chunks, name, 16)
    if "слово" not in text:
        assert all(is_boundary(text, chunk.start) and is_boundary(text, chunk.end) for chunk in chunks)


@every_strategy
def test_rows_and_lines_of_code_stay_whole_where_they_fit(name: ChunkingName) -> None:
    """A row of 11 tokens in chunks of 40: no chunk begins or ends inside of one."""
    text = "Оклады по штатному расписанию.\n\n" + "\n".join(ROWS) + "\n\nДальше текст.\n\n" + CODE
    chunks = chunks_of(text, name, 40)
    assert len(chunks) > 5
    whole = {line.strip() for line in text.splitlines()}
    for chunk in chunks:
        assert all(line.strip() in whole for line in chunk.text.splitlines())


@every_strategy
def test_blocks_are_never_crossed(name: ChunkingName) -> None:
    text = "Один раз.\n\nДва раза."
    made = Document("d", "a", "t", None, text, (Block(0, 9, "А"), Block(11, len(text), "Б")))
    chunks = Chunker(WordEmbedder(), 100, 10, name).chunk(made)
    assert [(chunk.text, chunk.topic) for chunk in chunks] == [("Один раз.", "А"), ("Два раза.", "Б")]


def test_headings_keep_a_section_whole_that_the_embedder_takes() -> None:
    text = "Раз два три. " * 12  # 48 tokens
    assert len(chunks_of(text, "sentences", 16)) > 3
    assert [chunk.text for chunk in chunks_of(text, "headings", 16)] == [text.strip()]


def test_headings_cut_a_larger_section_between_paragraphs() -> None:
    paragraph = "Раз два три пять семь десять. Ещё."  # 9 tokens
    text = "\n\n".join([paragraph] * 10)
    chunks = chunks_of(text, "headings", 16, limit=40)
    assert len(chunks) > 2
    assert all(set(chunk.text.split("\n\n")) == {paragraph} for chunk in chunks)


def test_separators_are_tried_from_the_coarsest_on() -> None:
    text = "Первый абзац тут.\n\nВторой.\nСтрока.\n\n" + "Раз два. " * 6
    assert [chunk.text for chunk in chunks_of(text, "recursive", 10)] == [
        "Первый абзац тут.\n\nВторой.\nСтрока.",
        "Раз два. Раз два. Раз два.",
        "Раз два. Раз два. Раз два.",
    ]


def test_code_and_tables_are_paragraphs_of_their_own() -> None:
    text = f"Текст.\n{CODE}\nПосле.\n\n| а | б |\n| в | г |\nконец"
    assert [text[start:end] for start, end in paragraphs(text)] == [
        "Текст.", CODE, "После.", "| а | б |\n| в | г |", "конец",
    ]  # fmt: skip
    assert [text[s:e] for s, e in lines_of(text, 0, 20)] == ["Текст.", "```bsl", "Процед"]


def test_a_topic_shift_is_where_the_words_change() -> None:
    """The fake's tokens are equal or strangers, so only a shift parts the two halves of equal words."""
    cats = "Кот спит тут. Кот ест рыбу. Кот пьёт воду. Кот спит тут."
    cars = "Цена авто выше. Цена авто ниже. Авто стоит денег. Цена авто выше."
    texts = [chunk.text for chunk in chunks_of(f"{cats} {cars}", "semantic", 40)]
    assert texts == [cats, cars]


def test_the_cheapest_borders_within_the_budget() -> None:
    units = [Unit(n, n + 1, 10) for n in range(6)]
    free = np.array([1, 1, -1, 1, 1], np.float32)
    assert best_borders(units, free, 100) == [3, 6]
    assert best_borders(units, np.abs(free), 100) == [6]
    assert best_borders(units, np.array([1, 9, 1, 9, 1], np.float32), 20) == [1, 3, 5, 6]
    assert best_borders([], np.zeros(0, np.float32), 20) == [0]


def test_only_the_semantic_strategy_asks_the_embedder_for_vectors() -> None:
    for name in NAMES:
        embedder = WordEmbedder()
        Chunker(embedder, 16, 4, name).chunk(document("Раз два три. " * 40))
        assert bool(embedder.seen) is (name == "semantic")
        assert {role for role, _ in embedder.seen} <= {"passage"}


@pytest.mark.parametrize("name", ["sentences", "semantic"])
def test_one_bar_for_cutting_and_encoding(tmp_path, name: ChunkingName) -> None:
    for number in range(4):
        (tmp_path / f"{number}.txt").write_text(f"Раз два три {number}. " * 60, "utf-8")
    told: list[tuple[int, int]] = []
    settings = IndexSettings(chunk_tokens=40, overlap_tokens=5, chunking=name)
    build_index(tmp_path, WordEmbedder(), settings, lambda done, total: told.append((done, total)))
    done = [part for part, _ in told]
    assert done == sorted(done)
    assert told[-1][0] == told[-1][1]
    assert len({total for _, total in told}) == 1


def test_each_format_by_its_own_strategy() -> None:
    text = "Раз два три. " * 12
    chunker = Chunker(WordEmbedder(limit=60), 16, 4, "sentences", {"md": "headings"})
    assert len(chunker.chunk(document(text, "md"))) == 1
    assert len(chunker.chunk(document(text, "html"))) > 3


def test_strategies_from_the_settings(tmp_path) -> None:
    (tmp_path / "otvet.toml").write_text(
        '[index]\nchunking = "recursive"\nchunking_by_format = {md = "headings"}\n', "utf-8"
    )
    loaded = load_settings(
        {}, {"OTVET_HOME": str(tmp_path), "OTVET_INDEX__CHUNKING_BY_FORMAT__CSV": "semantic"}
    )
    assert loaded.settings.index.chunking == "recursive"
    assert loaded.settings.index.chunking_by_format == {"md": "headings", "csv": "semantic"}
    assert loaded.origins["index.chunking_by_format.md"] == "file"
    assert loaded.origins["index.chunking_by_format.csv"] == "environment"


@pytest.mark.parametrize(
    "wrong",
    ['chunking = "words"', 'chunking_by_format = {md = "words"}', 'chunking_by_format = {doc = "headings"}'],
)
def test_unknown_strategies_and_formats_are_refused(tmp_path, wrong: str) -> None:
    from pipeline.errors import SettingsError

    (tmp_path / "otvet.toml").write_text(f"[index]\n{wrong}\n", "utf-8")
    with pytest.raises(SettingsError, match="chunking"):
        load_settings({}, {"OTVET_HOME": str(tmp_path)})
