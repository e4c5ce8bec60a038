"""The report of a run as one HTML file: pictures inline, no script, nothing fetched, every text escaped."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from html import escape
from importlib import resources

from pipeline.evaluation.charts import Bar, Interval, bars, intervals, spans
from pipeline.evaluation.records import Record
from pipeline.evaluation.report_tables import Report, Table, measure_name
from pipeline.evaluation.summary import SPEED, confusion, stage_quantiles

__all__ = ["html"]

_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def html(report: Report) -> str:
    """The whole file."""
    title = report.tell("eval_report_title", questions=report.run.plan.questions)
    parts = [f"<h1>{escape(title)}</h1><p>{escape(report.about())}</p>", *_pictures(report)]
    parts += [_table(table) for table in report.tables()]
    parts.append(_questions(report))
    settings = json.dumps(report.run.plan.settings, ensure_ascii=False, indent=1, sort_keys=True)
    parts.append(_section(report.tell("eval_report_settings"), f"<pre>{escape(settings)}</pre>"))
    return (
        f'<!doctype html>\n<html lang="{report.language}"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_style()}</style></head><body>\n"
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _style() -> str:
    return resources.files(__package__).joinpath("report.css").read_text(encoding="utf-8")


def _pictures(report: Report) -> Iterable[str]:
    before = {one.measure: one.change.before for one in report.compared}
    shares = [
        Interval(measure_name(name, report.language), one.value, one.low, one.high, before.get(name))
        for name, one in report.figures.items()
        if name not in SPEED
    ]
    said = report.tell("eval_report_intervals")
    if report.baseline is not None:
        said += "; " + report.tell("eval_report_baseline_dot", name=report.baseline.name)
    yield _section(report.tell("eval_report_figures"), f"<p>{escape(said)}</p>{intervals(shares, said)}")
    answerable = [record for record in report.records if record.question.is_answerable]
    if answerable:
        title = report.tell("eval_report_ranks")
        yield _section(title, bars(_ranks(report, answerable), title))
    if any(reach != "answerable" for reach in confusion(report.records)):
        title = report.tell("eval_report_confusion")
        yield _section(title, bars(_refusals(report), title))
    times = {
        stage: [figure.value for figure in found.values()]
        for stage, found in stage_quantiles(report.records).items()
    }
    if times:
        title = report.tell("eval_report_times")
        yield _section(title, spans(times, title))
    chances = [one.chance for record in report.records for one in record.sentences or ()]
    if chances:
        title = report.tell("eval_report_sentences")
        yield _section(title, bars(_tenths(chances), title))


def _ranks(report: Report, records: list[Record]) -> list[Bar]:
    counts = Counter(record.ranking.rank for record in records)
    rows = [Bar(str(rank), counts[rank]) for rank in range(1, report.run.plan.top_k + 1)]
    return [*rows, Bar(report.tell("eval_report_none"), counts[None])]


def _refusals(report: Report) -> list[Bar]:
    return [
        Bar(f"{report.tell(f'eval_reach_{reach}')}: {report.tell(f'eval_head_{what}')}", count)
        for reach, row in confusion(report.records).items()
        for what, count in row.items()
    ]


def _tenths(chances: list[float]) -> list[Bar]:
    counts = Counter(min(int(chance * 10), 9) for chance in chances)
    return [Bar(f"{tenth / 10:.1f}–{(tenth + 1) / 10:.1f}", counts[tenth]) for tenth in range(10)]


def _section(heading: str, content: str) -> str:
    return f"<section><h2>{escape(heading)}</h2>{content}</section>"


def _table(table: Table) -> str:
    def cells(row: tuple[str, ...], tag: str) -> str:
        return "".join(
            f"<{tag}{' class=words' if place in table.words else ''}>{escape(cell)}</{tag}>"
            for place, cell in enumerate(row)
        )

    rows = "".join(f"<tr>{cells(row, 'td')}</tr>" for row in table.rows)
    head = f"<thead><tr>{cells(table.columns, 'th')}</tr></thead>"
    return _section(table.heading, f'<div class="wide"><table>{head}<tbody>{rows}</tbody></table></div>')


def _questions(report: Report) -> str:
    return _section(
        report.tell("eval_report_questions"), "".join(_question(report, record) for record in report.records)
    )


def _question(report: Report, record: Record) -> str:
    wrong = record.is_refused == record.question.is_answerable or (
        record.question.is_answerable and record.ranking.rank != 1
    )
    told = report.tell("eval_head_refused" if record.is_refused else "eval_head_answered")
    if record.question.is_answerable:
        told += f", {report.tell('eval_report_place')} {record.ranking.rank or '—'}"
    lines = [
        f"<p>{escape(', '.join(dict.fromkeys(record.files)) or '—')}</p>",
        f"<pre>{escape(record.answer)}</pre>",
    ]
    doubt = escape(report.tell("eval_report_unsupported"))
    lines += [
        f'<p class="bad">{doubt} ({one.chance:.2f}): {escape(one.text)}</p>'
        for one in record.sentences or ()
        if not one.supported
    ]
    if record.verdict is not None:
        lines.append(f"<p>{escape(report.tell('eval_judging'))}: {escape(record.verdict.said)}</p>")
    summary = escape(f"{record.question.line}. {record.question.text} — {told}")
    marked = " class=bad" if wrong else ""
    return f"<details><summary{marked}>{summary}</summary>{''.join(lines)}</details>"
