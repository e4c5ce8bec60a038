"""Passages nobody can find: not even their own heading or sentences bring them up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from pipeline.health.finding import Finding, Say
from pipeline.index import Index
from pipeline.ports import Embedder, Progress
from pipeline.retrieval.near_duplicates import say_the_same, word_counts
from pipeline.retrieval.search import retrieve
from pipeline.settings import SearchSettings
from pipeline.text.normalise import clean_question
from pipeline.text.sentences import split_sentences
from pipeline.types import Chunk, Query

__all__ = ["Reach", "check_reach", "unreached"]

TOP_K = 10
_SAMPLE = 150
_SECONDS = 20.0
_QUESTION = 300  # characters of a sentence that are asked
_SENTENCES = 2


@dataclass(frozen=True, slots=True)
class Reach:
    """What was looked at, and which passages of it were not found."""

    looked: int
    missed: tuple[Chunk, ...]


def check_reach(
    index: Index, embedder: Embedder, settings: SearchSettings, say: Say, progress: Progress | None = None
) -> list[Finding]:
    """Ask for a sample of passages in their own words."""
    found = unreached(index, embedder, settings, progress=progress)
    missed = tuple(f"{chunk.file}: {chunk.topic or chunk.text[:60]}" for chunk in found.missed)
    detail = say("reach_count", missed=len(missed), looked=found.looked, top=TOP_K)
    if not missed:
        return [Finding(say("reach"), "ok", detail)]
    return [Finding(say("reach"), "warning", detail, say("reach_next"), missed)]


def unreached(
    index: Index,
    embedder: Embedder,
    settings: SearchSettings,
    *,
    sample: int = _SAMPLE,
    seconds: float = _SECONDS,
    clock: Callable[[], float] = time.monotonic,
    progress: Progress | None = None,
) -> Reach:
    """Passages that are not among the first ten for their heading nor for their own sentences.

    A passage that says the same counts for it. The sample lies evenly over the index.

    Args:
        index: Searched and sampled.
        embedder: The one it was made with.
        settings: How candidates are found and ordered.
        sample: Passages to look at, at most.
        seconds: After so long no other one is begun.
        clock: Tells seconds.
        progress: Called with (passages done, passages in the sample).
    """
    total = min(sample, len(index.chunks))
    missed: list[Chunk] = []
    started = clock()
    done = 0
    for number in range(total):
        if clock() - started > seconds:
            break
        chunk = index.chunks[number * len(index.chunks) // total]
        if not any(_reaches(question, chunk, index, embedder, settings) for question in _questions(chunk)):
            missed.append(chunk)
        done = number + 1
        if progress is not None:
            progress(done, total)
    return Reach(done, tuple(missed))


def _questions(chunk: Chunk) -> Iterator[str]:
    """Its heading with the path to it, then its longest sentences."""
    sentences = [chunk.text[start:end] for start, end in split_sentences(chunk.text)]
    longest = sorted(sentences, key=len, reverse=True)[:_SENTENCES]
    for words in (chunk.topic, *longest):
        question = clean_question(words[:_QUESTION])
        if question:
            yield question


def _reaches(question: str, chunk: Chunk, index: Index, embedder: Embedder, settings: SearchSettings) -> bool:
    hits = retrieve(Query(question, question, top_k=TOP_K), index, embedder, settings).hits
    if any(hit.chunk.id == chunk.id for hit in hits):
        return True
    words = word_counts(chunk.text)
    return any(say_the_same(words, word_counts(hit.chunk.text)) for hit in hits)
