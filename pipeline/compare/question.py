"""One question, all ways side by side: sources, overlap, time, and what the model would have to read.

Nothing is written by the language model here; an answer is asked for way by way, as any other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from pipeline.compare.ways import WHOLE, Way
from pipeline.errors import CancelledError
from pipeline.ports import Service
from pipeline.types import AskRequest, Explanation, Hit

__all__ = ["Seen", "SideBySide", "ask_by", "overlap", "side_by_side"]


@dataclass(frozen=True, slots=True)
class Seen:
    """What one way made of the question.

    Attributes:
        found: All that is known before the model speaks.
        timings_ms: Stage -> milliseconds. The question is encoded once for all ways, and each has that time.
    """

    way: Way
    found: Explanation
    timings_ms: dict[str, float]

    @property
    def hits(self) -> tuple[Hit, ...]:
        """Its sources, best first."""
        return self.found.retrieval.hits

    @property
    def total_ms(self) -> float:
        """Of all stages."""
        return sum(self.timings_ms.values())

    @property
    def tokens(self) -> int:
        """What the model would have to read."""
        return self.found.read_tokens


@dataclass(frozen=True, slots=True)
class SideBySide:
    """A question by several ways.

    Attributes:
        default: The way it would take unasked; among ``seen``.
        seen: In the order of the ways.
        whole_tokens: What the model would read without any search.
    """

    question: str
    flags: tuple[str, ...]
    default: Way
    seen: tuple[Seen, ...]
    whole_tokens: int

    @property
    def usual(self) -> Seen:
        """What the default way made of it."""
        return next(one for one in self.seen if one.way == self.default)

    def saving(self, one: Seen) -> float:
        """Share of the tokens without any search that a way spares; below 0 where it costs more."""
        return 1 - one.tokens / self.whole_tokens if self.whole_tokens else 0.0


def ask_by(request: AskRequest, way: Way) -> AskRequest:
    """The same request by a way."""
    return replace(request, strategy=way.strategy, reranker=way.reranker, cross_encoder=False)


def side_by_side(
    service: Service,
    request: AskRequest,
    ways: Sequence[Way],
    default: Way,
    cancelled: Callable[[], bool] = lambda: False,
) -> SideBySide:
    """Search for a question by every way, one after the other.

    Each search waits for its own place among the searches of others, so a comparison never holds up more than
    one of them.

    Args:
        service: Ready to search.
        request: The question; a strategy or reranker that it or its flags name is passed over.
        ways: Which ones; the default is added where it is missing, because the others are held against it.
        default: The way of a question that asks for nothing.
        cancelled: Looked at before every search.

    Raises:
        CancelledError: ``cancelled()`` became true.
        OtvetError: As from the service.
    """
    text, flags = service.parse(request.question, request.language)
    # Behind a dash of its own nothing is a flag: those of the question must not undo the way.
    plain = replace(request, question=f"-- {text}", use_rag=False)
    shown = ways if default in ways else (default, *ways)

    def explained(way: Way) -> Explanation:
        if cancelled():
            raise CancelledError
        return service.explain(ask_by(plain, way))

    # The first search pays for the index on the disk and for encoding the question: that is no way's fault.
    encode_ms = explained(default).retrieval.timings_ms.get("encode", 0.0)
    seen: list[Seen] = []
    for way in shown:
        found = explained(way)
        seen.append(Seen(way, found, {**found.retrieval.timings_ms, "encode": encode_ms}))
    whole = next((one.found for one in seen if one.way.strategy == WHOLE.strategy), None)
    return SideBySide(text, flags, default, tuple(seen), (whole or explained(WHOLE)).read_tokens)


def overlap(one: Sequence[Hit], other: Sequence[Hit]) -> float:
    """Share of the shorter list that the other one has too, 0..1 (overlap coefficient); 0 for no sources."""
    first, second = ({hit.chunk.id for hit in hits} for hits in (one, other))
    return len(first & second) / max(min(len(first), len(second)), 1)
