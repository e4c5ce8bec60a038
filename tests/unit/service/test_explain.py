"""How an answer comes about: the standing of any passage, late interaction word by word."""

from __future__ import annotations

import pytest
from small_index import Passage, small_index

from pipeline.embedders.hash import HashEmbedder
from pipeline.errors import NotFoundError
from pipeline.explain import standing, word_matches
from pipeline.retrieval.search import retrieve
from pipeline.settings import SearchSettings
from pipeline.types import Query

EMBEDDER = HashEmbedder(dimension=4096)
PASSAGES = [
    Passage("отпуск длится долго", "a.txt", "Кадры"),
    Passage("пароль от склада", "b.txt"),
    Passage("отпуск и", "c.txt"),
]


def stages(found):
    return {stage.name: (round(stage.score, 3), stage.rank) for stage in found.stages}


def test_a_passage_stands_as_the_search_left_it():
    index = small_index(PASSAGES, EMBEDDER)
    retrieval = retrieve(Query(*["отпуск длится долго склада"] * 2), index, EMBEDDER, SearchSettings())
    for candidate in retrieval.candidates:
        found = standing(retrieval, index, EMBEDDER, candidate.hit.chunk.id)
        known = {stage.name: (round(stage.score, 3), stage.rank) for stage in candidate.hit.stages}
        assert found.rank == candidate.hit.rank
        assert found.passages == 3
        assert stages(found) == known


def test_a_passage_that_was_not_taken_has_its_place_among_all():
    index = small_index(PASSAGES, EMBEDDER)
    asked = Query("отпуск долго", "отпуск долго", top_k=1)
    retrieval = retrieve(asked, index, EMBEDDER, SearchSettings(candidates=1, rerank=1))
    taken = {candidate.hit.chunk.id for candidate in retrieval.candidates}
    left = next(chunk.id for chunk in index.chunks if chunk.id not in taken and chunk.file == "b.txt")
    found = standing(retrieval, index, EMBEDDER, left)
    assert found.rank is None
    # It has no word of the question: nothing is below it, and one candidate is above.
    assert stages(found)["bm25"] == (0.0, 3)
    assert stages(found)["late_interaction"] == (0.0, 1 + len(taken))


def test_each_word_met_its_own_and_the_topic_has_no_place():
    index = small_index(PASSAGES, EMBEDDER)
    found = word_matches("длится отпуск кадры", index, EMBEDDER, "c0000")
    assert [found.question[match.start : match.end] for match in found.matches] == [
        "длится",
        "отпуск",
        "кадры",
    ]
    text = found.chunk.text
    assert [text[slice(*match.found)] if match.found else None for match in found.matches] == [
        "длится",
        "отпуск",
        None,
    ]
    assert [round(match.cosine, 3) for match in found.matches] == [1, 1, 1]
    # «долго» was met by no word.
    assert [round(strength, 3) for strength in found.strengths] == [1, 1, 0]
    assert [text[start:end] for start, end in found.words] == ["отпуск", "длится", "долго"]


@pytest.mark.parametrize("text", ["", "   ", "?"])
def test_what_holds_no_words_has_no_matches(text):
    index = small_index([Passage(text), "отпуск"], EMBEDDER)
    found = word_matches("отпуск", index, EMBEDDER, "c0000")
    assert [match.cosine for match in found.matches] in ([], [0.0])
    assert word_matches("", index, EMBEDDER, "c0001").matches == ()


def test_an_unknown_passage_is_said():
    index = small_index(PASSAGES, EMBEDDER)
    retrieval = retrieve(Query("отпуск", "отпуск"), index, EMBEDDER, SearchSettings())
    with pytest.raises(NotFoundError):
        standing(retrieval, index, EMBEDDER, "no")
    with pytest.raises(NotFoundError):
        word_matches("отпуск", index, EMBEDDER, "no")
