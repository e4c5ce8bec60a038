"""Term statistics for keyword search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from pipeline.index import Postings
from pipeline.text.stems import keyword_terms
from pipeline.types import Chunk

__all__ = ["build_postings", "chunk_postings"]


def build_postings(texts: Sequence[Sequence[str]]) -> Postings:
    """Count the terms of each text.

    Args:
        texts: The terms of each chunk, in row order (see `pipeline.text.stems.keyword_terms`).

    Returns:
        Postings whose terms are numbered in alphabetical order.
    """
    counters = [Counter(terms) for terms in texts]
    vocabulary = sorted(set().union(*counters))
    terms = {term: number for number, term in enumerate(vocabulary)}
    size = sum(len(counter) for counter in counters)
    numbers = np.fromiter((terms[term] for counter in counters for term in counter), np.int64, size)
    rows = np.repeat(np.arange(len(counters), dtype=np.int32), [len(counter) for counter in counters])
    counts = np.fromiter((n for counter in counters for n in counter.values()), np.int32, size)
    order = np.lexsort((rows, numbers))
    starts = np.zeros(len(terms) + 1, dtype=np.int64)
    np.cumsum(np.bincount(numbers, minlength=len(terms)), out=starts[1:])
    return Postings(
        terms=terms,
        starts=starts,
        rows=rows[order],
        counts=counts[order],
        lengths=np.array([len(text) for text in texts], dtype=np.int32),
    )


def chunk_postings(chunks: Sequence[Chunk]) -> Postings:
    """Postings over topic and text of chunks, in row order."""
    return build_postings([keyword_terms(f"{chunk.topic}\n{chunk.text}") for chunk in chunks])
