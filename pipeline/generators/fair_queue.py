"""A line in which every client gets its turn."""

from __future__ import annotations

from collections import deque
from typing import Generic, TypeVar

__all__ = ["FairQueue"]

T = TypeVar("T")


class FairQueue(Generic[T]):
    """Round robin over clients, first in first out within one. Not thread-safe.

    ``remove`` may come in the middle of another call of the same thread: whoever drops a job without
    waiting for it has it removed by the garbage collector.

    A client that asks ten questions at once delays another one's single question by one answer, not ten.
    """

    def __init__(self) -> None:
        # Clients in the order of their turns; a served client goes to the end.
        self._lines: dict[str, deque[T]] = {}

    def __len__(self) -> int:
        return sum(len(line) for line in self._lines.values())

    def push(self, client: str, item: T) -> None:
        """Join the line of a client."""
        self._lines.setdefault(client, deque()).append(item)

    def pop(self) -> T:
        """Take the next item; ``IndexError`` when there is none."""
        while self._lines:
            client = next(iter(self._lines))
            line = self._lines.pop(client, None)
            if line:
                item = line.popleft()
                if line:
                    self._lines[client] = line
                return item
        raise IndexError("empty queue")

    def order(self) -> list[T]:
        """All items in the order they would be taken if nobody joined."""
        lines = [list(line) for line in self._lines.values()]
        rounds = max((len(line) for line in lines), default=0)
        return [line[turn] for turn in range(rounds) for line in lines if turn < len(line)]

    def remove(self, item: T) -> bool:
        """Take an item out of the line wherever it stands; False when it is not there."""
        for client, line in tuple(self._lines.items()):
            if item in line:
                line.remove(item)
                if not line:
                    self._lines.pop(client, None)
                return True
        return False
