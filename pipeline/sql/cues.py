"""Words that tell what a question wants done with data, in Russian and English.

They belong to the two languages and to no database; what tables and columns are called comes from the
catalog alone.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache

from pipeline.text.stems import keyword_terms

__all__ = ["Cues", "cues_of", "light_terms", "without_cues"]


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile(r"\b(?:" + "|".join(patterns) + ")", re.IGNORECASE)


_COUNT = _any(
    r"сколько\b", r"скольк", r"количеств", r"числ[оа]\b(?!\s*\d)", r"how many\b", r"number of\b",
    r"count\b",
)  # fmt: skip
_SUM = _any(
    r"сумм[аыуе]", r"суммарн", r"итог", r"в сумме", r"общ(?:ая|ий|ую|ее|ей|его)\b", r"всего\b", r"выручк",
    r"оборот", r"на сколько\b", r"sum\b", r"total\b", r"overall\b", r"revenue\b", r"how much\b",
)  # fmt: skip
_AVERAGE = _any(
    r"средн", r"в среднем", r"average\b", r"mean\b", r"avg\b",
)  # fmt: skip
_SHARE = _any(r"дол[яюие]\b", r"процент", r"share\b", r"percent", r"proportion")
_MOST = _any(
    r"сам(?:ый|ая|ое|ые|ых|ого|ой|ую)\b", r"наибол", r"наимен", r"максим", r"миним", r"больше всего",
    r"меньше всего", r"больше всех", r"меньше всех", r"чаще всего", r"реже всего", r"топ\b", r"топ-?\d",
    r"лучш", r"худш",
    r"последн(?:ий|яя|юю|ее|ие|их)\b(?!\s+(?:\S+\s+)?(?:год|лет|кварт|мес|недел|дн|день|полгод|полуг))",
    r"перв(?:ый|ая|ое|ые|ых)\b(?!\s+(?:кварт|полугод))", r"most\b", r"least\b", r"top\b", r"highest\b",
    r"lowest\b", r"biggest\b", r"largest\b", r"smallest\b", r"best\b", r"worst\b", r"cheapest\b",
    r"longest\b", r"shortest\b", r"latest\b", r"newest\b", r"oldest\b", r"maximum\b", r"minimum\b",
)  # fmt: skip
_LEAST = _any(
    r"наимен", r"миним", r"меньше вс", r"реже вс", r"худш",
    r"сам\w+ (?:деш[её]в|коротк|мал|низк|стар|ранн)",
    r"least\b", r"lowest\b", r"smallest\b", r"worst\b", r"cheapest\b", r"shortest\b", r"oldest\b",
    r"minimum\b",
)  # fmt: skip
_TALLY = re.compile(
    r"\b(?:больше|меньше|чаще|реже) вс(?:его|ех)\s+(.{3,40})|\bthe (?:most|fewest)\s+(.{3,40})", re.IGNORECASE
)
_OFTEN = _any(r"(?:чаще|реже) вс", r"most (?:often|frequent)", r"least (?:often|frequent)")
_GROUP = _any(
    r"кажд", r"в разрезе", r"с разбивкой", r"сгруппир", r"по отдельности",
    r"по (?:месяцам|годам|дням|кварталам|неделям)",
    r"помесячн", r"each\b", r"per\b", r"by (?:month|year|quarter|day)", r"group", r"broken down",
    r"распредел", r"breakdown",
)  # fmt: skip
_COMPARE = _any(

    r"(?:больше|меньше|дороже|дешевле|выше|ниже|более|менее|свыше|старше|младше|длиннее|короче)"
    r"\s+(?:чем\s+)?(?:\d|средн|тысяч|миллион|ста|двух|тр[её]х|пяти|десяти)",
    r"(?:more|less|fewer|over|under|above|below|at least|at most|longer|shorter)"
    r"\s+(?:than\s+)?(?:\d|(?:the )?average)",
    r"от \d+\S* (?:\S+ )?до \d", r"между \d", r"between \d",
)  # fmt: skip
_LIST = _any(
    r"перечисл", r"список", r"выведи", r"покажи\b", r"назови", r"list\b", r"show\b", r"name (?:all|the)"
)
_MEANING = _any(
    r"как\b(?!\s+много|ой|ая|ие|ов)", r"почему", r"зачем", r"отчего", r"что делать", r"что так",
    r"что значит", r"объясн", r"расскаж", r"опиш", r"посовет", r"рекоменд", r"чем отлича",
    r"каким образом", r"о ч[её]м", r"про\b", r"где (?:говорится|написано|сказано|описан|упомина)",
    r"правда ли", r"стоит ли", r"можно ли", r"нужно ли", r"говорит", r"пиш[еу]т", r"написа", r"совет",
    r"how (?:do|to|can|should|does)", r"why\b", r"explain", r"describe", r"tell me about", r"what is\b",
    r"about\b", r"what (?:to|should)\b", r"advice", r"advise", r"recommend",
    r"is it (?:worth|possible|true)",
)  # fmt: skip
_ABSENT = _any(
    r"без\b", r"ни одн", r"ни раз", r"никогда", r"нет\b", r"отсутств",
    r"не (?:было|имеет|имеют|делал|заказ|покупал|прода)",
    r"without\b", r"never\b", r"no\b", r"have not", r"not have",
)  # fmt: skip
_PARTS = {
    "month": _any(r"месяц", r"помесячн", r"month"),
    "year": _any(
        r"по годам", r"каждый год", r"каждом году", r"по каждому году", r"by year", r"per year", r"each year"
    ),
    "quarter": _any(
        r"по кварталам", r"каждый квартал", r"каждом квартале", r"by quarter", r"each quarter", r"per quarter"
    ),
    "day": _any(r"по дням", r"каждый день", r"by day", r"per day", r"each day"),
}
_NUMBERS = {
    "дв(?:а|е|ух|умя)": 2, "тр(?:и|[её]х|емя)": 3, "четыр(?:е|[её]х)": 4, "пят(?:ь|и|[её]рк\\w+)": 5,
    "шест[ьи]": 6, "сем[ьи]": 7, "восем[ьи]|восьми": 8, "девят[ьи]": 9, "десят(?:ь|и|к\\w+)": 10,
    "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9, "ten": 10,
}  # fmt: skip
_COUNTED = re.compile(
    r"\b(?:" + "|".join(f"({words})" for words in _NUMBERS) + r"|(\d{1,3}))\b", re.IGNORECASE
)


_FIGURES = (_COUNT, _SUM, _AVERAGE, _SHARE, _COUNTED)
_ALL = (*_FIGURES, _MOST, _LEAST, _GROUP, _COMPARE, _LIST, *_PARTS.values())

_LIGHT = """
есть был была было были будет стало стал делать сделать сделали сделал выполнить выполнил иметь имеет имеют
лежит лежать стоит стоят находится находятся получить получили оформить продать продали купить купили вышло
вышла вышли написал написали написано набрали набрал наш нас наша наши весь все всех данные база таблица
штука штук штуки шт рубль рублей руб тысяча тысяч тыс миллион миллионов млн
год года году лет месяц день дня дней
неделя квартал последний прошлый всего этот текущий один одна два три пять десять раз раза
среди сейчас сегодня
каждый общий человек людей первый
made make sold bought have many much number total database table year month day week quarter last this past
thousand million rubles people times piece pieces among now today currently
"""


@cache
def light_terms() -> frozenset[str]:
    """Words that questions over data are made with, whatever the data."""
    return frozenset(keyword_terms(_LIGHT))


@dataclass(frozen=True, slots=True)
class Cues:
    """What the wording of a question asks for.

    Attributes:
        parts: Parts of dates that it groups by: ``month``, ``year``, ``quarter``, ``day``.
        least: The superlative means the low end.
        tally: What there is the most of: «больше всего отгрузок»; empty where nothing is said of it.
        often: It asks what occurs most or least often.
        missing: What there is none of: «без заказов»; empty where nothing is missed.
        counted: What is counted: «сколько заказов»; empty where nothing is.
        limit: How many rows a superlative speaks of; 0 where there is none.
        meaning: It asks for what texts say.
    """

    count: bool
    total: bool
    average: bool
    share: bool
    most: bool
    least: bool
    group: bool
    compare: bool
    listing: bool
    meaning: bool
    parts: tuple[str, ...]
    limit: int
    tally: str = ""
    often: bool = False
    missing: str = ""
    counted: str = ""


def without_cues(question: str) -> str:
    """The question without the words that cues are told by."""
    for pattern in _ALL:
        question = pattern.sub(" ", question)
    return question


@lru_cache(maxsize=2_000)
def cues_of(question: str) -> Cues:
    """The cues of a question."""

    def says(pattern: re.Pattern[str]) -> bool:
        return pattern.search(question) is not None

    parts = tuple(part for part, pattern in _PARTS.items() if says(pattern))
    grouped = tuple(part for part in parts if part != "month" or says(_GROUP))
    most = says(_MOST)
    return Cues(
        count=says(_COUNT),
        total=says(_SUM),
        average=says(_AVERAGE),
        share=says(_SHARE),
        most=most,
        least=says(_LEAST),
        group=says(_GROUP),
        compare=says(_COMPARE),
        listing=says(_LIST),
        meaning=says(_MEANING),
        parts=grouped,
        limit=_limit(question) if most else 0,
        tally=_tally(question),
        often=says(_OFTEN),
        missing=_after(_ABSENT, question),
        counted=_after(_COUNT, question),
    )


def _after(pattern: re.Pattern[str], question: str) -> str:
    found = pattern.search(question)
    return question[found.end() : found.end() + 40] if found else ""


def _tally(question: str) -> str:
    found = _TALLY.search(question)
    return next(filter(None, found.groups()), "") if found else ""


def _limit(question: str) -> int:
    """The number next to a superlative: «пять самых», «топ-10», "the three largest"; else 1."""
    most = _MOST.search(question)
    if most is None:
        return 0
    near = question[max(0, most.start() - 25) : most.end() + 12]
    for found in _COUNTED.finditer(near):
        *words, digits = found.groups()
        if digits:
            return int(digits)
        return next(n for n, word in zip(_NUMBERS.values(), words, strict=True) if word)
    return 1
