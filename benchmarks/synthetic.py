"""An index of any size without an embedding run: made-up words, random vectors, random token vectors.

Its search results mean nothing; its sizes, postings and files are those of a real index, so times
and memory are real.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.index import Index, Manifest
from pipeline.ports import EmbedderSpec
from pipeline.stores import json_store
from pipeline.stores.token_store import GatheredTokens, QuantisedText, starts_of
from pipeline.text.postings import chunk_postings
from pipeline.types import Block, Chunk, Document, FloatMatrix

__all__ = ["make_documents", "make_index", "make_questions", "store"]

IntArray = NDArray[np.int64]

WORDS_A_CHUNK = 95
TOKENS_A_CHUNK = 180
CHUNKS_A_DOCUMENT = 8
_VOCABULARY = 60_000
_NOISE = 1 << 24
_SYLLABLES = [first + second for first in "бвгдзклмнпрстфх" for second in "аеиоуыюя"]


def make_index(chunks: int, spec: EmbedderSpec, words: Sequence[str] | None = None, seed: int = 7) -> Index:
    """An index of ``chunks`` passages for an embedder; the same one every time.

    Args:
        chunks: How many.
        spec: The embedder that it pretends to be made by.
        words: Words of its texts, frequent ones first; made-up ones by default.
        seed: Of everything random.
    """
    rng = np.random.default_rng(seed)
    documents = {document.id: document for document in _documents(chunks, rng, words or _words(rng))}
    cut = [chunk for document in documents.values() for chunk in _chunks(document)][:chunks]
    lengths = rng.integers(TOKENS_A_CHUNK - 60, TOKENS_A_CHUNK + 60, len(cut))
    vectors = _unit_rows(rng, len(cut), spec.dimension)
    return Index(
        manifest=Manifest(
            build_id=f"synthetic{chunks:07d}",
            embedder_id=spec.id,
            dimension=spec.dimension,
            prefix_scheme=spec.prefix_scheme,
            chunker={"name": "synthetic", "topic_characters": 240},
            files={document.file: "0" * 64 for document in documents.values()},
        ),
        chunks=tuple(cut),
        documents=documents,
        vectors=vectors,
        text_vectors=_unit_rows(rng, len(cut), spec.dimension),
        tokens=_tokens(rng, lengths, spec.dimension),
        postings=chunk_postings(cut),
    )


def make_documents(chunks: int, each: int = CHUNKS_A_DOCUMENT, seed: int = 7) -> Iterator[Document]:
    """Documents of made-up words, together of ``chunks`` passages, ``each`` of so many, one a line."""
    rng = np.random.default_rng(seed)
    return _documents(chunks, rng, _words(rng), each)


def make_questions(index: Index, count: int, seed: int = 8) -> list[str]:
    """Questions of six words, taken from passages, so that keyword search has work to do."""
    chooser = random.Random(seed)
    return [
        " ".join(chooser.sample(chooser.choice(index.chunks).text.replace(".", "").split(), 6)) + "?"
        for _ in range(count)
    ]


def store(chunks: int, spec: EmbedderSpec, folder: Path, words: Sequence[str] | None = None) -> Index:
    """Make an index and write it to a folder as the product does."""
    index = make_index(chunks, spec, words)
    json_store.save(index, folder)
    return index


def _documents(
    chunks: int, rng: np.random.Generator, vocabulary: Sequence[str], each: int = CHUNKS_A_DOCUMENT
) -> Iterator[Document]:
    words = np.array(vocabulary)
    weights = 1.0 / np.arange(10, len(words) + 10)  # Zipf's law, as words of a language have it
    weights /= weights.sum()
    for number in range(-(-chunks // each)):
        count = each * WORDS_A_CHUNK
        chosen = words[rng.choice(len(words), count, p=weights)].tolist()
        parts = [
            " ".join(chosen[begin : begin + WORDS_A_CHUNK]) + "." for begin in range(0, count, WORDS_A_CHUNK)
        ]
        text = "\n".join(parts)
        yield Document(
            id=f"{number:016x}",
            file=f"{number // 500:03d}/{number:06d}.txt",
            title=f"Документ {number}",
            link=None,
            text=text,
            blocks=(Block(0, len(text), f"Документ {number}"),),
            metadata={"source_type": "txt"},
        )


def _chunks(document: Document) -> Iterator[Chunk]:
    start = 0
    for ordinal, part in enumerate(document.text.split("\n")):
        yield Chunk(
            id=f"{document.id}{ordinal:04x}",
            document_id=document.id,
            ordinal=ordinal,
            topic=document.title,
            text=part,
            start=start,
            end=start + len(part),
            file=document.file,
        )
        start += len(part) + 1


def _words(rng: np.random.Generator) -> list[str]:
    made: dict[str, None] = {}
    while len(made) < _VOCABULARY:
        syllables = rng.choice(len(_SYLLABLES), int(rng.integers(1, 5)))
        made["".join(_SYLLABLES[one] for one in syllables)] = None
    return list(made)


def _unit_rows(rng: np.random.Generator, rows: int, dimension: int) -> FloatMatrix:
    made = rng.standard_normal((rows, dimension), dtype=np.float32)
    made /= np.linalg.norm(made, axis=1, keepdims=True)
    return made


def _tokens(rng: np.random.Generator, lengths: IntArray, dimension: int) -> GatheredTokens:
    noise = np.frombuffer(rng.bytes(_NOISE), np.int8)

    def fetch(row: int) -> QuantisedText:
        """Random bytes, made when they are asked for: those of 100,000 passages are 7 GB."""
        length = int(lengths[row])
        start = row * 7919 % (_NOISE - length * dimension)
        within = np.arange(length, dtype=np.int32) * 4
        spans = np.stack([within, within + 3], axis=1)
        return noise[start : start + length * dimension].reshape(length, dimension), spans

    nothing_known = np.full(len(lengths), -1, dtype=np.int64)
    return GatheredTokens(starts_of(lengths.tolist()), fetch, known=None, known_rows=nothing_known)
