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
        named: Tables or columns that it names by their words.
        conditions: Conditions on rows that it states: values, periods, amounts.
        text_conditions: Those of them that hold for a table of long texts.
        texts: Some table of the database holds long texts.
        about_texts: It names such a table.
    """

    cues: Cues
    named: int
    conditions: int
    text_conditions: int
    texts: bool
    about_texts: bool


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
    cues = signals.cues
    points: dict[Route, float] = {"sql": 0.0, "search": 0.0, "hybrid": 0.0}
    points["sql"] += 2.5 * cues.computes + 1.0 * (cues.group or bool(cues.parts)) + 1.0 * cues.listing
    points["sql"] += 0.5 * min(signals.named, 2) - 1.5 * (cues.meaning and not cues.count)
    points["search"] += 1.5 * cues.meaning + (1.5 if not signals.conditions else -0.5) - 0.3 * signals.named
    if signals.texts:
        stated = bool(signals.text_conditions)
        points["hybrid"] += (
            2.0 * stated + 0.8 * (stated and cues.meaning) + 0.5 * (stated and signals.about_texts)
        )
        points["hybrid"] -= 1.5 * (not signals.conditions) + 0.8 * cues.count
    return points


def _softmax(logits: Mapping[Route, float]) -> dict[Route, float]:
    best = max(logits.values())
    weights = {route: math.exp(value - best) for route, value in logits.items()}
    total = sum(weights.values())
    return {route: weight / total for route, weight in weights.items()}
