"""How long to wait before a server is asked again."""

from __future__ import annotations

import random
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["LONGEST_S", "backoff_s", "may_pass", "retry_after_s"]

FIRST_S = 0.25
LONGEST_S = 20.0
"""No pause is longer, whatever a server asks for: a person waits."""

_PASSING = frozenset({408, 425, 429, 500, 502, 503, 504})


def backoff_s(attempt: int, chance: random.Random) -> float:
    """A random pause, twice as long at most with every attempt (from 0).

    "Full jitter" of https://aws.amazon.com/blogs/architecture/exponential-backoff-and-jitter/: many
    clients that were turned away together do not come back together.
    """
    return chance.uniform(0, min(FIRST_S * 2**attempt, LONGEST_S))


def may_pass(status: int) -> bool:
    """Whether the same request may succeed a little later."""
    return status in _PASSING


def retry_after_s(header: str | None, now: datetime | None = None) -> float | None:
    """Seconds of a ``Retry-After`` (RFC 9110, 10.2.3: seconds or a date); None where it is neither."""
    if header is None:
        return None
    text = header.strip()
    if text.isascii() and text.isdigit():
        return float(min(int(text[:9]), 10**6))
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())
