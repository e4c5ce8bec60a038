"""What the words of a question mean in a database: stored values, periods, amounts, names."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator

from pipeline.sql.alike import known_as
from pipeline.sql.amounts import amounts_in
from pipeline.sql.catalog import Catalog
from pipeline.sql.cues import cues_of
from pipeline.sql.known import Amount, Period, Value, Words
from pipeline.sql.names import called_terms, column_terms, table_terms
from pipeline.sql.periods import periods_in
from pipeline.sql.stored_values import NamedValue, StoredValue, values_in
from pipeline.text.function_words import function_terms
from pipeline.text.stems import keyword_terms

__all__ = ["SURE", "words_of"]

SURE = 0.8
"""A stored value whose words are named at least this well is taken to be meant."""

LIKELY = 0.6
"""The same for words that are written as a name is."""

_OPENING = ("«", '"', "“", "„")
_EACH = re.compile(r"\b(?:кажд\w+|люб\w+|each|every|per)$", re.IGNORECASE)
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
    periods = tuple(
        Period(found.said, _iso(found.start), _iso(found.end)) for found in periods_in(question, today)
    )
    # «В первом полугодии» is a time, however near the first word comes to the name of a town.
    dated = {word for period in periods for word in period.said.split()}
    values = tuple(
        Value(named.said, found.table, found.column, found.value, _is_sure(question, named, found, catalog))
        for named in values_in(question, catalog)
        if not dated.issuperset(named.said.split())
        for found in named.candidates
        if _is_sure(question, named, found, catalog) or not _is_a_table(named.said, found, catalog)
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


def _is_sure(question: str, named: NamedValue, found: StoredValue, catalog: Catalog) -> bool:
    """Whether a stored value is meant beyond doubt.

    It is where its words are named well, or not so well but plainly as a name, in quotes or with a capital.
    It is not where they are words of the schema as well («на каждом складе» speaks of warehouses, whatever
    departments are called), or where one row for each of them is asked for.
    """
    before = question[: named.start].rstrip()
    quoted = before.endswith(_OPENING)
    is_name = quoted or (named.said[:1].isupper() and before[-1:] not in _SENTENCE_ENDS)
    if found.score < (LIKELY if is_name else SURE) or _EACH.search(before):
        return False
    terms = frozenset(keyword_terms(named.said)) - function_terms()
    if quoted or (len(terms) > 1 and found.score >= 1) or not terms <= _schema_terms(catalog, found):
        return True
    column = catalog.tables[found.table].column(found.column)
    own = column_terms(column) if column else frozenset()
    rest = frozenset(keyword_terms(before + " " + question[named.end :]))
    return bool(rest & (own - table_terms(catalog.tables[found.table])))


def _is_a_table(said: str, found: StoredValue, catalog: Catalog) -> bool:
    """The words are what some other table is called: «закупок» are the purchases, not «Отдел закупок»."""
    terms = frozenset(keyword_terms(said)) - function_terms()
    called = frozenset().union(
        *(called_terms(table) for table in catalog.tables.values() if table.name != found.table)
    )
    return bool(terms) and all(known_as(term, called) for term in terms)


def _schema_terms(catalog: Catalog, found: StoredValue) -> frozenset[str]:
    """Words of tables and columns, those of the value's own column left out."""
    return frozenset().union(
        *(
            column_terms(column)
            for table in catalog.tables.values()
            for column in table.columns
            if (table.name, column.name) != (found.table, found.column)
        ),
        *(table_terms(table) for table in catalog.tables.values() if table.name != found.table),
        called_terms(catalog.tables[found.table]),
    )


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
