"""What was worked out last of something large, kept until something else is asked about."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar
from weakref import ref

__all__ = ["Latest"]

K = TypeVar("K")
V = TypeVar("V")


class Latest(Generic[K, V]):
    """A memory of one entry; an index, for example, lives long and is swapped rarely.

    What is kept does not keep the thing itself alive: a newer one takes its place, and the old one's files
    are mapped into memory.

    Kept by an instance. CPython 3.11 finds attributes of a class through a cache that is cleared only
    after the old value is gone; freeing mapped arrays lets other threads run in between, and they crash.

    Args:
        make: Works it out; two threads that ask at once may both do it.
    """

    def __init__(self, make: Callable[[K], V]) -> None:
        self._make = make
        self._entry: tuple[ref[K], V] | None = None

    def of(self, thing: K) -> V:
        """What is known of a thing."""
        entry = self._entry
        if entry is None or entry[0]() is not thing:
            entry = self._entry = (ref(thing), self._make(thing))
        return entry[1]
