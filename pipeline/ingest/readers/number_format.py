"""Values of spreadsheet cells as a person sees them there: dates, shares, sums of money, codes.

A small part of Excel's format language: what decides how a value is understood. The separators
follow the language of the workbook's own text.
"""

from __future__ import annotations

import datetime
import math
import re
from dataclasses import dataclass
from functools import lru_cache

__all__ = ["Shown", "shown"]

_LITERAL = re.compile(r'"([^"]*)"|\[\$([^\]\-]*)[^\]]*\]|\\(.)|([₽$€£¥₴₸])')
_IGNORED = re.compile(r"\[[^\]]*\]|_.|\*.|[?]")
_DIGITS = re.compile(r"[0#][0#, .]*")
_ERRORS = frozenset(("#N/A", "#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#GETTING_DATA"))


@dataclass(frozen=True, slots=True)
class Shown:
    """A number format as far as it matters.

    Attributes:
        before: What stands before the digits, for example ``$``.
        after: What stands after them: ``%``, ``₽``, ``шт.``.
        decimals: Digits after the point, or None for as many as there are.
        grouped: Thousands are set apart.
        width: Digits at least, filled up with zeros (codes such as ``00042``).
        per_cent: The value is shown times a hundred.
    """

    before: str = ""
    after: str = ""
    decimals: int | None = None
    grouped: bool = False
    width: int = 1
    per_cent: bool = False


def shown(value: object, number_format: str, russian: bool) -> str:
    """A cell's value as text; errors of formulas are no text.

    Args:
        value: As openpyxl reads it.
        number_format: The cell's format, ``General`` for none.
        russian: Comma and spaces in numbers, Russian truth values.
    """
    if value is None or (isinstance(value, str) and value in _ERRORS):
        return ""
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return ("ИСТИНА" if value else "ЛОЖЬ") if russian else str(value).upper()
    if isinstance(value, int | float):
        return _number(value, _format(number_format), russian)
    return _time(value)


def _time(value: object) -> str:
    if isinstance(value, datetime.datetime):
        at_midnight = value.time() == datetime.time()
        return value.strftime("%d.%m.%Y" if at_midnight else "%d.%m.%Y %H:%M")
    if isinstance(value, datetime.date):
        return value.strftime("%d.%m.%Y")
    if isinstance(value, datetime.time):
        return value.strftime("%H:%M:%S" if value.second else "%H:%M")
    if isinstance(value, datetime.timedelta):
        minutes = round(value.total_seconds() / 60)
        return f"{minutes // 60}:{minutes % 60:02d}"
    return str(value)


@lru_cache(maxsize=1024)
def _format(number_format: str) -> Shown:
    first = number_format.partition(";")[0]
    if first in ("General", "@", "") or re.search(r"E[+-]|/", first):
        return Shown()
    marked = _IGNORED.sub("", _LITERAL.sub(_as_mark, first))
    match = _DIGITS.search(marked)
    if match is None:
        return Shown()
    digits = match.group().strip()
    whole, point, fraction = digits.partition(".")
    before, after = marked[: match.start()].strip(), marked[match.end() :].strip()
    return Shown(
        before=_unmarked(before),
        after=_unmarked(after),
        decimals=len(fraction.strip()) if point else 0,
        grouped="," in whole or " " in whole.strip(),
        width=len(whole) if whole.strip("0") == "" else 1,
        per_cent="%" in after,
    )


# Literals must not be taken for digits or signs of the format: they are moved out of the way.
_SHIFT = 0xF0000


def _as_mark(match: re.Match[str]) -> str:
    literal = next((group for group in match.groups() if group is not None), "")
    return "".join(chr(ord(character) + _SHIFT) for character in literal if ord(character) < 0x10000 - 0x800)


def _unmarked(text: str) -> str:
    plain = (chr(ord(c) - _SHIFT) if ord(c) >= _SHIFT else c for c in text if ord(c) >= _SHIFT or c == "%")
    return "".join(plain).strip()


def _number(value: float, form: Shown, russian: bool) -> str:
    if isinstance(value, float) and (not math.isfinite(value)):
        return ""
    scaled = value * 100 if form.per_cent else value
    if form.decimals is None:
        # Fifteen digits are what Excel keeps; the binary rest (0.30000000000000004) is not shown.
        whole = isinstance(scaled, int) or (scaled == int(scaled) and abs(scaled) < 1e15)
        text = str(int(scaled)) if whole else f"{scaled:.12g}"
    else:
        text = f"{scaled:{',' if form.grouped else ''}.{form.decimals}f}"
        if form.width > 1:
            sign, digits = ("-", text[1:]) if text.startswith("-") else ("", text)
            text = sign + digits.zfill(form.width + (form.decimals + 1 if form.decimals else 0))
    if russian and "e" not in text:
        text = text.replace(",", " ").replace(".", ",")
    after = form.after
    gap = "" if not after or after.startswith("%") else " "
    return f"{form.before}{text}{gap}{after}"
