"""The fields of a reply that say how a question over databases was answered; absent in all other replies."""

from __future__ import annotations

from collections.abc import Iterable

from pipeline.types import Chart, Clarification, Confirmation, Routed, Step, TableView

__all__ = ["costs_of", "routed_fields"]


def routed_fields(routed: Routed, base_url: str) -> dict[str, object]:
    """``route`` … ``costs``, all of them in every such reply; what does not apply is null or empty."""
    return {
        "route": routed.route,
        "steps": [_step(step) for step in routed.steps],
        "database": routed.database,
        "sql": routed.sql,
        "table": routed.table and _table(routed.table, routed.result, base_url),
        "chart": routed.chart and _chart(routed.chart),
        "confirm": routed.confirm and _confirm(routed.confirm),
        "clarify": routed.clarify and _clarify(routed.clarify),
        "costs": costs_of(routed.steps),
    }


def costs_of(steps: Iterable[Step]) -> dict[str, object]:
    """The sums of the steps; a call is a step at which the model read something."""
    steps = tuple(steps)
    return {
        "calls": sum(step.tokens_in > 0 for step in steps),
        "tokens_in": sum(step.tokens_in for step in steps),
        "tokens_out": sum(step.tokens_out for step in steps),
        "seconds": round(sum(step.seconds for step in steps), 3),
    }


def _step(step: Step) -> dict[str, object]:
    return {
        "name": step.name,
        "seconds": round(step.seconds, 3),
        "tokens_in": step.tokens_in,
        "tokens_out": step.tokens_out,
        "detail": step.detail,
    }


def _table(table: TableView, result: str, base_url: str) -> dict[str, object]:
    return {
        "columns": list(table.columns),
        "labels": list(table.labels or table.columns),
        "kinds": list(table.kinds),
        "rows": [list(row) for row in table.rows],
        "truncated": table.truncated,
        "csv": f"{base_url}/ask/{result}/table.csv" if result else None,
    }


def _chart(chart: Chart) -> dict[str, object]:
    return {"kind": chart.kind, "x": chart.x, "y": chart.y}


def _confirm(confirm: Confirmation) -> dict[str, object]:
    return {"id": confirm.id, "explanation": confirm.explanation, "expires_s": confirm.expires_s}


def _clarify(clarify: Clarification) -> dict[str, object]:
    options = [
        {"label": option.label, "question": option.question, "route": option.route}
        for option in clarify.options
    ]
    return {"question": clarify.question, "options": options}
