"""Numbers written as words, in Russian and English, and numbers written with digits, as comparable keys."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache

from pipeline.text.normalise import fold

__all__ = ["counting_values", "last_values", "number_keys", "ordinal_values", "word_values", "worded_numbers"]

_RUSSIAN_UNITS = {
    2: "два две двух двум двумя двое двоих",
    3: "три трех трем тремя трое троих",
    4: "четыре четырех четырем четырьмя четверо",
    5: "пять пяти пятью пятеро",
    6: "шесть шести шестью",
    7: "семь семи",
    8: "восемь восьми восемью",
    9: "девять девяти девятью",
}
_RUSSIAN_TEENS = """
десят одиннадцат двенадцат тринадцат четырнадцат пятнадцат шестнадцат семнадцат восемнадцат девятнадцат
"""

_RUSSIAN_TENS = {
    20: "двадцать двадцати двадцатью",
    30: "тридцать тридцати тридцатью",
    40: "сорок сорока",
    50: "пятьдесят пятидесяти",
    60: "шестьдесят шестидесяти",
    70: "семьдесят семидесяти",
    80: "восемьдесят восьмидесяти",
    90: "девяносто девяноста",
}
_RUSSIAN_HUNDREDS = {
    100: "сто ста",
    200: "двести двухсот двумстам",
    300: "триста трехсот тремстам",
    400: "четыреста четырехсот",
    500: "пятьсот пятисот",
    600: "шестьсот шестисот",
    700: "семьсот семисот",
    800: "восемьсот восьмисот",
    900: "девятьсот девятисот",
}
_ENGLISH_UNITS = """
two three four five six seven eight nine ten
eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen
"""
_ENGLISH_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"

_RUSSIAN_ORDINALS = {
    1: "перв", 2: "втор", 4: "четверт", 5: "пят", 6: "шест", 7: "седьм", 8: "восьм", 9: "девят", 10: "десят",
    11: "одиннадцат", 12: "двенадцат", 13: "тринадцат", 14: "четырнадцат", 15: "пятнадцат",
    16: "шестнадцат", 17: "семнадцат", 18: "восемнадцат", 19: "девятнадцат", 20: "двадцат", 30: "тридцат",
    40: "сороков", 50: "пятидесят", 60: "шестидесят", 70: "семидесят", 80: "восьмидесят", 90: "девяност",
}  # fmt: skip
_ORDINAL_ENDINGS = ("ый", "ий", "ой", "ого", "ому", "ым", "ом", "ая", "ую", "ое", "ые", "ых", "ыми")
_THIRD = "третий третьего третьему третьим третьем третья третьей третью третье третьи третьих третьими"
_ENGLISH_ORDINALS = """
first second third fourth fifth sixth seventh eighth ninth tenth
eleventh twelfth thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth
"""
_ONES = "один одна одно одного одной одному одним одну one"

_WORD = re.compile(r"[^\W\d_]+")
_MULTIPLIERS = (
    (re.compile(r"тыс|thousand"), 1_000),
    (re.compile(r"млн|миллион|million"), 1_000_000),
    (re.compile(r"млрд|миллиард|billion"), 1_000_000_000),
)


@cache
def word_values() -> dict[str, int]:
    """Every number word this module knows, lower case with ё = е, and its value. 0 and 1 are left out.

    «Один» and "one" are articles and pronouns far more often than counts.
    """
    values: dict[str, int] = {}
    for table in (_RUSSIAN_UNITS, _RUSSIAN_TENS, _RUSSIAN_HUNDREDS):
        for value, words in table.items():
            values |= dict.fromkeys(words.split(), value)
    for value, stem in enumerate(_RUSSIAN_TEENS.split(), 10):
        values |= {stem + ending: value for ending in ("ь", "и", "ью")}
    values |= {word: value for value, word in enumerate(_ENGLISH_UNITS.split(), 2)}
    values |= {word: 10 * value for value, word in enumerate(_ENGLISH_TENS.split(), 2)}
    return values


@cache
def ordinal_values() -> dict[str, int]:
    """Ordinal words («пятый», "twentieth") and their values, 1 and 2 included."""
    values = {
        stem + ending: value for value, stem in _RUSSIAN_ORDINALS.items() for ending in _ORDINAL_ENDINGS
    }
    values |= dict.fromkeys(_THIRD.split(), 3)
    values |= {word: value for value, word in enumerate(_ENGLISH_ORDINALS.split(), 1)}
    tens = (word.removesuffix("y") + "ieth" for word in _ENGLISH_TENS.split())
    return values | {word: 10 * value for value, word in enumerate(tens, 2)}


@cache
def counting_values() -> dict[str, int]:
    """Words a number may begin with. «Первый» and «второй» are left out: mostly they put things in order."""
    return word_values() | {word: value for word, value in ordinal_values().items() if value > 2}


@cache
def last_values() -> dict[str, int]:
    """Words that may add to a number word before them, and their values: «двадцать один», "twenty-first"."""
    return word_values() | ordinal_values() | dict.fromkeys(_ONES.split(), 1)


def worded_numbers(text: str, values: Mapping[str, int]) -> Iterator[tuple[int, int, int]]:
    """Start, end and value of each number in words.

    Args:
        text: Any text.
        values: The words a number may begin with (`counting_values`, `last_values`).
    """
    words = [(match, fold(match.group())) for match in _WORD.finditer(text)]
    position = 0
    while position < len(words):
        match, word = words[position]
        position += 1
        if word not in values:
            continue
        value, end = values[word], match.end()
        # «двадцать пять», «сто двадцать»: smaller numbers right behind add up; nothing follows an ordinal.
        scale = 0 if word in ordinal_values() else value
        while position < len(words):
            following, added = words[position]
            smaller = last_values().get(added)
            gap = text[end : following.start()]
            if smaller is None or smaller >= _step(scale) or gap not in (" ", "-"):
                break
            value, scale, end = value + smaller, 0 if added in ordinal_values() else smaller, following.end()
            position += 1
        yield match.start(), end, value


def _step(value: int) -> int:
    """Numbers below this may follow ``value`` and add to it."""
    return 100 if value >= 100 else 10 if value >= 20 else 0


def number_keys(written: str, after: str = "") -> frozenset[str]:
    """Plain decimal forms a written number may stand for.

    «3,50» is ``3.5``; «45 000» is ``45000``; «45,000» may be either; «5 тыс.» is ``5`` and ``5000``.

    Args:
        written: Digits with spaces, commas or points, as they stand in the text.
        after: What follows, for thousands and millions.
    """
    digits = re.sub(r"\s", "", written)
    keys = {_plain(digits.replace(",", "."))}
    if re.fullmatch(r"\d{1,3}(?:,\d{3})+", digits):
        keys.add(digits.replace(",", ""))
    following = after.lstrip().lower()
    for word, factor in _MULTIPLIERS:
        if word.match(following):
            keys |= {_plain(f"{float(key) * factor:f}") for key in keys if key.count(".") < 2}
    return frozenset(keys)


def _plain(number: str) -> str:
    whole, point, decimals = number.partition(".")
    decimals = decimals.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + decimals if decimals else "")
