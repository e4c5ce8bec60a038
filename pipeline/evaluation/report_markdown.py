"""The report of a run in Markdown."""

from __future__ import annotations

import re

from pipeline.evaluation.report_tables import Report, Table

__all__ = ["markdown"]

_SPECIAL = re.compile(r"([\\`*_\[\]<>|#])")


def markdown(report: Report) -> str:
    """All tables, then the questions that went wrong."""
    title = report.tell("eval_report_title", questions=_plain(report.run.plan.questions))
    parts = [f"# {title}", _plain(report.about())]
    parts += [_table(table) for table in report.tables()]
    missed = [
        record
        for record in report.records
        if (record.question.is_answerable and (record.is_refused or record.ranking.rank != 1))
        or (not record.question.is_answerable and not record.is_refused)
    ]
    if missed:
        rows = tuple(
            (
                str(record.question.line),
                record.question.text,
                str(record.ranking.rank or "—") if record.question.is_answerable else "—",
                record.files[0] if record.files else "—",
                report.tell("eval_head_refused") if record.is_refused else report.tell("eval_head_answered"),
            )
            for record in missed
        )
        heading = report.tell("eval_report_questions")
        names = ("eval_report_place", "eval_report_first", "eval_head_judgement")
        columns = ("№", heading, *(report.tell(name) for name in names))
        parts.append(_table(Table(heading, columns, rows, words=frozenset((1, 3, 4)))))
    return "\n\n".join(parts) + "\n"


def _table(table: Table) -> str:
    lines = [
        _row(table.columns),
        _row(["---" if not place or place in table.words else "---:" for place in range(len(table.columns))]),
        *(_row([_plain(cell) for cell in row]) for row in table.rows),
    ]
    return f"## {_plain(table.heading)}\n\n" + "\n".join(lines)


def _row(cells: tuple[str, ...] | list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _plain(text: str) -> str:
    """A text that means nothing to Markdown, on one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))
