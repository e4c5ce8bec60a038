"""A value made when first needed, once, whoever asks first."""

from __future__ import annotations

from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["Lazy"]

T = TypeVar("T")


class Lazy(Generic[T]):
    """Calls ``make`` on the first ``get``; later callers get the same value.

    A ``make`` that raises is called again at the next ``get``: what was missing may have come.
    """

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._value: list[T] = []

    def get(self) -> T:
        """The value; concurrent first callers wait for one making."""
        if not self._value:
            with self._lock:
                if not self._value:
                    self._value.append(self._make())
        return self._value[0]

    def peek(self) -> T | None:
        """The value if it has been made."""
        return self._value[0] if self._value else None
