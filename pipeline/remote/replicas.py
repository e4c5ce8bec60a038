"""Which of several equal servers is asked: the least busy one that has not failed a moment ago."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

__all__ = ["Replica", "Replicas"]

REST_S = 2.0
LONGEST_REST_S = 60.0


@dataclass(slots=True)
class Replica:
    """One server.

    Attributes:
        url: Where its API begins, without a slash at the end.
        running: Requests under way.
        failures: Failures since it last served one.
        rests_until: A moment of the clock; before it, others are asked first.
        served: Requests it has answered.
    """

    url: str
    running: int = 0
    failures: int = 0
    rests_until: float = 0.0
    served: int = 0


class Replicas:
    """Used by one thread; what is shown of it may be a moment old.

    Args:
        urls: One or more, each a server with the same model.
        clock: Seconds that only grow.
    """

    def __init__(self, urls: Sequence[str], clock: Callable[[], float] = time.monotonic) -> None:
        self._replicas = [Replica(url) for url in urls]
        self._clock = clock
        self._turn = 0

    def take(self, tried: Collection[str] = ()) -> Replica:
        """The one to ask now; give it back by ``served``, ``failed`` or ``dropped``.

        Args:
            tried: Addresses that failed this very request; they come last.
        """
        now, count = self._clock(), len(self._replicas)
        # From a place that moves on, so that equals take turns.
        order = [self._replicas[(self._turn + step) % count] for step in range(count)]
        self._turn += 1
        chosen = min(
            order,
            key=lambda one: (one.url in tried, max(one.rests_until - now, 0.0), one.running),
        )
        chosen.running += 1
        return chosen

    def served(self, replica: Replica) -> None:
        """It answered."""
        replica.running -= 1
        replica.failures = 0
        replica.rests_until = 0.0
        replica.served += 1

    def failed(self, replica: Replica, rest_s: float | None = None) -> None:
        """It did not: it rests, longer with each failure in a row, or as long as it asked for."""
        replica.running -= 1
        replica.failures += 1
        own = min(REST_S * 2.0 ** min(replica.failures - 1, 10), LONGEST_REST_S)
        replica.rests_until = self._clock() + min(own if rest_s is None else rest_s, LONGEST_REST_S)

    def dropped(self, replica: Replica) -> None:
        """The request was given up, which says nothing about the server."""
        replica.running -= 1

    def status(self) -> list[dict[str, object]]:
        """Every replica, as JSON values."""
        now = self._clock()
        return [
            {
                "url": one.url,
                "running": one.running,
                "served": one.served,
                "failures": one.failures,
                "rests_s": round(max(one.rests_until - now, 0.0), 1),
            }
            for one in self._replicas
        ]

    def __len__(self) -> int:
        return len(self._replicas)
