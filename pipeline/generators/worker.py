"""The thread that owns the language model, or those that share one elsewhere."""

from __future__ import annotations

import atexit
import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Protocol, runtime_checkable

from pipeline.errors import (
    BusyError,
    CancelledError,
    GeneratorError,
    NotReadyError,
    OtvetError,
    PromptTooLongError,
)
from pipeline.generators.fair_queue import FairQueue
from pipeline.generators.generation import Generation, Job
from pipeline.generators.keeper import Keeper, State, again, unexpected
from pipeline.generators.meter import Meter
from pipeline.messages import Phrase
from pipeline.ports import ChatMessage, Generator, GeneratorSpec, Sampling, Scorer

__all__ = ["GeneratorWorker", "State"]

logger = logging.getLogger(__name__)


@runtime_checkable
class _Warms(Protocol):
    def warm(self, messages: Sequence[ChatMessage], cancelled: Callable[[], bool]) -> None: ...


@runtime_checkable
class _Replicated(Protocol):
    def replicas(self) -> list[dict[str, object]]: ...


@runtime_checkable
class _Interruptible(Protocol):
    def interrupt(self) -> None: ...


class GeneratorWorker:
    """Loads a generator in the background and writes one text at a time with it, or several. Thread-safe.

    Waiting texts stand in a bounded line that is fair between clients. If the engine fails, the text that
    met the failure gets the error, and a fresh engine is loaded for the next one.

    Args:
        load: Makes the generator; called in the worker's own thread.
        queue_size: How many texts may wait.
        prefix: Messages that most prompts begin with; read ahead whenever nobody waits.
        parallel: Texts written at once; more than one only with a generator that many threads may use.
    """

    def __init__(
        self,
        load: Callable[[], Generator],
        queue_size: int,
        prefix: Sequence[ChatMessage] = (),
        *,
        parallel: int = 1,
    ) -> None:
        self._queue_size = queue_size
        self._prefix = tuple(prefix)
        self._changed = threading.Condition()
        self._keeper = Keeper(load, self._changed)
        self._queue: FairQueue[Job] = FairQueue()
        self._running: list[Job] = []
        self._parallel = parallel
        self._warming = False
        # Callers that wait for the generator to be loaded, before they can even join the line.
        self._early = 0
        self._meter = Meter(parallel)
        self._mending = threading.Lock()
        # A daemon that is closed at exit: an interpreter that ends must not wait for a whole answer, nor
        # tear llama.cpp down in the middle of a token.
        self._threads = [
            threading.Thread(target=self._run, args=(lane,), name=f"otvet-generator-{lane}", daemon=True)
            for lane in range(parallel)
        ]
        atexit.register(self.close)
        for thread in self._threads:
            thread.start()

    def submit(
        self,
        messages: Sequence[ChatMessage],
        sampling: Sampling,
        *,
        client: str = "",
        cancelled: Callable[[], bool] = lambda: False,
        deadline: float = math.inf,
    ) -> Generation:
        """Join the line; a text may be submitted while the generator still loads.

        Args:
            messages: The conversation.
            sampling: How to generate.
            client: Whose text this is, for a fair order.
            cancelled: Polled from the worker's and the caller's thread, at every token and while waiting.
            deadline: A moment of ``time.monotonic``; the text ends there, complete or not.

        Raises:
            BusyError: The line is full.
            CancelledError: The worker was closed.
            OtvetError: The generator could not be loaded, or failed for good; the error that says why.
        """
        return self._join(Job(tuple(messages), sampling, client, cancelled, deadline))

    def score(
        self,
        messages: Sequence[ChatMessage],
        continuations: Sequence[str],
        *,
        client: str = "",
        cancelled: Callable[[], bool] = lambda: False,
        deadline: float = math.inf,
    ) -> Generation:
        """Join the line to have continuations scored (`pipeline.ports.Scorer`); see ``submit``."""
        job = Job(
            tuple(messages), Sampling(), client, cancelled, deadline, continuations=tuple(continuations)
        )
        return self._join(job)

    def _join(self, job: Job) -> Generation:
        with self._changed:
            self._keeper.check()
            if len(self._queue) >= self._queue_size:
                raise BusyError(waiting=len(self._queue), retry_after_s=self._meter.retry_after_s())
            self._queue.push(job.client, job)
            if self._warming:
                self._interrupt()
            self._changed.notify_all()
        return Generation(self, job)

    def wait_ready(self, timeout_s: float, cancelled: Callable[[], bool] = lambda: False) -> GeneratorSpec:
        """The generator's spec, once it is loaded.

        Raises:
            BusyError: As many callers as the line has places wait for that already.
            NotReadyError: It is still loading after ``timeout_s``.
            CancelledError: ``cancelled()`` became true, or the worker was closed.
            OtvetError: Loading failed; the error that says why.
        """
        until = time.monotonic() + timeout_s
        with self._changed:
            if self._keeper.generator is None and self._early >= self._queue_size:
                self._keeper.check()
                raise BusyError(waiting=self._early, retry_after_s=self._meter.retry_after_s())
            self._early += 1
            try:
                return self._spec_by(until, cancelled)
            finally:
                self._early -= 1

    def count_tokens(self, text: str) -> int:
        """Tokens of a plain text, by the loaded generator; does not wait for the text being written.

        Raises:
            NotReadyError: It is still loading.
            OtvetError: Loading failed; the error that says why.
        """
        with self._changed:
            self._keeper.check()
            generator = self._keeper.generator
        if generator is None:
            raise NotReadyError(what=Phrase("generator_loading"))
        return generator.count_tokens(text)

    @property
    def scores(self) -> bool:
        """Whether the loaded generator can compare given answers."""
        return isinstance(self._keeper.generator, Scorer)

    @property
    def state(self) -> State:
        """``loading``, ``ready``, ``failed`` (for good) or ``closed``."""
        return self._keeper.state

    def status(self) -> dict[str, object]:
        """State, line and measured speed, as JSON values."""
        with self._changed:
            keeper = self._keeper
            return {
                "state": keeper.state,
                "error": keeper.error.code if keeper.error else None,
                "reason": str(keeper.error) if keeper.error else None,
                "model": keeper.generator.spec.id if keeper.generator else None,
                "running": bool(self._running),
                "writing": len(self._running),
                "parallel": self._parallel,
                "waiting": len(self._queue),
                "queue_size": self._queue_size,
                "restarts": keeper.restarts,
                "replicas": _replicas(keeper.generator),
                **self._meter.status(),
            }

    def close(self, timeout_s: float = 10.0) -> None:
        """Stop at the next token, refuse whoever waits, free the model; waits for that."""
        with self._changed:
            self._keeper.state = "closed"
            for job in self._running:
                job.abandoned = True
            self._interrupt()
            self._changed.notify_all()
        atexit.unregister(self.close)
        until = time.monotonic() + timeout_s
        for thread in self._threads:
            thread.join(max(0.0, until - time.monotonic()))

    def withdraw(self, job: Job) -> None:
        """Forget a job: out of the line, or stopped in the middle of its prompt or at its next token."""
        job.abandoned = True
        with self._changed:
            self._queue.remove(job)
            if job in self._running:
                self._interrupt()

    def place(self, job: Job) -> int:
        """Texts to be finished before this one starts; 0 while it is written and afterwards."""
        with self._changed:
            order = self._queue.order()
            ahead = order.index(job) + len(self._running) + 1 if job in order else 0
            return max(0, ahead - self._parallel)

    def estimate_s(self, job: Job) -> float:
        """Seconds until the job is likely to start."""
        return self._meter.estimate_s(self.place(job))

    def remaining_s(self, job: Job) -> float:
        """Seconds until the job is likely to be finished."""
        return self._meter.estimate_s(self.place(job) + 1)

    def _spec_by(self, until: float, cancelled: Callable[[], bool]) -> GeneratorSpec:
        while self._keeper.generator is None:
            self._keeper.check()
            if cancelled():
                raise CancelledError
            left = until - time.monotonic()
            if left <= 0:
                raise NotReadyError(what=Phrase("generator_loading"))
            self._changed.wait(min(left, 0.1))
        return self._keeper.generator.spec

    def _run(self, lane: int) -> None:
        if lane == 0:
            self._keeper.load()
        while (job := self._take()) is not None:
            self._write(job, lane)
            with self._changed:
                self._running.remove(job)
                self._changed.notify_all()
        with self._changed:
            reason = self._keeper.error if self._keeper.state == "failed" else CancelledError()
            while len(self._queue):
                self._queue.pop().output.put(again(reason))
            # The first thread frees the generator, once no other one writes with it.
            if lane == 0:
                self._changed.wait_for(lambda: not self._running)
        if lane == 0:
            self._keeper.drop()

    def _take(self) -> Job | None:
        """The next job, or None when there will be no more."""
        self._warm()
        with self._changed:
            self._changed.wait_for(lambda: self._over() or self._may_begin())
            if self._over():
                return None
            job = self._queue.pop()
            self._running.append(job)
            return job

    def _may_begin(self) -> bool:
        return len(self._queue) > 0 and self._keeper.state != "loading"

    def _interrupt(self) -> None:
        """Have the engine look at once whether it may go on, in the midst of a long prompt too."""
        generator: object = self._keeper.generator
        if isinstance(generator, _Interruptible):
            generator.interrupt()

    def _over(self) -> bool:
        return self._keeper.state in ("failed", "closed")

    def _warm(self) -> None:
        generator: object = self._keeper.generator
        if not self._prefix or not isinstance(generator, _Warms):
            return
        self._warming = True
        try:
            generator.warm(self._prefix, lambda: self._over() or len(self._queue) > 0)
        except PromptTooLongError as error:
            # The context has no room for it and never will; the engine is sound.
            logger.warning("the fixed prefix is not read ahead: %s", error)
            self._prefix = ()
        except GeneratorError as error:
            logger.warning("warming failed: %s", error)
            self._keeper.failed(error)
        except Exception as error:  # as while writing: the engine is replaced, this thread lives on
            logger.exception("warming failed")
            self._keeper.failed(unexpected(error))
        finally:
            self._warming = False

    def _write(self, job: Job, lane: int) -> None:
        generator = self._keeper.generator
        if generator is None or (end := job.over()) is not None:
            job.output.put(CancelledError() if generator is None or end == "cancelled" else None)
            return
        self._meter.start(lane)
        try:
            if not job.continuations:
                for piece in generator.generate(job.messages, job.sampling, self._watch(job, lane)):
                    job.output.put(piece)
            elif isinstance(generator, Scorer):
                job.scores = generator.score(job.messages, job.continuations, self._watch(job, lane))
            else:
                job.output.put(GeneratorError(reason=Phrase("generator_no_scores")))
                return
        except GeneratorError as error:
            self._recover(job, error)
        except OtvetError as error:
            job.output.put(error)
        except Exception as error:  # an engine may fail in any way: the caller is told, the engine replaced
            logger.exception("the generator failed")
            self._recover(job, unexpected(error))
        else:
            self._keeper.succeeded()
            end = job.over()
            job.output.put(CancelledError() if end == "cancelled" else None)
            # A scored text says nothing about how long a written one takes.
            self._meter.finish(generator, complete=end is None and not job.continuations, lane=lane)
        finally:
            self._meter.stop(lane)

    def _watch(self, job: Job, lane: int) -> Callable[[], bool]:
        """What the generator polls: every poll is a sign of life, between the batches of a prompt too."""

        def cancelled() -> bool:
            self._meter.beat(lane)
            return job.over() is not None

        return cancelled

    def _recover(self, job: Job, error: GeneratorError) -> None:
        job.output.put(error)
        with self._mending:
            self._keeper.failed(error)


def _replicas(generator: object) -> list[dict[str, object]] | None:
    return generator.replicas() if isinstance(generator, _Replicated) else None
