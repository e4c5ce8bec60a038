"""Which way a question goes: rules over its words, examples near to it, and the model where both waver.

The rules know languages, not databases: whether a question counts, compares or groups, whether it asks what
texts say; and from the catalog, whether its words name tables, columns and stored values.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pipeline.ports import ChatMessage
from pipeline.sql.cues import Cues
from pipeline.sql.route_examples import ANSWERING
from pipeline.types import Route

__all__ = ["SURE", "Signals", "chances", "decided", "model_chances", "route_messages"]

SURE = 0.7
"""A route this probable is taken without asking the model."""

DOUBTFUL = 0.45
"""Where even the best route is less probable than this after all, the caller is asked."""

_EXAMPLES_WEIGHT = 1.0
_MODEL_WEIGHT = 0.5


@dataclass(frozen=True, slots=True)
class Signals:
    """What is known of a question when its route is chosen.

    Attributes:
        cues: What its wording asks for.
        unexplained: Words that neither its wording nor the schema nor stored values account for: what it asks
            can hardly be computed then.
        firm: Conditions on a table of long texts that are plainly meant as such.
        texts: Some table of the database holds long texts.
    """

    cues: Cues
    unexplained: int
    firm: int
    texts: bool


def chances(signals: Signals, votes: Mapping[Route, float] | None = None) -> dict[Route, float]:
    """How probable each route is, by rules and by the votes of the nearest examples."""
    points = _points(signals)
    logits = {
        route: points[route] + (_EXAMPLES_WEIGHT * math.log(votes[route] + 0.1) if votes else 0.0)
        for route in ANSWERING
    }
    if not signals.texts:
        logits["hybrid"] = -20.0
    return _softmax(logits)


def decided(found: Mapping[Route, float], sure: float = SURE) -> Route | None:
    """The route that is sure enough, if one is."""
    best = max(ANSWERING, key=lambda route: found[route])
    return best if found[best] >= sure else None


def route_messages(question: str, signals: Signals, tables: Sequence[str]) -> list[ChatMessage]:
    """The question to the model; its answer is one of ``ANSWERING``."""
    about = ", ".join(tables)
    lines = [
        "A question about a company's data is answered in one of these ways:",
        "sql: a number or a list is computed from the columns of tables (count, sum, average, top).",
        "search: the texts are searched for what they say (how, why, what happened).",
    ]
    if signals.texts:
        lines.append(
            "hybrid: rows are selected by category, author, date or number, then their texts are searched."
        )
    lines.append(f"Tables: {about}. Answer with one word.")
    shots = [
        ("Сколько заказов отменено?", "sql"),
        ("Почему сломался мост?", "search"),
        *([("Что советуют в статьях Петрова о рыбалке?", "hybrid")] if signals.texts else []),
    ]
    messages = [ChatMessage("system", "\n".join(lines))]
    for asked, answer in shots:
        messages += [ChatMessage("user", asked), ChatMessage("assistant", answer)]
    return [*messages, ChatMessage("user", question)]


def model_chances(found: Mapping[Route, float], scores: Sequence[float]) -> dict[Route, float]:
    """What rules and examples say, joined with the model's word; unchanged where it said nothing."""
    if len(scores) != len(ANSWERING):
        return dict(found)
    joined = {
        route: math.log(found[route] + 1e-9) + _MODEL_WEIGHT * score
        for route, score in zip(ANSWERING, scores, strict=True)
    }
    return _softmax(joined)


def _points(signals: Signals) -> dict[Route, float]:
    cues, open_words = signals.cues, min(max(0, signals.unexplained - 1), 4)
    computed = cues.count or cues.total or cues.average or cues.share or cues.group or bool(cues.parts)
    means = 1.0 * open_words + 1.0 * cues.meaning
    firm = signals.firm > 0
    return {
        "sql": 3.0 * computed + 1.5 * cues.most + 1.0 * cues.compare + 1.0 * cues.listing
        + 1.5 * (signals.unexplained == 0) - 1.2 * open_words,
        "search": means - 2.0 * firm,
        "hybrid": means + (1.0 if firm else -3.0) - 1.0 * (firm and cues.count),
    }  # fmt: skip


def _softmax(logits: Mapping[Route, float]) -> dict[Route, float]:
    best = max(logits.values())
    weights = {route: math.exp(value - best) for route, value in logits.items()}
    total = sum(weights.values())
    return {route: weight / total for route, weight in weights.items()}
