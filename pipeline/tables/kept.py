"""What a question over a database leaves behind for some minutes: a statement to be confirmed, a result."""

from __future__ import annotations

import secrets
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from pipeline.errors import NotFoundError

__all__ = ["LIFETIME_S", "Kept"]

LIFETIME_S = 900
"""Seconds for which things are kept."""

MOST = 100

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class _Entry(Generic[T]):
    value: T
    until: float


class Kept(Generic[T]):
    """Things by an id that nobody can guess, bounded in number and age. Thread-safe.

    Args:
        lifetime_s: Seconds for which a thing is kept.
        most: Things kept; the oldest goes first.
        now: The clock they age by.
    """

    def __init__(
        self, lifetime_s: float = LIFETIME_S, most: int = MOST, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._lifetime_s = lifetime_s
        self._most = most
        self._now = now
        self._lock = threading.Lock()
        self._entries: OrderedDict[str, _Entry[T]] = OrderedDict()

    def put(self, value: T) -> str:
        """Keep a thing; returns its id."""
        name = secrets.token_hex(16)
        with self._lock:
            self._entries[name] = _Entry(value, self._now() + self._lifetime_s)
            self._forget()
        return name

    def get(self, name: str) -> T:
        """The thing of an id.

        Raises:
            NotFoundError: There is none, or no more.
        """
        with self._lock:
            self._forget()
            entry = self._entries.get(name)
        if entry is None:
            raise NotFoundError(what=name[:64])
        return entry.value

    def __len__(self) -> int:
        with self._lock:
            self._forget()
            return len(self._entries)

    def _forget(self) -> None:
        while self._entries:
            name, entry = next(iter(self._entries.items()))
            if entry.until > self._now() and len(self._entries) <= self._most:
                return
            del self._entries[name]
