"""How an answer comes about, for a person who looks into it: candidates, prompt, passages, words."""

from __future__ import annotations

import re

import numpy as np

from pipeline.answer.prompt import Prompt
from pipeline.errors import NotFoundError
from pipeline.index import Index, find_row
from pipeline.ports import Embedder
from pipeline.ranking import Scores
from pipeline.rerankers.late_interaction import late_interaction_score, similarity_matrix
from pipeline.retrieval.dense import cosines
from pipeline.retrieval.exact import IndexSnapshot
from pipeline.retrieval.keyword import bm25, coverage, covered_share
from pipeline.retrieval.question import encode_question, with_words
from pipeline.snapshot import Snapshot
from pipeline.types import (
    Evidence,
    Explanation,
    Filter,
    FloatMatrix,
    IntMatrix,
    Retrieval,
    Stage,
    Standing,
    WordMatch,
    WordMatches,
)

__all__ = ["explanation", "holding", "standing", "word_matches"]

_WORD = re.compile(r"\S+")
_OF_A_FILE = 20_000
"""Passages of one file that are looked through for one of them."""


def explanation(
    retrieval: Retrieval, evidence: Evidence, prompt: Prompt | None, kb_version: str, place: Standing | None
) -> Explanation:
    """All that is known of a question before the model speaks."""
    messages = prompt.messages if prompt else ()
    return Explanation(
        retrieval=retrieval,
        evidence=evidence,
        prompt=tuple((message.role, message.content) for message in messages),
        prompt_tokens=prompt.tokens if prompt else 0,
        kb_version=kb_version,
        standing=place,
    )


def holding(snapshot: Snapshot, chunk_id: str) -> Index:
    """An index that holds a passage: the whole one where it is at hand, else one of its file.

    Raises:
        NotFoundError: No such passage.
    """
    if isinstance(snapshot, IndexSnapshot):
        return snapshot.index
    chunk = snapshot.chunk(chunk_id)
    if chunk is None:
        raise NotFoundError(what=chunk_id)
    return snapshot.listing(Filter(path_prefix=chunk.file), _OF_A_FILE).index


def standing(
    retrieval: Retrieval, index: Index, embedder: Embedder, chunk_id: str, passages: int | None = None
) -> Standing:
    """How one passage does against a question, whether the search took it or not.

    Cosine and BM25 are ranked among all passages, what comes after them among the candidates: for a
    passage that is none of them, by the place it would have there.

    Args:
        retrieval: What the search took.
        index: Holds the passage.
        embedder: The one the index was made with.
        chunk_id: The passage.
        passages: How many there are, where the index holds a part of them only; the first stages, too, are
            then ranked among the candidates.

    Raises:
        NotFoundError: No such passage.
    """
    row = _row(index, chunk_id)
    vector, question = encode_question(retrieval.query.search_text, embedder)
    whole = passages is None
    scores = {"cosine": cosines(index.vectors, vector, None), "bm25": bm25(index.postings, retrieval.terms)}
    first = tuple(
        _stage(name, found, row) if whole else _against(name, float(found[row]), retrieval)
        for name, found in scores.items()
    )
    count = len(index.chunks) if passages is None else passages
    hit = next((item.hit for item in retrieval.candidates if item.hit.chunk.id == chunk_id), None)
    if hit is not None:
        later = tuple(stage for stage in hit.stages if not whole or stage.name not in scores)
        return Standing(hit.chunk, (*first, *later) if whole else later, count, hit.rank)
    similarity = similarity_matrix(question.vectors, with_words(index, question).tokens[row].vectors)
    share = covered_share(retrieval.terms, coverage(index.postings, retrieval.terms, [row]))[0]
    later = (
        _against("coverage", float(share), retrieval),
        _against("late_interaction", late_interaction_score(similarity), retrieval),
    )
    return Standing(index.chunks[row], (*first, *later), count)


def word_matches(question: str, index: Index, embedder: Embedder, chunk_id: str) -> WordMatches:
    """Which word of a passage late interaction holds against each word of a question.

    A word's cosine is the mean over its tokens of each one's best; the passage's word is the one that its
    surest token met.

    Args:
        question: As it is embedded (``Query.search_text``).
        index: The index.
        embedder: The one it was made with.
        chunk_id: The passage.

    Raises:
        NotFoundError: No such passage.
    """
    row = _row(index, chunk_id)
    _, asked = encode_question(question, embedder)
    chunk, passage = index.chunks[row], with_words(index, asked).tokens[row]
    similarity = similarity_matrix(asked.vectors, passage.vectors)
    words = [(match.start(), match.end()) for match in _WORD.finditer(chunk.text)]
    found = [
        _met(place, asked.spans, passage.spans, similarity, words)
        for place in ((match.start(), match.end()) for match in _WORD.finditer(question))
    ]
    strength = [_heat(place, passage.spans, similarity) for place in words]
    return WordMatches(question, chunk, tuple(item for item in found if item), tuple(words), tuple(strength))


def _row(index: Index, chunk_id: str) -> int:
    row = find_row(index, chunk_id)
    if row is None:
        raise NotFoundError(what=chunk_id)
    return row


def _stage(name: str, scores: Scores, row: int) -> Stage:
    return Stage(name, float(scores[row]), 1 + int((scores > scores[row]).sum()))


def _against(name: str, score: float, retrieval: Retrieval) -> Stage:
    others = [
        stage.score
        for candidate in retrieval.candidates
        for stage in candidate.hit.stages
        if stage.name == name
    ]
    return Stage(name, score, 1 + sum(other > score for other in others))


def _tokens_of(word: tuple[int, int], spans: IntMatrix) -> list[int]:
    return np.flatnonzero((spans[:, 0] < word[1]) & (spans[:, 1] > word[0])).tolist()


def _met(
    word: tuple[int, int],
    asked: IntMatrix,
    passage: IntMatrix,
    similarity: FloatMatrix,
    words: list[tuple[int, int]],
) -> WordMatch | None:
    rows = _tokens_of(word, asked)
    if not rows or not similarity.shape[1]:
        return None
    best = similarity[rows].max(axis=1)
    token = int(similarity[rows[int(best.argmax())]].argmax())
    start, end = (int(edge) for edge in passage[token])
    # A token of the topic, which was embedded before the text, has no place in it.
    met = (
        next((place for place in words if place[0] < end and start < place[1]), None) if start >= 0 else None
    )
    return WordMatch(*word, met, float(best.mean()))


def _heat(word: tuple[int, int], spans: IntMatrix, similarity: FloatMatrix) -> float:
    """The best cosine that any word of the question has with this one."""
    columns = _tokens_of(word, spans)
    return float(similarity[:, columns].max()) if columns and similarity.shape[0] else 0.0
