"""What a sentence says in figures: amounts with their unit, dates and times, as values that compare.

«14 дней» and «две недели» are one value of time, «10 МБ» and «не больше 10 МБ» differ in their bound, and
«порт 8025» counts ports, because no unit follows the number.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pipeline.answer.facts import Fact
from pipeline.answer.support import content_terms
from pipeline.text.normalise import fold

__all__ = ["Value", "values_of"]


@dataclass(frozen=True, slots=True)
class Value:
    """A value at ``text[start:end]``, its unit included.

    Attributes:
        unit: What is counted: a dimension such as ``time_s``, or the stem of the word beside the number.
        bound: ``min`` for «не менее 5», ``max`` for «до 5», else empty.
        amounts: What it may stand for; two values are equal when they share one.
        between: Words of ``text[start:end]`` that are neither number nor unit: «календарных».
    """

    start: int
    end: int
    unit: str
    bound: str
    amounts: frozenset[str]
    between: str = ""

    def comparable(self, other: Value) -> bool:
        """True if both count the same thing."""
        return (self.unit, self.bound) == (other.unit, other.bound)


_UNITS: tuple[tuple[str, str, float], ...] = (
    (r"сек(?:унд\w*)?|seconds?|sec|с", "time_s", 1),
    (r"мин(?:ут\w*)?|minutes?|min", "time_s", 60),
    (r"час\w*|ч|hours?|hrs?|h", "time_s", 3600),
    (r"день|дн(?:я|ей|ям|ями|ях|и|ю|ём|ем)|дн|сут\w*|days?", "time_s", 86_400),
    (r"недел\w*|weeks?", "time_s", 604_800),
    (r"месяц\w*|мес|months?", "time_months", 1),
    (r"квартал\w*|quarters?", "time_months", 3),
    (r"лет|год\w*|years?", "time_months", 12),
    (r"г|гр|грамм\w*|g|grams?", "mass_g", 1),
    (r"кг|килограмм\w*|kg|kilograms?", "mass_g", 1000),
    (r"т|тонн\w*|tons?|tonnes?", "mass_g", 1_000_000),
    (r"мм|миллиметр\w*|mm", "length_mm", 1),
    (r"см|сантиметр\w*|cm", "length_mm", 10),
    (r"м|метр\w*|m|met(?:er|re)s?", "length_mm", 1000),
    (r"км|километр\w*|km|kilomet(?:er|re)s?", "length_mm", 1_000_000),
    (r"кб|килобайт\w*|kb", "bytes", 1 << 10),
    (r"мб|мегабайт\w*|mb", "bytes", 1 << 20),
    (r"гб|гигабайт\w*|gb", "bytes", 1 << 30),
    (r"руб(?:л\w*)?|₽|rub(?:les?)?", "rub", 1),
    (r"€|eur|евро", "eur", 1),
    (r"\$|usd|доллар\w*|dollars?", "usd", 1),
    (r"%|процент\w*|percent|per\s+cent", "%", 1),
)
_UNIT = tuple((re.compile(rf"(?:{form})(?!\w)"), unit, factor) for form, unit, factor in _UNITS)
_MULTIPLIER = re.compile(r"(?:тыс(?:яч\w*)?|млн|миллион\w*|млрд|миллиард\w*|thousand|million|billion)\b\.?")
_CURRENCY_BEFORE = re.compile(r"([$€₽])\s*$")
_WORD = re.compile(r"[^\W\d_]+")
_NEXT_WORD = re.compile(r"[-\u2010-\u2015]?\s*([^\W\d_]+)")
_ORDINAL_ENDING = re.compile(r"[-\u2010-\u2015](?:го|ого|е|я|й|му|м|х|ти|st|nd|rd|th)\b")
_TIME = re.compile(r"\d{1,2}:\d{2}")
_MINIMUM = re.compile(
    r"(?:\bне\s+(?:менее|меньше|ниже|короче|раньше|реже)(?:\s+чем)?|\bот|\bминимум|\bat\s+least|\bno\s+(?:less|fewer)\s+than"
    r"|\bfrom|\bminimum(?:\s+of)?|\bсвыше|\bболее|\bбольше|\bmore\s+than|\bover)\s*(?:за\s*)?$",
    re.IGNORECASE,
)
_MAXIMUM = re.compile(
    r"(?:\bне\s+(?:более|больше|выше|длиннее|дольше|позже|позднее|чаще)(?:\s+чем)?|\bне\s+(?:долж\w+\s+)?превыша\w+|\bдо|\bмаксимум|\bat\s+most"
    r"|\bup\s+to|\bno\s+(?:more|longer|later)\s+than|\bnot\s+(?:be\s+)?(?:exceed|more\s+than|longer\s+than)|\bmaximum(?:\s+of)?"
    r"|\bменее|\bменьше|\bless\s+than|\bunder|\bпо)\s*(?:за\s*)?$",
    re.IGNORECASE,
)
_AFTER_MINIMUM = re.compile(r"\s*(?:и\s+более|и\s+больше|or\s+more|\+)", re.IGNORECASE)


def values_of(text: str, facts: Iterable[Fact]) -> list[Value]:
    """The values of a sentence in order.

    Args:
        text: The sentence.
        facts: Its facts (`facts.find_facts`).
    """
    return [value for fact in facts for value in _values(text, fact)]


def _values(text: str, fact: Fact) -> Iterator[Value]:
    if fact.kind == "date":
        yield Value(fact.start, fact.end, "date", _bound(text, fact.start, fact.end), fact.keys)
    elif fact.kind == "code" and _TIME.fullmatch(text[fact.start : fact.end]):
        yield Value(fact.start, fact.end, "clock", _bound(text, fact.start, fact.end), fact.keys)
    elif fact.kind == "number":
        yield _counted(text, fact)


def _counted(text: str, fact: Fact) -> Value:
    unit, factor, end, between = _unit(text, fact.end)
    currency = _CURRENCY_BEFORE.search(text, max(0, fact.start - 2), fact.start)
    start = fact.start
    if currency is not None:
        unit, factor, start = {"$": "usd", "€": "eur", "₽": "rub"}[currency[1]], 1.0, currency.start()
    if not unit:
        unit, end = _counted_thing(text, fact.end)
    # A year is a date, a span of years is not: «в 2023 году», «5 лет».
    if unit == "time_months" and any(re.fullmatch(r"(?:1[5-9]|20)\d\d", key) for key in fact.keys):
        unit, factor = "date", 1.0
    amounts = frozenset(f"{float(key) * factor:.6g}" if key.count(".") < 2 else key for key in fact.keys)
    return Value(start, end, unit, _bound(text, start, end), amounts, between)


def _unit(text: str, position: int) -> tuple[str, float, int, str]:
    """Dimension, factor and end of the unit after a number, and the word between; empty without a unit."""
    ending = _ORDINAL_ENDING.match(text, position)
    place = ending.end() if ending else position
    folded = fold(text)
    multiplier = _MULTIPLIER.match(folded, _skipped(text, place))
    place = _skipped(text, multiplier.end() if multiplier else place)
    between = ""
    for _ in range(2):
        for pattern, unit, factor in _UNIT:
            if match := pattern.match(folded, place):
                return unit, factor, match.end(), between
        word = _WORD.match(text, place)
        if word is None or not content_terms(word.group()):
            break  # «99 a year» counts no years
        between, place = word.group(), _skipped(text, word.end())
    return "", 1.0, position, ""


def _skipped(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \u00a0\u202f-":
        position += 1
    return position


def _counted_thing(text: str, position: int) -> tuple[str, int]:
    """The stem of the word after a number without a unit, and its end; ``number`` where no word follows."""
    after = _NEXT_WORD.match(text, _after_ending(text, position))
    if after is not None and (stems := content_terms(after[1])):
        return stems[0], after.end()
    return "number", position


def _after_ending(text: str, position: int) -> int:
    ending = _ORDINAL_ENDING.match(text, position)
    return ending.end() if ending else position


def _bound(text: str, start: int, end: int) -> str:
    before = text[max(0, start - 24) : start]
    if _AFTER_MINIMUM.match(text, end) or _MINIMUM.search(before):
        return "min"
    return "max" if _MAXIMUM.search(before) else ""
