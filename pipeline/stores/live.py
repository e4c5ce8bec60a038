"""The index a running server answers from: a newer one is loaded beside it and takes its place whole.

A request takes the index once and works with that to its end, so no request waits for a new index,
fails because of one, or sees parts of two.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from pipeline.errors import IndexUnusableError, OtvetError

__all__ = ["LiveIndex"]

logger = logging.getLogger(__name__)

_LONGEST_PAUSE_S = 60.0
_T = TypeVar("_T")


class LiveIndex(Generic[_T]):
    """The newest index that could be loaded, and what belongs to it. Safe to use from many threads.

    Args:
        load: Loads the index as it lies on the disk.
        stamp: Cheap; gives another value once another index has been written.
        seconds: Between two looks.
        check: Reads everything the index is made of, in no hurry; False if some of it is damaged, so that
            loading makes it anew. Called once for each index.
        check_after: Seconds after the load, so that the first requests have the machine to themselves.
    """

    def __init__(
        self,
        load: Callable[[], _T],
        stamp: Callable[[], Hashable],
        seconds: float = 1.0,
        *,
        check: Callable[[], bool] | None = None,
        check_after: float = 30.0,
    ) -> None:
        self._load = load
        self._stamp = stamp
        self._seconds = seconds
        self._check = check
        self._check_after = check_after
        self._lock = threading.Lock()
        self._renewing = threading.Lock()
        self._index: _T | None = None
        self._problem: OtvetError | None = None
        self._seen: Hashable = None
        self._watcher: threading.Thread | None = None
        self._closed = threading.Event()

    def get(self) -> _T:
        """The index; the first caller waits until it is loaded.

        Raises:
            OtvetError: There has been none yet that could be loaded.
        """
        if self._index is None:
            with self._lock:
                if self._watcher is None:
                    self._renew()
                    self._watcher = threading.Thread(target=self._watch, name="otvet-index", daemon=True)
                    self._watcher.start()
                    if self._check is not None:
                        checker = threading.Thread(target=self._check_each, name="otvet-check", daemon=True)
                        checker.start()
        index = self._index
        if index is None:
            raise self._problem.again() if self._problem else IndexUnusableError(reason="?")
        return index

    def problem(self) -> OtvetError | None:
        """Why the index on the disk is not the one in use; None if it is."""
        return self._problem

    def close(self) -> None:
        """Look for newer ones no more; the present one stays usable."""
        self._closed.set()

    def _watch(self) -> None:
        pause = self._seconds
        tried = time.monotonic()
        while not self._closed.wait(self._seconds):
            if self._stamp() != self._seen:
                pause = self._seconds
            elif self._problem is None or time.monotonic() - tried < pause:
                continue
            # What is damaged may be mended without a new stamp, so it is tried again, ever more seldom.
            pause = min(pause * 2, _LONGEST_PAUSE_S)
            self._renew()
            tried = time.monotonic()

    def _check_each(self) -> None:
        """Damage that a load does not see (a byte of a vector) is found and mended behind its back."""
        checked: _T | None = None
        while not self._closed.wait(self._check_after):
            index = self._index
            if index is None or index is checked or self._check is None:
                continue
            checked = index
            try:
                whole = self._check()
            except (OtvetError, OSError) as error:
                logger.info("the index could not be checked: %s", error)
                continue
            if not whole:
                logger.warning("a copy of the index is damaged; it is made again")
                self._renew()
                checked = self._index

    def _renew(self) -> None:
        with self._renewing:
            self._renew_now()

    def _renew_now(self) -> None:
        self._seen = self._stamp()  # taken before: what is written meanwhile is found by the next look
        try:
            self._index = self._load()
        except OtvetError as error:
            self._fail(error)
        except Exception as error:  # noqa: BLE001 - whatever stops the load, the present index serves on
            self._fail(IndexUnusableError(reason=f"{type(error).__name__}: {error}"))
        else:
            self._problem = None

    def _fail(self, error: OtvetError) -> None:
        if str(error) != str(self._problem):
            logger.warning("%s", error, exc_info=error.__context__)
        self._problem = error
