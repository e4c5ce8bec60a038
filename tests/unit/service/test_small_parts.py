"""The value made once, the clock of a request, the quote of a source."""

import threading

import pytest

from pipeline.clock import Clock
from pipeline.lazy import Lazy
from pipeline.replies import sources_of
from pipeline.types import Chunk, Evidence, EvidenceSentence, Hit, Stage


def test_lazy_makes_its_value_once_however_many_ask():
    made = []
    start = threading.Barrier(8)
    lazy = Lazy(lambda: made.append(1) or object())

    def ask(results):
        start.wait()
        results.append(lazy.get())

    results = []
    threads = [threading.Thread(target=ask, args=(results,)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(made) == 1
    assert len(set(map(id, results))) == 1


def test_lazy_tries_again_after_a_failure():
    answers = iter([ValueError("not yet"), 5])

    def make():
        answer = next(answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    lazy = Lazy(make)
    assert lazy.peek() is None
    with pytest.raises(ValueError, match="not yet"):
        lazy.get()
    assert lazy.get() == 5
    assert lazy.peek() == 5


def test_clock_keeps_laps_and_the_first_mark():
    clock = Clock()
    clock.include({"encode": 3.0})
    clock.lap("evidence")
    clock.mark_once("first_token")
    first = clock.timings_ms()["first_token"]
    clock.mark_once("first_token")
    timings = clock.timings_ms()
    assert list(clock.laps_ms()) == ["encode", "evidence", "first_token"]
    assert list(timings) == ["encode", "evidence", "first_token", "total"]
    assert timings["encode"] == 3.0
    assert timings["first_token"] == first
    assert 9.0 < clock.left_s(10.0) <= 10.0
    assert clock.left_s(0.0) <= 0


TEXT = "Первое предложение. Второе предложение. Третье предложение."
CHUNK = Chunk(id="c", document_id="d", ordinal=0, topic="Тема", text=TEXT, start=100, end=100 + len(TEXT))


def sentence(start: int, end: int, source: int = 1) -> EvidenceSentence:
    return EvidenceSentence(source=source, chunk=CHUNK, start=start, end=end, score=1.0)


def evidence(*sentences: EvidenceSentence) -> Evidence:
    hit = Hit(CHUNK, 0.5, 1, (Stage("cosine", 0.5, 1),))
    return Evidence(hits=(hit,), sentences=sentences, relevance=1.0, refused=False)


def test_the_quote_is_the_chosen_sentence_with_offsets_in_the_document():
    (source,) = sources_of(evidence(sentence(20, 39)))
    assert source.quote == "Второе предложение."
    assert (source.start, source.end) == (120, 139)
    assert (source.n, source.title, source.chunk_id, source.stages) == (1, "Тема", "c", None)


def test_neighbouring_sentences_join_the_quote():
    (source,) = sources_of(evidence(sentence(20, 39), sentence(0, 19), sentence(40, 59, source=2)))
    assert source.quote == "Первое предложение. Второе предложение."


def test_a_source_without_chosen_sentences_shows_its_opening():
    (source,) = sources_of(evidence())
    assert source.quote == TEXT


def test_stages_are_kept_on_request():
    (source,) = sources_of(evidence(), scores=True)
    assert source.stages == (Stage("cosine", 0.5, 1),)
