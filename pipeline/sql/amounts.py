"""Amounts in words of a question as conditions: «больше 10 тысяч» is > 10000, «от 2 до 5» is ≥ 2 and ≤ 5."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from typing import Literal

from pipeline.sql.numerals import COUNT, count_of
from pipeline.sql.period_words import MONTH
from pipeline.text.normalise import fold

__all__ = ["Amount", "Operator", "amounts_in"]

Operator = Literal[">", ">=", "<", "<=", "="]

_SCALES = (
    (r"миллиард[а-я]*|млрд\b\.?|billions?|bn\b", 1_000_000_000),
    (r"миллион[а-я]*|млн\b\.?|millions?|mln\b", 1_000_000),
    (r"тысяч[а-я]*|тыс\b\.?|thousands?|[кk]\b", 1_000),
    (r"сот(?:ен|ни|ня|ню)|hundreds?", 100),
)
_SCALE = "|".join(words for words, _ in _SCALES)
_DIGITS = r"\d{1,3}(?:[  ]\d{3})+(?:[.,]\d+)?|\d+(?:[.,]\d+)?"
_HALVES = r"полтор[аы]|полутора|пол(?=миллион|миллиард|тысяч)"
_NUMBER = rf"(?:(?:{_DIGITS})|{_HALVES}|(?:{COUNT})(?!\d))(?:\s+с\s+половиной)?\s*(?:{_SCALE})?"
_PARTS = re.compile(
    rf"(?:(?P<digits>{_DIGITS})|(?P<half>{_HALVES})|(?P<word>{COUNT}))(?P<more>\s+с\s+половиной)?\s*(?P<scale>{_SCALE})?"
)
_UNIT = r"(?:\s*(?P<unit>%|₽|\$|€|руб[а-я]*\.?|р\.|[^\W\d_]{2,}))?"

_WORDS: tuple[tuple[str, Operator], ...] = (
    (r"не\s+(?:больше|более|выше|дороже|старше|тяжелее|дольше|превыша[а-я]+|длиннее)|максимум"
     r"|самое\s+большее|at\s+most|no\s+more\s+than|not\s+more\s+than|up\s+to|maximum", "<="),
    (r"не\s+(?:меньше|менее|ниже|дешевле|младше|легче|короче)|минимум|как\s+минимум|хотя\s+бы|at\s+least"
     r"|no\s+less\s+than|not\s+less\s+than|minimum", ">="),
    (r"больше|более|выше|дороже|свыше|старше|тяжелее|дольше|длиннее|крупнее|превыша[а-я]+"
     r"|more|greater|over|above|higher|longer|heavier|exceed[a-z]*", ">"),
    (r"меньше|менее|ниже|дешевле|младше|легче|короче"
     r"|less|fewer|under|below|lower|cheaper|shorter|lighter", "<"),
    (r"ровно|равн[а-я]+|exactly|equal(?:s|\s+to)?", "="),
)  # fmt: skip
_COMPARED = re.compile(
    r"(?<!\w)(?:"
    + "|".join(f"(?P<w{place}>{words})" for place, (words, _) in enumerate(_WORDS))
    + rf")\s+(?:чем\s+|than\s+)?(?:в\s+|на\s+)?(?P<number>{_NUMBER}){_UNIT}"
)
_BETWEEN = re.compile(
    rf"(?<!\w)(?:от|с|между|в\s+(?:пределах|диапазоне)\s+от|from|between)\s+(?P<low>{_NUMBER})(?:\s*(?:руб[а-я]*|кг|%))?"
    rf"\s*(?:до|по|и|to|and|-|–|—)\s*(?P<high>{_NUMBER}){_UNIT}"
)
_TO = re.compile(rf"(?<!\w)(?P<way>до|от)\s+(?P<number>{_NUMBER})\s*{_UNIT}")
_MEASURES = re.compile(
    r"руб|р\.|₽|\$|€|%|процент|кг|килограмм|грамм|тонн|штук|шт|звезд|балл|минут|метр|кв|км|килом|разa?$|просмотр|евро|долл"
)


@dataclass(frozen=True, slots=True)
class Amount:
    """A bound that a question names.

    Attributes:
        said: The words of the question.
        unit: The word after the number, as far as it is one: «рублей», ``%``.
    """

    said: str
    operator: Operator
    number: Decimal
    unit: str = ""


def amounts_in(question: str) -> tuple[Amount, ...]:
    """The bounds that a question names, in its order; a range gives two.

    Years and dates are no amounts: «до 2022 года» gives none.
    """
    text = fold(question)
    if len(text) != len(question):  # a letter whose small form is two
        question = text
    found: list[tuple[int, int, tuple[Amount, ...]]] = []
    for make in (_ranges, _compared, _ends):
        for start, end, amounts in make(text, question):
            if all(end <= other[0] or start >= other[1] for other in found):
                found.append((start, end, amounts))
    return tuple(amount for _, _, amounts in sorted(found, key=lambda item: item[0]) for amount in amounts)


Found = list[tuple[int, int, tuple[Amount, ...]]]


def _ranges(text: str, question: str) -> Found:
    made: Found = []
    for match in _BETWEEN.finditer(text):
        low, high = _value(match["low"]), _value(match["high"])
        scale = _PARTS.fullmatch(match["high"])
        if low is not None and high is not None and scale and scale["scale"] and not _scaled(match["low"]):
            low *= _factor(scale["scale"])  # «от 10 до 20 тысяч»
        unit = match["unit"] or ""
        if low is None or high is None or low > high or _is_time(unit, low, high, match[0]):
            continue
        said = question[match.start() : match.end()]
        made.append((*match.span(), (Amount(said, ">=", low, unit), Amount(said, "<=", high, unit))))
    return made


def _compared(text: str, question: str) -> Found:
    made: Found = []
    for match in _COMPARED.finditer(text):
        number = _value(match["number"])
        if number is None:
            continue
        place = next(place for place in range(len(_WORDS)) if match[f"w{place}"])
        said = question[match.start() : match.end("number")].strip()
        made.append((*match.span(), (Amount(said, _WORDS[place][1], number, match["unit"] or ""),)))
    return made


def _ends(text: str, question: str) -> Found:
    """«до 5 тысяч», «от 300 рублей»: only where the number is measured in something but time."""
    made: Found = []
    for match in _TO.finditer(text):
        number, unit = _value(match["number"]), match["unit"] or ""
        if number is None or not (_scaled(match["number"]) or _MEASURES.match(unit)):
            continue
        operator: Operator = "<=" if match["way"] == "до" else ">="
        said = question[match.start() : match.end("number")].strip()
        made.append((*match.span(), (Amount(said, operator, number, unit),)))
    return made


def _value(words: str) -> Decimal | None:
    match = _PARTS.fullmatch(words.strip())
    if match is None:
        return None
    if match["digits"]:
        try:
            number = Decimal(re.sub(r"[  ]", "", match["digits"]).replace(",", "."))
        except InvalidOperation:
            return None
    elif match["half"]:
        number = Decimal("0.5") if match["half"] == "пол" else Decimal("1.5")
    else:
        number = Decimal(count_of(match["word"]))
    if match["more"]:
        number += Decimal("0.5")
    number *= _factor(match["scale"] or "")
    return number.quantize(Decimal(1)) if number == number.to_integral_value() else number.normalize()


def _factor(scale: str) -> int:
    return next((factor for words, factor in _SCALES if scale and re.fullmatch(words, scale)), 1)


def _scaled(words: str) -> bool:
    match = _PARTS.fullmatch(words.strip())
    return bool(match and match["scale"])


def _is_time(unit: str, low: Decimal, high: Decimal, words: str) -> bool:
    """True for «с 2021 по 2023», «с 5 по 12 марта» and «от 3 до 5 лет назад»."""
    years = all(1900 <= number <= 2100 for number in (low, high))
    if re.fullmatch(MONTH, unit) or (years and not _MEASURES.match(unit)):
        return True
    return words.startswith("с ") and not _MEASURES.match(unit) and " по " in words
