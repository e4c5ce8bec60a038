"""One sentence or two above a result; every number in them is a cell of the result or its count of rows."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Sequence
from dataclasses import replace

from pipeline.sql.catalog import Catalog
from pipeline.sql.guard import Guarded
from pipeline.sql.labels import Label, Labels
from pipeline.sql.runner import ResultTable, Value
from pipeline.sql.russian import date_words, month_words, number_words
from pipeline.types import Language

__all__ = ["sentence_of", "value_words"]

_DAY = re.compile(r"(\d{4})-(\d\d)-(\d\d)")
_MONTH = re.compile(r"(\d{4})-(\d\d)")
_NAMED = 3  # values of a list that the sentence names
_LONG = 80


def sentence_of(guarded: Guarded, result: ResultTable, catalog: Catalog, language: Language) -> str:
    """What came out, in words.

    Args:
        guarded: The statement that gave the result.
        result: As run.
        catalog: Its notes and synonyms name the columns.
        language: Of the reader.
    """
    names = Labels(catalog, language)
    labels = [
        replace(found, text=found.text or column)
        for column, found in zip(result.columns, map(names.of, guarded.tree.selects), strict=False)
    ]
    labels += [Label(column) for column in result.columns[len(labels) :]]
    if not result.rows or all(value is None for row in result.rows for value in row):
        return names.told("nothing")
    if len(result.rows) == 1:
        cells = zip(labels, result.rows[0], strict=True)
        told = "; ".join(f"{label.text}: {_cell(value, label, names, language)}" for label, value in cells)
        return _sentence(told)
    count = names.told("truncated" if result.truncated else "rows", rows=len(result.rows))
    whole = not result.truncated and not _is_cut(guarded, result)
    more = (whole and _extremes(result, labels, names, language)) or _first(result, labels, names, language)
    return f"{count} {more}".strip()


def value_words(value: Value, language: Language, *, is_money: bool = False) -> str:
    """A cell for people: thousands apart, dates in words, sums with their currency."""
    if isinstance(value, bool) or value is None:
        return str(value)
    if isinstance(value, int | float):
        words = number_words(value, language)
        return f"{words} руб." if is_money and language == "ru" else f"{words} RUB" if is_money else words
    return _text_words(value, language)


def _text_words(value: str, language: Language) -> str:
    if day := _DAY.fullmatch(value):
        try:
            return date_words(dt.date(int(day[1]), int(day[2]), int(day[3])), language)
        except ValueError:
            return value
    if (month := _MONTH.fullmatch(value)) and 1 <= int(month[2]) <= 12:
        return month_words(int(month[1]), int(month[2]), language)
    short = " ".join(value.split())
    return short if len(short) <= _LONG else short[:_LONG].rsplit(" ", 1)[0] + "…"


def _cell(value: Value, label: Label, names: Labels, language: Language) -> str:
    if value is None:
        return names.told("no_value")
    if isinstance(value, bool) or (label.is_flag and value in (0, 1)):
        return names.told("yes" if value else "no")
    return value_words(value, language, is_money=label.is_money)


def _is_cut(guarded: Guarded, result: ResultTable) -> bool:
    """Whether ``LIMIT`` may have left rows out: of the first three, none is the least of all."""
    limit = guarded.tree.args.get("limit")
    return limit is not None and str(limit.expression) == str(len(result.rows))


def _extremes(result: ResultTable, labels: Sequence[Label], names: Labels, language: Language) -> str:
    """The highest and the lowest of one number beside one name or time."""
    numbers = [place for place, kind in enumerate(result.kinds) if kind == "number"]
    others = [place for place, kind in enumerate(result.kinds) if kind in ("category", "date")]
    if len(result.columns) != 2 or len(numbers) != 1 or len(others) != 1:
        return ""
    y, x = numbers[0], others[0]
    rows = [row for row in result.rows if isinstance(row[y], int | float) and row[x] is not None]
    if len(rows) < 2:
        return ""
    most = max(rows, key=lambda row: row[y] or 0)
    least = min(rows, key=lambda row: row[y] or 0)
    values = {
        "label": labels[y].text,
        "most": value_words(most[x], language),
        "least": value_words(least[x], language),
        "high": value_words(most[y], language, is_money=labels[y].is_money),
        "low": value_words(least[y], language, is_money=labels[y].is_money),
    }
    if most[y] == least[y]:
        return ""
    if result.kinds[x] == "date":
        times = sorted(str(row[x]) for row in rows)
        first, last = value_words(times[0], language), value_words(times[-1], language)
        return _sentence(names.told("over_time", first=first, last=last, **values))
    return _sentence(names.told("extremes", **values))


def _first(result: ResultTable, labels: Sequence[Label], names: Labels, language: Language) -> str:
    """The first rows of a list, by their first column of words, with the number beside each."""
    texts = [place for place, kind in enumerate(result.kinds) if kind in ("category", "text")]
    if not texts:
        return ""
    numbers = [
        place for place, kind in enumerate(result.kinds) if kind == "number" and len(result.kinds) == 2
    ]
    said = []
    for row in result.rows[:_NAMED]:
        name = _cell(row[texts[0]], labels[texts[0]], names, language)
        number = f" ({_cell(row[numbers[0]], labels[numbers[0]], names, language)})" if numbers else ""
        said.append(f"{name}{number}")
    return names.told("first", names="; ".join(said))


def _sentence(words: str) -> str:
    """With a capital at its beginning and a full stop at its end."""
    return f"{words[:1].upper()}{words[1:]}" + ("" if words.endswith(".") else ".")
