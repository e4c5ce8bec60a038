"""The worker that owns the generator: order, cancelling, failures, shutdown."""

from __future__ import annotations

import gc
import math
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext

import pytest

from pipeline.errors import (
    BusyError,
    CancelledError,
    GeneratorError,
    ModelMissingError,
    NotReadyError,
    PromptTooLongError,
)
from pipeline.generators.scripted import ScriptedGenerator
from pipeline.generators.worker import GeneratorWorker
from pipeline.ports import ChatMessage, Generator, Sampling

SAMPLING = Sampling(max_tokens=1000)


@contextmanager
def _worker(load: Callable[[], Generator] | Generator, queue_size: int = 8) -> Iterator[GeneratorWorker]:
    worker = GeneratorWorker(load if callable(load) else lambda: load, queue_size)
    try:
        yield worker
    finally:
        worker.close()


def _ask(text: str) -> list[ChatMessage]:
    return [ChatMessage("user", text)]


def _echo(messages) -> str:
    return f"Ответ на: {messages[-1].content}"


def _until(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < end, "did not happen"
        time.sleep(0.005)


def test_writes_the_text() -> None:
    with _worker(ScriptedGenerator(["Отпуск длится 28 дней."])) as worker:
        generation = worker.submit(_ask("Сколько?"), SAMPLING)
        assert list(generation) == ["Отпуск", " длится", " 28", " дней."]
        assert generation.end == "complete"
        assert generation.place() == 0


def test_callers_at_once_each_get_their_own_whole_text() -> None:
    """Case 26: two, then ten callers in the same moment; nothing is mixed."""
    texts: dict[int, str] = {}
    with _worker(ScriptedGenerator(_echo, delay_s=0.001), queue_size=20) as worker:
        for callers in (2, 10):
            start = threading.Barrier(callers)

            def ask(number: int, start: threading.Barrier = start) -> None:
                start.wait()
                question = f"вопрос номер {number} о разном"
                texts[number] = worker.submit(_ask(question), SAMPLING, client=str(number % 3)).text()

            threads = [threading.Thread(target=ask, args=(number,)) for number in range(callers)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            assert texts == {n: f"Ответ на: вопрос номер {n} о разном" for n in range(callers)}
            texts.clear()


def test_a_full_line_says_so_and_when_to_come_back() -> None:
    """Case 26: beyond the bounded queue a caller is refused at once."""
    gate = threading.Event()
    with _worker(ScriptedGenerator(_echo, gate=gate), queue_size=2) as worker:
        first = worker.submit(_ask("0"), SAMPLING)
        _until(lambda: worker.status()["running"] is True)
        waiting = [worker.submit(_ask(str(n)), SAMPLING) for n in (1, 2)]
        assert [generation.place() for generation in (first, *waiting)] == [0, 1, 2]
        assert waiting[1].estimate_s() > waiting[0].estimate_s() > first.estimate_s() == 0
        with pytest.raises(BusyError) as caught:
            worker.submit(_ask("3"), SAMPLING)
        assert caught.value.values["waiting"] == 2
        assert isinstance(caught.value.values["retry_after_s"], int)
        assert caught.value.values["retry_after_s"] >= 1
        gate.set()
        assert [generation.text() for generation in (first, *waiting)] == [f"Ответ на: {n}" for n in range(3)]


def test_the_place_is_told_whenever_it_changes_and_last_that_the_turn_has_come() -> None:
    one_more = threading.Semaphore(0)

    class Stepwise(ScriptedGenerator):
        def generate(self, messages, sampling, cancelled):
            while not one_more.acquire(timeout=0.01):
                if cancelled():
                    return
            yield from super().generate(messages, sampling, cancelled)

    with _worker(Stepwise(_echo)) as worker:
        first = worker.submit(_ask("0"), SAMPLING)
        _until(lambda: worker.status()["running"] is True)
        ahead = worker.submit(_ask("1"), SAMPLING)
        last = worker.submit(_ask("2"), SAMPLING)
        assert list(first.places()) == [0]
        places = last.places()
        assert next(places) == 2
        assert last.remaining_s() > ahead.remaining_s() > first.remaining_s() >= 0
        one_more.release()
        assert next(places) == 1
        one_more.release()
        assert list(places) == [0]
        one_more.release()
        assert [generation.text() for generation in (first, ahead, last)] == [
            f"Ответ на: {n}" for n in range(3)
        ]
        assert list(last.places()) == [0]


@pytest.mark.parametrize("end", ["cancelled", "deadline"])
def test_the_place_of_a_text_that_is_over_is_not_waited_for(end) -> None:
    gate = threading.Event()
    left = threading.Event()
    with _worker(ScriptedGenerator(_echo, gate=gate)) as worker:
        first = worker.submit(_ask("0"), SAMPLING)
        _until(lambda: worker.status()["running"] is True)
        deadline = time.monotonic() + 0.1 if end == "deadline" else math.inf
        waiting = worker.submit(_ask("1"), SAMPLING, cancelled=left.is_set, deadline=deadline)
        places = waiting.places()
        assert next(places) == 1
        if end == "cancelled":
            left.set()
        assert list(places) == []
        gate.set()
        assert first.text() == "Ответ на: 0"


def test_order_is_fair_between_clients() -> None:
    gate = threading.Event()
    scripted = ScriptedGenerator(_echo, gate=gate)
    with _worker(scripted) as worker:
        generations = [worker.submit(_ask("a1"), SAMPLING, client="a")]
        _until(lambda: worker.status()["running"] is True)
        for question in ("a2", "a3", "a4", "b1"):
            generations.append(worker.submit(_ask(question), SAMPLING, client=question[0]))
        gate.set()
        for generation in generations:
            generation.text()
    assert [call[-1].content for call in scripted.calls] == ["a1", "a2", "b1", "a3", "a4"]


def test_twenty_callers_leave_and_the_next_is_served() -> None:
    """Case 27: a caller that stops reading, cancels or forgets its text frees the worker."""
    endless = ScriptedGenerator(
        lambda messages: "слово " * 1000 if messages[-1].content == "долго" else "готово", delay_s=0.002
    )
    with _worker(endless) as worker:
        for turn in range(20):
            generation = worker.submit(_ask("долго"), SAMPLING)
            pieces = iter(generation)
            next(pieces)
            if turn % 3 == 0:
                generation.cancel()
            elif turn % 3 == 1:
                pieces.close()
            del generation, pieces
            gc.collect()
            assert worker.submit(_ask("коротко"), SAMPLING).text() == "готово"
        assert worker.status()["waiting"] == 0


def test_a_waiting_caller_that_leaves_gives_its_place_free() -> None:
    """Case 27."""
    gate = threading.Event()
    scripted = ScriptedGenerator(_echo, gate=gate)
    with _worker(scripted, queue_size=1) as worker:
        first = worker.submit(_ask("1"), SAMPLING)
        _until(lambda: worker.status()["running"] is True)
        second = worker.submit(_ask("2"), SAMPLING)
        second.cancel()
        third = worker.submit(_ask("3"), SAMPLING)
        gate.set()
        assert first.text() == "Ответ на: 1"
        assert third.text() == "Ответ на: 3"
        with pytest.raises(CancelledError):
            second.text()
    assert len(scripted.calls) == 2


def test_cancelled_is_seen_while_waiting_and_while_writing() -> None:
    gate = threading.Event()
    left = threading.Event()
    with _worker(ScriptedGenerator(_echo, gate=gate)) as worker:
        writing = worker.submit(_ask("1"), SAMPLING, cancelled=left.is_set)
        waiting = worker.submit(_ask("2"), SAMPLING, cancelled=left.is_set)
        left.set()
        for generation in (waiting, writing):
            with pytest.raises(CancelledError):
                generation.text()
            assert generation.end == "cancelled"
        gate.set()
        assert worker.submit(_ask("3"), SAMPLING).text() == "Ответ на: 3"


def test_at_the_deadline_the_text_ends_with_what_there_is() -> None:
    with _worker(ScriptedGenerator(["слово " * 1000], delay_s=0.01)) as worker:
        generation = worker.submit(_ask("?"), SAMPLING, deadline=time.monotonic() + 0.3)
        text = generation.text()
        assert generation.end == "deadline"
        assert 0 < len(text.split()) < 1000


def test_a_deadline_passes_in_the_line_too() -> None:
    gate = threading.Event()
    with _worker(ScriptedGenerator(_echo, gate=gate)) as worker:
        first = worker.submit(_ask("1"), SAMPLING)
        late = worker.submit(_ask("2"), SAMPLING, deadline=time.monotonic() + 0.1)
        assert late.text() == ""
        assert late.end == "deadline"
        gate.set()
        assert first.text() == "Ответ на: 1"


def test_a_failed_engine_is_replaced_and_the_status_says_so() -> None:
    loads: list[ScriptedGenerator] = []

    def load() -> Generator:
        loads.append(ScriptedGenerator(_echo, failures=0 if loads else 1))
        return loads[-1]

    with _worker(load) as worker:
        broken = worker.submit(_ask("1"), SAMPLING)
        next_one = worker.submit(_ask("2"), SAMPLING)
        with pytest.raises(GeneratorError):
            broken.text()
        assert broken.end is None
        assert next_one.text() == "Ответ на: 2"
        status = worker.status()
        assert (status["state"], status["restarts"], status["finished"]) == ("ready", 1, 1)
    assert len(loads) == 2


def test_an_engine_that_fails_again_and_again_is_given_up() -> None:
    with _worker(lambda: ScriptedGenerator(_echo, failures=9)) as worker:
        for _ in range(3):
            with pytest.raises(GeneratorError):
                worker.submit(_ask("?"), SAMPLING).text()
        _until(lambda: worker.state == "failed")
        with pytest.raises(GeneratorError):
            worker.submit(_ask("?"), SAMPLING)
        assert worker.status()["error"] == "generator"


class _Crashing(ScriptedGenerator):
    """Fails as no generator should, and remembers that it was closed."""

    closed = False

    def generate(self, messages, sampling, cancelled):
        raise OSError("access violation")

    def close(self) -> None:
        self.closed = True


def test_an_unknown_failure_becomes_a_generator_error_and_the_engine_is_closed() -> None:
    crashing = _Crashing(["никогда"])
    loads: Iterator[Generator] = iter([crashing, ScriptedGenerator(_echo)])
    with _worker(lambda: next(loads)) as worker:
        with pytest.raises(GeneratorError, match="access violation"):
            worker.submit(_ask("1"), SAMPLING).text()
        assert worker.submit(_ask("2"), SAMPLING).text() == "Ответ на: 2"
    assert crashing.closed


def test_a_prompt_that_is_too_long_is_the_callers_error_not_the_engines() -> None:
    """Case 25."""
    with _worker(ScriptedGenerator(_echo, context_tokens=10)) as worker:
        with pytest.raises(PromptTooLongError):
            worker.submit(_ask("слово " * 10), SAMPLING).text()
        assert worker.status()["restarts"] == 0
        assert worker.submit(_ask("коротко"), SAMPLING).text() == "Ответ на: коротко"


def test_loads_in_the_background() -> None:
    gate = threading.Event()

    def load() -> Generator:
        assert gate.wait(10)
        return ScriptedGenerator(_echo)

    with _worker(load) as worker:
        assert worker.state == "loading"
        with pytest.raises(NotReadyError):
            worker.count_tokens("текст")
        with pytest.raises(NotReadyError):
            worker.wait_ready(0.01)
        with pytest.raises(CancelledError):
            worker.wait_ready(10, lambda: True)
        early = worker.submit(_ask("1"), SAMPLING)
        gate.set()
        assert worker.wait_ready(10).id == "scripted"
        assert early.text() == "Ответ на: 1"
        assert worker.state == "ready"
        assert worker.count_tokens("два слова") == 2
        assert worker.status()["model"] == "scripted"


def test_no_more_callers_wait_for_the_load_than_the_line_has_places() -> None:
    """However many ask while the model loads, threads are left for the rest of the server."""
    gate = threading.Event()

    def load() -> Generator:
        assert gate.wait(10)
        return ScriptedGenerator(_echo)

    specs = []
    with _worker(load, queue_size=2) as worker:
        early = [threading.Thread(target=lambda: specs.append(worker.wait_ready(10))) for _ in range(2)]
        for thread in early:
            thread.start()
        _until(lambda: worker._early == 2)
        with pytest.raises(BusyError):
            worker.wait_ready(10)
        gate.set()
        for thread in early:
            thread.join()
        assert [spec.id for spec in specs] == ["scripted"] * 2
        assert worker.wait_ready(10).id == "scripted"


def test_a_load_that_fails_tells_everybody_why() -> None:
    gate = threading.Event()

    def load() -> Generator:
        assert gate.wait(10)
        raise ModelMissingError(model="qwen")

    with _worker(load) as worker:
        early = worker.submit(_ask("1"), SAMPLING)
        gate.set()
        with pytest.raises(ModelMissingError):
            early.text()
        with pytest.raises(ModelMissingError) as caught:
            worker.wait_ready(10)
        assert "qwen" in caught.value.message("ru")
        with pytest.raises(ModelMissingError):
            worker.submit(_ask("2"), SAMPLING)
        status = worker.status()
        assert (status["state"], status["error"]) == ("failed", "model_missing")


class _Warm(ScriptedGenerator):
    """Remembers what it was warmed with, and whether that went on to its end."""

    def __init__(self, replies, gate: threading.Event) -> None:
        super().__init__(replies)
        self.warmed: list[str] = []
        self._wait = gate

    def warm(self, messages, cancelled) -> None:
        while not self._wait.wait(0.005):
            if cancelled():
                return
        self.warmed.append(messages[0].content)


def test_the_fixed_prefix_is_read_while_nobody_waits_and_never_keeps_anybody_waiting() -> None:
    gate = threading.Event()
    generator = _Warm(_echo, gate)
    worker = GeneratorWorker(lambda: generator, 8, prefix=[ChatMessage("system", "Отвечай.")])
    try:
        worker.wait_ready(10)
        assert worker.submit(_ask("1"), SAMPLING).text() == "Ответ на: 1"
        assert generator.warmed == []
        gate.set()
        _until(lambda: generator.warmed == ["Отвечай."])
    finally:
        worker.close()


@pytest.mark.parametrize("failure", [GeneratorError(reason="warm"), ValueError("out of range")])
def test_a_failure_while_warming_replaces_the_engine(failure: Exception) -> None:
    class Broken(ScriptedGenerator):
        def warm(self, messages, cancelled) -> None:
            raise failure

    loads: Iterator[Generator] = iter([Broken(_echo), ScriptedGenerator(_echo)])
    worker = GeneratorWorker(lambda: next(loads), 8, prefix=[ChatMessage("system", "Отвечай.")])
    try:
        _until(lambda: worker.status()["restarts"] == 1)
        assert worker.submit(_ask("1"), SAMPLING).text() == "Ответ на: 1"
    finally:
        worker.close()


def test_a_prefix_without_room_is_no_fault_of_the_engine() -> None:
    tried: list[str] = []

    class Small(ScriptedGenerator):
        def warm(self, messages, cancelled) -> None:
            tried.append(messages[0].content)
            raise PromptTooLongError(tokens=600, limit=500)

    worker = GeneratorWorker(lambda: Small(_echo), 8, prefix=[ChatMessage("system", "Отвечай.")])
    try:
        for question in "12":
            assert worker.submit(_ask(question), SAMPLING).text() == f"Ответ на: {question}"
        assert worker.status()["restarts"] == 0
        assert len(tried) == 1
    finally:
        worker.close()


def test_close_stops_the_text_and_refuses_the_rest() -> None:
    worker = GeneratorWorker(lambda: ScriptedGenerator(["слово " * 10_000], delay_s=0.001), 8)
    writing = worker.submit(_ask("1"), SAMPLING)
    pieces = iter(writing)
    next(pieces)
    waiting = worker.submit(_ask("2"), SAMPLING)
    worker.close()
    with pytest.raises(CancelledError):
        list(pieces)
    with pytest.raises(CancelledError):
        waiting.text()
    with pytest.raises(CancelledError):
        worker.submit(_ask("3"), SAMPLING)
    assert worker.state == "closed"
    worker.close()


def test_an_interpreter_that_ends_in_mid_answer_says_nothing_and_does_not_wait() -> None:
    program = """
from pipeline.generators.scripted import ScriptedGenerator
from pipeline.generators.worker import GeneratorWorker
from pipeline.ports import ChatMessage, Sampling
worker = GeneratorWorker(lambda: ScriptedGenerator(["слово " * 100000], delay_s=0.01), 8)
print(next(iter(worker.submit([ChatMessage("user", "?")], Sampling(max_tokens=100000)))))
"""
    done = subprocess.run(
        [sys.executable, "-X", "utf8", "-W", "error", "-c", program],
        capture_output=True, text=True, encoding="utf-8", timeout=60, check=True,
    )  # fmt: skip
    assert (done.stdout.strip(), done.stderr) == ("слово", "")


def test_the_estimate_follows_what_was_measured() -> None:
    with _worker(ScriptedGenerator(["слово " * 10], delay_s=0.01)) as worker:
        for _ in range(3):
            worker.submit(_ask("?"), SAMPLING).text()
        _until(lambda: worker.status()["finished"] == 3)
        mean = worker.status()["mean_s"]
        assert isinstance(mean, float)
        assert 0.1 <= mean < math.inf
        assert worker.status()["silent_s"] is None


class Interruptible(ScriptedGenerator):
    """One that is deep in a long prompt, where it asks nobody, until it is interrupted."""

    def __init__(self) -> None:
        super().__init__(_echo)
        self.interrupted = threading.Event()
        self.deep = threading.Event()

    def interrupt(self) -> None:
        self.interrupted.set()

    def _dive(self, cancelled: Callable[[], bool]) -> None:
        self.deep.set()
        while not cancelled():
            self.interrupted.wait()
            self.interrupted.clear()

    def generate(self, messages, sampling, cancelled):
        if messages[-1].content == "long":
            self._dive(cancelled)
            return
        yield from super().generate(messages, sampling, cancelled)

    def warm(self, messages, cancelled):
        self._dive(cancelled)


@pytest.mark.parametrize("way", ["cancel", "cancelled", "deadline", "drop"])
def test_who_leaves_while_the_prompt_is_read_frees_the_engine_at_once(way: str) -> None:
    """Case 27: the next one does not wait for the end of a prompt that nobody needs."""
    generator, left = Interruptible(), threading.Event()
    with _worker(generator) as worker:
        deadline = time.monotonic() + 0.3 if way == "deadline" else math.inf
        first = worker.submit(_ask("long"), SAMPLING, cancelled=left.is_set, deadline=deadline)
        assert generator.deep.wait(10)
        second = worker.submit(_ask("short"), SAMPLING)
        if way == "cancel":
            first.cancel()
        elif way == "drop":
            del first
            gc.collect()
        else:
            left.set() if way == "cancelled" else None
            with pytest.raises(CancelledError) if way == "cancelled" else nullcontext():
                assert first.text() == ""
        assert second.text() == "Ответ на: short"


def test_a_question_interrupts_what_is_read_ahead() -> None:
    generator = Interruptible()
    worker = GeneratorWorker(lambda: generator, 8, _ask("fixed"))
    try:
        assert generator.deep.wait(10)
        assert worker.submit(_ask("short"), SAMPLING).text() == "Ответ на: short"
    finally:
        worker.close()


def test_closing_interrupts_too() -> None:
    generator = Interruptible()
    with _worker(generator) as worker:
        waiting = worker.submit(_ask("long"), SAMPLING)
        assert generator.deep.wait(10)
    with pytest.raises(CancelledError):
        waiting.text()
