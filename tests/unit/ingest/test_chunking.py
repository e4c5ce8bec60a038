"""Chunks: within the limit, nothing lost, no character broken."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from word_embedder import WordEmbedder

from pipeline.errors import SettingsError
from pipeline.ingest.chunkers.chunker import Chunker, topic_characters
from pipeline.settings import IndexSettings
from pipeline.text.anonymise import anonymise
from pipeline.text.embedded import embedded_text
from pipeline.text.graphemes import is_boundary
from pipeline.text.normalise import clean_text
from pipeline.types import Block, Chunk, Document, IntMatrix


def document(text: str, topic: str = "Тема", *blocks: Block) -> Document:
    return Document("d", "a.txt", topic, None, text, blocks or (Block(0, len(text), topic),))


def chunks_of(text: str, size: int, overlap: int, topic: str = "Тема", limit: int = 506) -> list[Chunk]:
    return Chunker(WordEmbedder(limit=limit), size, overlap).chunk(document(text, topic))


def assert_sound(text: str, chunks: list[Chunk], size: int, limit: int = 506) -> None:
    """Every chunk is a fitting piece of the text, and all non-space text is in one."""
    embedder = WordEmbedder(limit=limit)
    covered = 0
    for chunk in chunks:
        assert chunk.text == text[chunk.start : chunk.end]
        assert chunk.text.strip()
        assert len(embedder.token_spans(anonymise(chunk.text).text)) <= size
        assert len(embedder.token_spans(embedded_text(chunk, topic_characters(embedder.spec)))) <= limit
        assert not text[covered : chunk.start].strip()
        assert chunk.end > covered
        covered = chunk.end
    assert not text[covered:].strip()


def test_a_small_block_is_one_chunk() -> None:
    (chunk,) = chunks_of("Отпуск — 28 дней. Или 35.", 20, 5)
    assert (chunk.text, chunk.topic, chunk.file) == ("Отпуск — 28 дней. Или 35.", "Тема", "a.txt")


def test_cuts_fall_at_sentence_ends_and_neighbours_share_whole_sentences() -> None:
    text = "Раз два. Три пять. Семь ноль. Один семь. Пять три."  # 3 tokens a sentence
    texts = [chunk.text for chunk in chunks_of(text, 9, 3)]
    assert texts == ["Раз два. Три пять. Семь ноль.", "Семь ноль. Один семь. Пять три."]
    assert [chunk.text for chunk in chunks_of(text, 9, 0)] == [
        "Раз два. Три пять. Семь ноль.",
        "Один семь. Пять три.",
    ]


def test_a_huge_line_is_cut_within_the_limit() -> None:
    """Case 8."""
    text = "Пункт договора о поставке. " * 4000
    chunks = chunks_of(text, 220, 40)
    assert_sound(text, chunks, 220)
    assert chunks[-1].text.endswith("поставке.")


def test_a_long_sentence_is_cut_between_words() -> None:
    text = "слово " * 50
    chunks = chunks_of(text, 16, 4)
    assert_sound(text, chunks, 16)
    assert all(set(chunk.text.split()) == {"слово"} for chunk in chunks)


def test_a_long_word_is_cut_between_characters() -> None:
    text = "ы" * 1000
    chunks = chunks_of(text, 16, 4)
    assert_sound(text, chunks, 16)
    assert "".join(chunk.text for chunk in chunks) == text


def test_the_end_of_a_block_over_the_model_limit_is_kept() -> None:
    """Case 15."""
    text = "Склад работает по будням. " * 220 + "Код доступа к складу — Берёза-17."
    chunker = Chunker(WordEmbedder(), 220, 40)
    made = document(text)
    chunks = chunker.chunk(made)
    assert any("Берёза-17" in chunk.text for chunk in chunks)
    assert_sound(text, chunks, 220)
    assert chunker.dropped_tokens([made], chunks) == 0
    assert chunker.dropped_tokens([made], chunks[:-1]) > 0


@pytest.mark.parametrize("sign", ["👨\u200d👩\u200d👧", "🇷🇺", "й\u0301", "👍🏽"])
def test_no_visible_character_is_cut(sign: str) -> None:
    """Case 11."""
    for shift in range(8):
        text = "ы" * shift + sign * 60
        chunks = chunks_of(text, 16, 4)
        assert_sound(text, chunks, 16)
        assert all(is_boundary(text, chunk.start) and is_boundary(text, chunk.end) for chunk in chunks)


@pytest.mark.parametrize(
    ("size", "overlap"), [(50, 49), (50, 50), (50, 60), (50, 25), (0, 0), (-1, 0), (50, -1)]
)
def test_an_overlap_of_half_a_chunk_is_refused(size: int, overlap: int) -> None:
    """Case 10."""
    with pytest.raises(SettingsError):
        Chunker(WordEmbedder(), size, overlap)
    if size >= 16:
        with pytest.raises(ValueError, match="overlap_tokens"):
            IndexSettings(chunk_tokens=size, overlap_tokens=overlap)


def test_a_chunk_larger_than_the_model_is_refused() -> None:
    with pytest.raises(SettingsError, match="chunk_tokens"):
        Chunker(WordEmbedder(limit=100), 101, 0)


def test_short_lines_with_the_largest_overlap_end() -> None:
    """Case 10."""
    text = "абв\n" * 50
    assert_sound(text, chunks_of(text, 50, 24), 50)


def test_a_topic_takes_its_room_and_an_over_long_one_is_shortened() -> None:
    text = "слово " * 300
    long_topic = "тема " * 400
    chunker = Chunker(WordEmbedder(limit=60), 50, 5)
    assert_sound(text, chunker.chunk(document(text, "тема " * 5)), 50, limit=60)
    assert not chunker.shortened_topics
    chunks = chunker.chunk(document(text, long_topic))
    assert_sound(text, chunks, 50, limit=60)
    assert len(chunker.shortened_topics) == 1
    assert chunks[0].topic == long_topic


def test_a_topic_of_many_tokens_leaves_room_for_text() -> None:
    text = "слово " * 300
    chunker = Chunker(WordEmbedder(limit=24), 20, 5)
    assert_sound(text, chunker.chunk(document(text, "!" * 400)), 20, limit=24)
    assert chunker.shortened_topics


class ByteEmbedder(WordEmbedder):
    """A token a byte, as byte-level vocabularies fall back to: several tokens stand at one character."""

    def token_spans(self, text: str) -> IntMatrix:
        spans = [(place, place + 1) for place, sign in enumerate(text) for _ in sign.encode()]
        return np.array(spans, dtype=np.int32).reshape(-1, 2)


@pytest.mark.parametrize("text", ["👨🏽 слово. " * 40, "а" + "\u0301" * 2000, "😀" * 300])
def test_a_vocabulary_of_bytes_overflows_nothing(text: str) -> None:
    """Also characters of a thousand marks: one file must never stop the run."""
    embedder = ByteEmbedder(limit=120)
    chunker = Chunker(embedder, 100, 20)
    made = document(text, "😀" * 60)
    chunks = chunker.chunk(made)
    for chunk in chunks:
        assert len(embedder.token_spans(embedded_text(chunk, topic_characters(embedder.spec)))) <= 120
    assert chunker.dropped_tokens([made], chunks) == 0
    assert chunker.shortened_topics


def test_chunks_never_cross_blocks_and_carry_their_values() -> None:
    text = "Один.\nДва."
    blocks = (
        Block(0, 5, "А", ("А",), "https://example.org", ("т",), 3),
        Block(6, 10, "Б"),
    )
    made = Document("d", "a", "t", "https://example.org/doc", text, blocks, tags=("общий",))
    first, second = Chunker(WordEmbedder(), 50, 5).chunk(made)
    assert (first.text, first.topic, first.headings, first.page) == ("Один.", "А", ("А",), 3)
    assert (first.link, first.tags) == ("https://example.org", ("общий", "т"))
    assert (second.text, second.link, second.tags, second.ordinal) == (
        "Два.", "https://example.org/doc", ("общий",), 1,
    )  # fmt: skip
    assert first.id != second.id


def test_links_count_as_the_word_they_become() -> None:
    link = "https://example.org/" + "путь/" * 40
    (chunk,) = chunks_of(f"Смотри {link} тут.", 16, 0)
    assert link in chunk.text


PIECES = st.sampled_from(
    [
        "слово",
        "Да. ",
        " ",
        "\n",
        "\n\n",
        ". ",
        "http://a.b/c",
        "👨\u200d👩\u200d👧",
        "- ",
        "ы" * 40,
        "x@y.ru",
        "```\n",
        "8.3",
        "́",
    ]
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(PIECES, max_size=60).map("".join).map(clean_text) | st.text(max_size=200).map(clean_text),
    st.integers(1, 30),
    st.integers(0, 14),
)
def test_chunks_of_any_text_cover_it(text: str, size: int, overlap: int) -> None:
    overlap = min(overlap, (size - 1) // 2)
    chunks = chunks_of(text, size, overlap, limit=40)
    # A grapheme or a link may have more tokens than a tiny chunk; only then it may be over.
    if size >= 10:
        assert_sound(text, chunks, size, limit=40)
    for before, after in itertools.pairwise(chunks):
        assert before.start < after.start
        assert before.end < after.end
    assert not "".join(c for i, c in enumerate(text) if not any(k.start <= i < k.end for k in chunks)).strip()
