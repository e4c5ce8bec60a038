"""What the words of a question mean in a database: stored values, periods, amounts, names."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

from pipeline.sql.amounts import amounts_in
from pipeline.sql.catalog import Catalog
from pipeline.sql.cues import cues_of
from pipeline.sql.known import Amount, Period, Value, Words
from pipeline.sql.periods import periods_in
from pipeline.sql.stored_values import NamedValue, values_in

__all__ = ["SURE", "words_of"]

SURE = 0.8
"""A stored value whose words are named at least this well is taken to be meant."""

LIKELY = 0.6
"""The same for words that are written as a name is."""

_OPENING = ("«", '"', "“", "„")
_SENTENCE_ENDS = ("", ".", "!", "?", ":", "…")
_NUMBER = re.compile(r"(?<![\w.,№#-])\d{1,9}(?:[.,]\d{1,4})?(?![\w-])")
_QUOTED = re.compile(r"[«\"“„]([^«»\"“”„]{2,60})[»\"”“]")


def words_of(question: str, catalog: Catalog, today: dt.date) -> Words:
    """Read the words of a question.

    Args:
        question: Without flags.
        catalog: Whose stored values they may name.
        today: Relative periods count from here.
    """
    values = tuple(
        Value(named.said, found.table, found.column, found.value, _is_sure(question, named, found.score))
        for named in values_in(question, catalog)
        for found in named.candidates
    )
    periods = tuple(
        Period(found.said, _iso(found.start), _iso(found.end)) for found in periods_in(question, today)
    )
    bounds = tuple(Amount(found.said, found.operator, f"{found.number:f}") for found in amounts_in(question))
    taken = [
        *(value.said for value in values),
        *(period.said for period in periods),
        *(bound.said for bound in bounds),
    ]
    amounts = (*bounds, *_bare_numbers(question, taken))
    known = {value.said.casefold() for value in values}
    names = tuple(
        name for name in dict.fromkeys(_QUOTED.findall(question)) if name.strip().casefold() not in known
    )
    return Words(values, periods, amounts, names)


def _is_sure(question: str, named: NamedValue, score: float) -> bool:
    """Named well, or not so well where it is plainly a name: in quotes, or with a capital."""
    if score >= SURE:
        return True
    before = question[: named.start].rstrip()
    is_name = before.endswith(_OPENING) or (named.said[:1].isupper() and before[-1:] not in _SENTENCE_ENDS)
    return is_name and score >= LIKELY


def _bare_numbers(question: str, taken: list[str]) -> Iterator[Amount]:
    """Numbers that nothing else accounts for: «с гарантией 24 месяца»; how they compare is left open."""
    for said in sorted(taken, key=len, reverse=True):
        question = question.replace(said, " ")
    if cues_of(question).limit > 1:
        return
    for found in _NUMBER.finditer(question):
        yield Amount(found[0], "", found[0].replace(",", "."))


def _iso(day: dt.date | None) -> str:
    return day.isoformat() if day else ""
