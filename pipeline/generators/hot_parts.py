"""What the language model made of sources that are asked about again and again, kept in memory."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["HotParts"]

_Key = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class _Part:
    start: int
    state: NDArray[np.uint8]


class HotParts:
    """The KV cache of stretches of prompts, the least recently used forgotten first. Not thread-safe.

    A stretch is known by every token from the beginning of the prompt to its end, because what a model makes
    of a token depends on all tokens before it. It belongs to one loaded model and goes with it, so neither
    the model nor the engine's options need to stand in the key.

    Args:
        limit_bytes: Memory to use at most; 0 keeps nothing.
    """

    def __init__(self, limit_bytes: int) -> None:
        self._limit = limit_bytes
        self._parts: OrderedDict[_Key, _Part] = OrderedDict()
        self._used = 0

    def __len__(self) -> int:
        return len(self._parts)

    def takes(self, size: int) -> bool:
        """True when a stretch of so many bytes would be kept."""
        return 0 < size <= self._limit

    def __contains__(self, tokens: Sequence[int]) -> bool:
        return tuple(tokens) in self._parts

    def find(self, tokens: Sequence[int], start: int) -> NDArray[np.uint8] | None:
        """The state of ``tokens[start:]`` behind ``tokens[:start]``, if it is kept."""
        key = tuple(tokens)
        part = self._parts.get(key)
        if part is None or part.start != start:
            return None
        self._parts.move_to_end(key)
        return part.state

    def put(self, tokens: Sequence[int], start: int, state: NDArray[np.uint8]) -> None:
        """Keep the state of ``tokens[start:]``; what was used least recently makes room for it."""
        key = tuple(tokens)
        self.forget(key)
        if not self.takes(state.nbytes):
            return
        self._parts[key] = _Part(start, state)
        self._used += state.nbytes
        while self._used > self._limit:
            _, oldest = self._parts.popitem(last=False)
            self._used -= oldest.state.nbytes

    def forget(self, tokens: Sequence[int]) -> None:
        """Drop a stretch, if it is kept."""
        part = self._parts.pop(tuple(tokens), None)
        if part is not None:
            self._used -= part.state.nbytes
