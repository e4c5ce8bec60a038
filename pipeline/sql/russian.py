"""Russian and English forms of words beside numbers, and numbers as people write them."""

from __future__ import annotations

import datetime as dt
from decimal import ROUND_HALF_UP, Decimal

from pipeline.types import Language

__all__ = ["date_words", "month_words", "number_words", "plural"]

_RUSSIAN = (
    *("январь", "февраль", "март", "апрель", "май", "июнь", "июль"),
    *("август", "сентябрь", "октябрь", "ноябрь", "декабрь"),
)
_RUSSIAN_OF = (
    *("января", "февраля", "марта", "апреля", "мая", "июня", "июля"),
    *("августа", "сентября", "октября", "ноября", "декабря"),
)
_ENGLISH = (
    *("January", "February", "March", "April", "May", "June", "July"),
    *("August", "September", "October", "November", "December"),
)
_NARROW = "\u00a0"


def plural(number: float, one: str, few: str, many: str) -> str:
    """The form of a Russian noun beside a number: 1 день, 2 дня, 5 дней, 1,5 дня."""
    if number != int(number):
        return few
    rest = abs(int(number)) % 100
    if 11 <= rest <= 14:
        return many
    return one if rest % 10 == 1 else few if rest % 10 in (2, 3, 4) else many


def number_words(number: float, language: Language, places: int = 2) -> str:
    """A number with its thousands apart: ``12 345,5`` in Russian, ``12,345.5`` in English.

    Args:
        number: Finite.
        language: Whose marks.
        places: Digits after the mark at most; zeros at the end go.
    """
    exact = Decimal(str(number)).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP)
    written = f"{exact:,f}"
    if "." in written:
        written = written.rstrip("0").rstrip(".")
    if language == "en":
        return written
    grouped = abs(exact) >= 10_000  # «2024» and «9500» stay whole in Russian
    return written.replace(",", _NARROW if grouped else "").replace(".", ",")


def date_words(day: dt.date, language: Language) -> str:
    """A day in words: «5 марта 2024 года», ``5 March 2024``."""
    if language == "ru":
        return f"{day.day} {_RUSSIAN_OF[day.month - 1]} {day.year} года"
    return f"{day.day} {_ENGLISH[day.month - 1]} {day.year}"


def month_words(year: int, month: int, language: Language) -> str:
    """A month in words: «март 2024», ``March 2024``."""
    return f"{(_RUSSIAN if language == 'ru' else _ENGLISH)[month - 1]} {year}"
