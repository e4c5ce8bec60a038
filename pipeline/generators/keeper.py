"""The generator's life: loaded, replaced when it fails, given up when it keeps failing."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Literal

from pipeline.errors import CancelledError, GeneratorError, OtvetError
from pipeline.messages import Phrase
from pipeline.ports import Closable, Generator

__all__ = ["Keeper", "State", "again"]

State = Literal["loading", "ready", "failed", "closed"]

MOST_FAILURES = 3
"""After so many failures in a row the engine is given up; each earlier one gets a fresh engine."""

logger = logging.getLogger(__name__)


class Keeper:
    """Holds at most one generator. Changed by the worker's thread only, under the worker's lock.

    Attributes:
        generator: The usable generator, or None while there is none.
        state: ``loading``, ``ready``, ``failed`` (for good) or ``closed``.
        error: Why it failed for good.
        restarts: How often a failed engine was replaced.
    """

    def __init__(self, load: Callable[[], Generator], changed: threading.Condition) -> None:
        self._load = load
        self._changed = changed
        self._failures = 0
        self.generator: Generator | None = None
        self.state: State = "loading"
        self.error: OtvetError | None = None
        self.restarts = 0

    def load(self) -> None:
        """Load a generator; a load that fails is final, its reason is kept in ``error``."""
        try:
            generator = self._load()
        except OtvetError as error:
            self._give_up(error)
            return
        except Exception as error:  # whatever stops the load is kept as the reason and shown in the status
            logger.exception("the generator could not be loaded")
            self._give_up(unexpected(error))
            return
        with self._changed:
            self.generator = generator
            if self.state != "closed":
                self.state = "ready"
            self._changed.notify_all()

    def succeeded(self) -> None:
        """A text went well: the engine is sound."""
        self._failures = 0

    def failed(self, error: GeneratorError) -> None:
        """The engine failed: replace it, or give it up when that has not helped before."""
        self._failures += 1
        self.drop()
        if self._failures >= MOST_FAILURES:
            self._give_up(error)
        else:
            self.restarts += 1
            self.load()

    def drop(self) -> None:
        """Free the generator."""
        with self._changed:
            generator, self.generator = self.generator, None
            if self.state == "ready":
                self.state = "loading"
        engine: object = generator
        if isinstance(engine, Closable):
            engine.close()

    def check(self) -> None:
        """Raise why there will be no generator, if so; call under the lock.

        Raises:
            CancelledError: The worker was closed.
            OtvetError: Loading failed, or the engine failed for good.
        """
        if self.state == "failed":
            raise again(self.error)
        if self.state == "closed":
            raise CancelledError

    def _give_up(self, error: OtvetError) -> None:
        with self._changed:
            self.error = error
            if self.state != "closed":
                self.state = "failed"
            self._changed.notify_all()


def unexpected(error: Exception) -> GeneratorError:
    """An error of the engine that this product has no class for."""
    return GeneratorError(reason=f"{type(error).__name__}: {error}")


def again(error: OtvetError | None) -> OtvetError:
    """A fresh copy: one exception object must not be raised in several threads."""
    return error.again() if error else GeneratorError(reason=Phrase("generator_closed"))
