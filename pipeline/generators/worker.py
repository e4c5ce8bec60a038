"""The one thread that owns the language model."""

from __future__ import annotations

import atexit
import logging
import math
import threading
import time
from collections.abc import Callable, Sequence
from typing import Literal, Protocol, runtime_checkable

from pipeline.errors import BusyError, CancelledError, GeneratorError, NotReadyError, OtvetError
from pipeline.generators.fair_queue import FairQueue
from pipeline.generators.generation import Generation, Job
from pipeline.generators.meter import Meter
from pipeline.messages import Phrase
from pipeline.ports import ChatMessage, Generator, GeneratorSpec, Sampling

__all__ = ["GeneratorWorker", "State"]

State = Literal["loading", "ready", "failed", "closed"]

MOST_FAILURES = 3
"""After so many failures in a row the engine is given up; each earlier one gets a fresh engine."""

logger = logging.getLogger(__name__)


@runtime_checkable
class _Closable(Protocol):
    def close(self) -> None: ...


class GeneratorWorker:
    """Loads a generator in the background and writes one text at a time with it. Thread-safe.

    Waiting texts stand in a bounded line that is fair between clients. If the engine fails, the text that
    met the failure gets the error, and a fresh engine is loaded for the next one.

    Args:
        load: Makes the generator; called in the worker's own thread.
        queue_size: How many texts may wait.
    """

    def __init__(self, load: Callable[[], Generator], queue_size: int) -> None:
        self._load = load
        self._queue_size = queue_size
        self._changed = threading.Condition()
        self._queue: FairQueue[Job] = FairQueue()
        self._running: Job | None = None
        # Callers that wait for the generator to be loaded, before they can even join the line.
        self._early = 0
        self._generator: Generator | None = None
        self._state: State = "loading"
        self._error: OtvetError | None = None
        self._failures = 0
        self._restarts = 0
        self._meter = Meter()
        # A daemon that is closed at exit: an interpreter that ends must not wait for a whole answer, nor
        # tear llama.cpp down in the middle of a token.
        self._thread = threading.Thread(target=self._run, name="otvet-generator", daemon=True)
        atexit.register(self.close)
        self._thread.start()

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
            OtvetError: The generator could not be loaded, or failed for good; the error that says why.
        """
        job = Job(tuple(messages), sampling, client, cancelled, deadline)
        with self._changed:
            self._raise_if_unusable()
            if len(self._queue) >= self._queue_size:
                raise BusyError(waiting=len(self._queue), retry_after_s=self._meter.retry_after_s())
            self._queue.push(client, job)
            self._changed.notify_all()
        return Generation(self, job)

    def wait_ready(self, timeout_s: float, cancelled: Callable[[], bool] = lambda: False) -> GeneratorSpec:
        """The generator's spec, once it is loaded.

        Raises:
            BusyError: As many callers as the line has places wait for that already.
            NotReadyError: It is still loading after ``timeout_s``.
            CancelledError: ``cancelled()`` became true.
            OtvetError: Loading failed; the error that says why.
        """
        until = time.monotonic() + timeout_s
        with self._changed:
            if self._generator is None and self._early >= self._queue_size:
                self._raise_if_unusable()
                raise BusyError(waiting=self._early, retry_after_s=self._meter.retry_after_s())
            self._early += 1
            try:
                while self._generator is None:
                    self._raise_if_unusable()
                    if cancelled():
                        raise CancelledError
                    left = until - time.monotonic()
                    if left <= 0:
                        raise NotReadyError(what=Phrase("generator_loading"))
                    self._changed.wait(min(left, 0.1))
                return self._generator.spec
            finally:
                self._early -= 1

    def count_tokens(self, text: str) -> int:
        """Tokens of a plain text, by the loaded generator; does not wait for the text being written.

        Raises:
            NotReadyError: It is still loading.
            OtvetError: Loading failed; the error that says why.
        """
        with self._changed:
            self._raise_if_unusable()
            generator = self._generator
        if generator is None:
            raise NotReadyError(what=Phrase("generator_loading"))
        return generator.count_tokens(text)

    @property
    def state(self) -> State:
        """``loading``, ``ready``, ``failed`` (for good) or ``closed``."""
        return self._state

    def status(self) -> dict[str, object]:
        """State, line and measured speed, as JSON values."""
        with self._changed:
            return {
                "state": self._state,
                "error": self._error.code if self._error else None,
                "reason": str(self._error) if self._error else None,
                "model": self._generator.spec.id if self._generator else None,
                "running": self._running is not None,
                "waiting": len(self._queue),
                "queue_size": self._queue_size,
                "restarts": self._restarts,
                **self._meter.status(),
            }

    def close(self, timeout_s: float = 10.0) -> None:
        """Stop at the next token, refuse whoever waits, free the model; waits for that."""
        with self._changed:
            self._state = "closed"
            self._refuse_all(CancelledError())
            if self._running is not None:
                self._running.abandoned = True
            self._changed.notify_all()
        atexit.unregister(self.close)
        self._thread.join(timeout_s)

    def withdraw(self, job: Job) -> None:
        """Forget a job: out of the line, or stopped at its next token."""
        job.abandoned = True
        with self._changed:
            self._queue.remove(job)

    def place(self, job: Job) -> int:
        """Texts to be finished before this one starts; 0 while it is written and afterwards."""
        with self._changed:
            order = self._queue.order()
            return order.index(job) + (self._running is not None) if job in order else 0

    def estimate_s(self, job: Job) -> float:
        """Seconds until the job is likely to start."""
        return self._meter.estimate_s(self.place(job))

    def remaining_s(self, job: Job) -> float:
        """Seconds until the job is likely to be finished."""
        return self._meter.estimate_s(self.place(job) + 1)

    def _run(self) -> None:
        self._fresh_generator()
        while (job := self._take()) is not None:
            if (end := job.over()) is None:
                self._write(job)
            elif end == "cancelled":
                job.output.put(CancelledError())
            else:
                job.output.put(None)
            with self._changed:
                self._running = None
        self._drop_generator()

    def _take(self) -> Job | None:
        with self._changed:
            self._changed.wait_for(lambda: self._state == "closed" or len(self._queue) > 0)
            if self._state == "closed":
                return None
            self._running = self._queue.pop()
            return self._running

    def _write(self, job: Job) -> None:
        generator = self._generator
        if generator is None:  # failed for good while this job was on its way
            job.output.put(_again(self._error))
            return
        self._meter.start()
        try:
            for piece in generator.generate(job.messages, job.sampling, self._watch(job)):
                job.output.put(piece)
        except GeneratorError as error:
            self._recover(job, error)
        except OtvetError as error:
            job.output.put(error)
        except Exception as error:  # an engine may fail in any way: the caller is told, the engine replaced
            logger.exception("the generator failed")
            self._recover(job, GeneratorError(reason=f"{type(error).__name__}: {error}"))
        else:
            self._failures = 0
            end = job.over()
            job.output.put(CancelledError() if end == "cancelled" else None)
            self._meter.finish(generator, complete=end is None)
        finally:
            self._meter.stop()

    def _watch(self, job: Job) -> Callable[[], bool]:
        """What the generator polls: every poll is a sign of life, between the batches of a prompt too."""

        def cancelled() -> bool:
            self._meter.beat()
            return job.over() is not None

        return cancelled

    def _recover(self, job: Job, error: GeneratorError) -> None:
        self._failures += 1
        self._drop_generator()
        job.output.put(error)
        if self._failures >= MOST_FAILURES:
            self._give_up(error)
        else:
            self._restarts += 1
            self._fresh_generator()

    def _fresh_generator(self) -> None:
        try:
            generator = self._load()
        except OtvetError as error:
            self._give_up(error)
            return
        except Exception as error:  # whatever stops the load is kept as the reason and shown in the status
            logger.exception("the generator could not be loaded")
            self._give_up(GeneratorError(reason=f"{type(error).__name__}: {error}"))
            return
        with self._changed:
            self._generator = generator
            if self._state != "closed":
                self._state = "ready"
            self._changed.notify_all()

    def _drop_generator(self) -> None:
        with self._changed:
            generator, self._generator = self._generator, None
            if self._state == "ready":
                self._state = "loading"
        engine: object = generator
        if isinstance(engine, _Closable):
            engine.close()

    def _give_up(self, error: OtvetError) -> None:
        with self._changed:
            self._error = error
            if self._state != "closed":
                self._state = "failed"
            self._refuse_all(error)
            self._changed.notify_all()

    def _refuse_all(self, error: OtvetError) -> None:
        while len(self._queue):
            self._queue.pop().output.put(_again(error))

    def _raise_if_unusable(self) -> None:
        if self._state == "failed":
            raise _again(self._error)
        if self._state == "closed":
            raise CancelledError


def _again(error: OtvetError | None) -> OtvetError:
    """A fresh copy: one exception object must not be raised in several threads."""
    return type(error)(**error.values) if error else GeneratorError(reason=Phrase("generator_closed"))
