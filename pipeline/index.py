"""The index as the rest of the product sees it: one immutable object, swapped whole.

Row ``i`` of every array belongs to ``chunks[i]``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from pipeline.types import Chunk, Document, FloatMatrix, TokenVectors

__all__ = ["FORMAT_VERSION", "Index", "Manifest", "Postings", "TokenStore"]

FORMAT_VERSION = 1


@dataclass(frozen=True, slots=True)
class Manifest:
    """What an index was made from and how; holds nothing that differs between equal builds.

    Attributes:
        build_id: Hash of everything below; the ``kb_version`` of replies.
        embedder_id: ``EmbedderSpec.id`` of the embedder that made the vectors.
        chunker: Name and settings of the chunking strategy.
        files: Knowledge-base file -> SHA-256 of its bytes.
        skipped: Knowledge-base file -> why it holds no text for the index.
        unread: Skipped file -> SHA-256, where its bytes alone decide that.
        beside: Other files that decide how a file is read, such as ``sources.toml`` -> SHA-256.
        readers: Version of the readers.
    """

    build_id: str
    embedder_id: str
    dimension: int
    prefix_scheme: Literal["e5", "none"]
    chunker: Mapping[str, str | int]
    files: Mapping[str, str]
    skipped: Mapping[str, str] = field(default_factory=dict)
    unread: Mapping[str, str] = field(default_factory=dict)
    beside: Mapping[str, str] = field(default_factory=dict)
    readers: int = 0
    format: int = FORMAT_VERSION


@dataclass(frozen=True, slots=True)
class Postings:
    """Term statistics of all chunks for keyword search, in compressed sparse rows by term.

    Term ``t`` occurs in chunk rows ``rows[starts[t]:starts[t + 1]]`` (ascending), ``counts`` times each.

    Attributes:
        terms: Stemmed term -> term number.
        starts: int64, shape (terms + 1,).
        rows: int32, shape (postings,).
        counts: int32, shape (postings,).
        lengths: int32, shape (chunks,): terms of each chunk.
    """

    terms: Mapping[str, int]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    counts: NDArray[np.int32]
    lengths: NDArray[np.int32]


class TokenStore(Protocol):
    """Token vectors of every chunk, usually memory-mapped and quantised."""

    def __len__(self) -> int:
        """Number of chunks."""
        ...

    def __getitem__(self, row: int) -> TokenVectors:
        """Token vectors of the pass over topic + text.

        Spans are offsets into ``chunk.text``; a token of the topic has the span (-1, -1).
        """
        ...


@dataclass(frozen=True, slots=True)
class Index:
    """A loaded index.

    Attributes:
        vectors: float32, shape (chunks, dimension): topic + text, rows of length 1.
        text_vectors: float32, same shape: the text alone.
        documents: Document id -> document.
    """

    manifest: Manifest
    chunks: tuple[Chunk, ...]
    documents: Mapping[str, Document]
    vectors: FloatMatrix
    text_vectors: FloatMatrix
    tokens: TokenStore
    postings: Postings
