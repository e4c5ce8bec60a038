"""What the words of a question mean in a database: stored values, periods, amounts, names."""

from __future__ import annotations

import datetime as dt
import re

from pipeline.sql.catalog import Catalog
from pipeline.sql.known import Amount, Period, Value, Words
from pipeline.text.stems import keyword_terms

__all__ = ["words_of"]


def words_of(question: str, catalog: Catalog, today: dt.date) -> Words:
    """Read the words of a question.

    Args:
        question: Without flags.
        catalog: Whose stored values they may name.
        today: Relative periods count from here.
    """
    said = keyword_terms(question)
    values = []
    for table in catalog.tables.values():
        for column in table.columns:
            for value in column.values:
                terms = keyword_terms(value)
                if terms and all(term in said for term in terms):
                    values.append(Value(value, table.name, column.name, value))
    periods = tuple(
        Period(found[0], f"{found[1]}-01-01", f"{int(found[1]) + 1}-01-01")
        for found in re.finditer(r"(20\d\d)(?:-?м)?\s+(?:год|year)", question)
    )
    amounts = tuple(
        Amount(found[0], ">" if re.match("бол|дорож|выше|свыш|over|more|above", found[1]) else "<", found[2])
        for found in re.finditer(
            r"(больше|меньше|дороже|дешевле|выше|ниже|более|менее|свыше|over|under|more|less)\s+(?:чем\s+|than\s+)?(\d+)",
            question,
        )
    )
    return Words(tuple(values), periods, amounts)
