"""Term statistics for keyword search."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.index import Postings
from pipeline.text.stems import keyword_terms
from pipeline.types import Chunk

__all__ = ["TERMS_VERSION", "build_postings", "chunk_postings", "counted_postings", "renewed_postings"]

TERMS_VERSION = 1
"""To be raised when `keyword_terms` gives other terms for a text, so that all texts are counted again."""


def build_postings(texts: Sequence[Sequence[str]]) -> Postings:
    """Count the terms of each text.

    Args:
        texts: The terms of each chunk, in row order (see `pipeline.text.stems.keyword_terms`).

    Returns:
        Postings whose terms are numbered in alphabetical order.
    """
    return counted_postings([Counter(terms) for terms in texts])


def counted_postings(counters: Sequence[Mapping[str, int]]) -> Postings:
    """As `build_postings`, of texts whose terms have been counted."""
    vocabulary = sorted(set().union(*counters))
    terms = {term: number for number, term in enumerate(vocabulary)}
    size = sum(len(counter) for counter in counters)
    numbers = np.fromiter((terms[term] for counter in counters for term in counter), np.int64, size)
    rows = np.repeat(np.arange(len(counters), dtype=np.int32), [len(counter) for counter in counters])
    counts = np.fromiter((n for counter in counters for n in counter.values()), np.int32, size)
    lengths = np.array([sum(counter.values()) for counter in counters], dtype=np.int32)
    return _sorted_postings(terms, numbers, rows, counts, lengths)


def chunk_postings(chunks: Sequence[Chunk]) -> Postings:
    """Postings over topic and text of chunks, in row order."""
    return build_postings([_terms(chunk) for chunk in chunks])


def renewed_postings(chunks: Sequence[Chunk], known: Postings, rows: Sequence[int | None]) -> Postings:
    """As `chunk_postings`, taking over what is known of chunks with the same topic and text.

    Args:
        chunks: In row order.
        known: Postings of other chunks.
        rows: For each chunk the row in ``known`` of one that is the same, or None.
    """
    place = np.full(len(known.lengths), -1, dtype=np.int32)
    fresh: list[int] = []
    for row, old in enumerate(rows):
        if old is None or place[old] >= 0:
            fresh.append(row)
        else:
            place[old] = row
    made = build_postings([_terms(chunks[row]) for row in fresh])
    new_rows = place[known.rows]
    taken = new_rows >= 0
    old_numbers = np.repeat(np.arange(len(known.terms), dtype=np.int64), np.diff(known.starts))[taken]
    numbers, terms = _united(known.terms, np.unique(old_numbers), made.terms)
    made_numbers = np.repeat(np.arange(len(made.terms), dtype=np.int64), np.diff(made.starts))
    lengths = np.zeros(len(chunks), dtype=np.int32)
    lengths[place[place >= 0]] = known.lengths[place >= 0]
    lengths[fresh] = made.lengths
    return _sorted_postings(
        terms,
        np.concatenate([numbers[0][old_numbers], numbers[1][made_numbers]]),
        np.concatenate([new_rows[taken], np.array(fresh, dtype=np.int32)[made.rows]]),
        np.concatenate([known.counts[taken], made.counts]),
        lengths,
    )


def _terms(chunk: Chunk) -> list[str]:
    return keyword_terms(f"{chunk.topic}\n{chunk.text}")


def _united(
    known: Mapping[str, int], used: NDArray[np.int64], made: Mapping[str, int]
) -> tuple[tuple[NDArray[np.int64], NDArray[np.int64]], dict[str, int]]:
    """One alphabet of terms, and the new numbers of the old ones and of the made ones."""
    names = list(known)
    old = [names[number] for number in used]
    terms = {term: number for number, term in enumerate(sorted({*old, *made}))}
    renumbered = np.full(len(known), -1, dtype=np.int64)
    renumbered[used] = np.fromiter((terms[term] for term in old), np.int64, len(old))
    return (renumbered, np.fromiter((terms[term] for term in made), np.int64, len(made))), terms


def _sorted_postings(
    terms: Mapping[str, int],
    numbers: NDArray[np.int64],
    rows: NDArray[np.int32],
    counts: NDArray[np.int32],
    lengths: NDArray[np.int32],
) -> Postings:
    """Postings from unordered triples of term number, row and count."""
    order = np.lexsort((rows, numbers))
    starts = np.zeros(len(terms) + 1, dtype=np.int64)
    np.cumsum(np.bincount(numbers, minlength=len(terms)), out=starts[1:])
    return Postings(terms, starts, rows[order], counts[order], lengths)
