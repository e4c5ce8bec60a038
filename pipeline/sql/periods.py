"""Dates in words of a question as periods: «с марта по май 2023» is [2023-03-01, 2023-06-01).

A time without a year is the latest one that has begun: in July «в марте» is this year's, «в декабре» last
year's.
Until («до») leaves its day or month out, through («по») takes it in.
"""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, replace

from pipeline.sql.calendar import Span
from pipeline.sql.period_words import Mark, marks_in
from pipeline.text.normalise import fold

__all__ = ["Period", "periods_in"]

_BEFORE = re.compile(
    r"(?:^|[^\w])(?P<word>начиная\s+со?|сравнени[а-я]+\s+со?|в\s+течение|после|позже|позднее|раньше|ранее|между|"
    r"со|с|от|до|по|во|в|за|на|к|про|о|об|из|"
    r"compared\s+(?:to|with)|between|starting|since|from|after|later\s+than|before|earlier\s+than|until|till|"
    r"through|during|in|for|of|by|on|to)\s+(?:the\s+)?$"
)
_JOIN = re.compile(
    r"\s*(?:г\.?)?\s*(?P<word>по|до|и|или|,|-|–|—|to|through|till|until|and|or)\s*(?:the\s+|в\s+|за\s+)?"
)
_STANDS_ALONE = re.compile(r"\s*(?:$|[?.,!;:)]|по\s+сравнени|против\b|vs\b|compared)")
_OPENS = ("с", "со", "от", "между", "from", "between", "since", "starting")
_LATER = ("после", "позже", "позднее", "after", "later")
_EARLIER = ("до", "раньше", "ранее", "before", "earlier", "until", "till")
_CLOSES = ("по", "до", "-", "–", "—", "to", "through", "till", "until")


@dataclass(frozen=True, slots=True)
class Period:
    """Days that a question names.

    Attributes:
        said: The words of the question.
        start: First day, or None: from ever.
        end: The day after the last one, or None: for ever.
    """

    said: str
    start: dt.date | None
    end: dt.date | None


def periods_in(question: str, today: dt.date) -> tuple[Period, ...]:
    """The periods that a question names, in its order.

    Args:
        question: As asked, in Russian or simple English.
        today: What «вчера» and a month without a year count from.
    """
    text = fold(question)
    if len(text) != len(question):  # a letter whose small form is two
        question = text
    marks = marks_in(text, today)
    made: list[Period] = []
    place = 0
    while place < len(marks):
        period, place = _period(question, text, marks, place, today)
        if period is not None:
            made.append(period)
    return tuple(made)


def _period(
    question: str, text: str, marks: list[Mark], place: int, today: dt.date
) -> tuple[Period | None, int]:
    """The period that begins with a mark, and the place of the first mark after it."""
    mark = marks[place]
    before = _BEFORE.search(text, max(0, mark.start - 30), mark.start)
    word = _main(before["word"]) if before else ""
    after = marks[place + 1] if place + 1 < len(marks) else None
    join = _JOIN.fullmatch(text, mark.end, after.start) if after else None
    start_of = before.start("word") if before and word in (*_OPENS, *_LATER, *_EARLIER, "по") else mark.start
    if after is not None and join is not None and _is_range(word, join["word"]):
        first, last = _both(mark, after, today)
        end = last[0] if join["word"] in ("до", "until", "till") else last[1]
        if first[0] < end:
            return Period(question[start_of : after.end], first[0], end), place + 2
    if after is not None and join is not None and join["word"] in ("и", "или", ",", "and", "or"):
        # «в январе и феврале 2024»: the year of the last one is the year of all
        mark = _with_year(mark, _year_ahead(text, marks, place))
    joined = place > 0 and _JOIN.fullmatch(text, marks[place - 1].end, mark.start) is not None
    alone = mark.year is not None and _STANDS_ALONE.match(text, mark.end) is not None
    if mark.bare and not (word or joined or alone):
        return None, place + 1
    return _single(question[start_of : mark.end], word, mark, today), place + 1


def _single(said: str, word: str, mark: Mark, today: dt.date) -> Period:
    start, end = _span(mark, today)
    if mark.closed:
        return Period(said, start, end)
    if word in ("с", "со", "since", "starting", "from", "от"):
        return Period(said, start, None)
    if word in _LATER:
        return Period(said, end, None)
    if word in _EARLIER:
        return Period(said, None, start)
    if word == "по" and not mark.dative:
        return Period(said, None, end)
    return Period(said, start, end)


def _is_range(word: str, join: str) -> bool:
    if word in ("между", "between"):
        return join in ("и", "and")
    return join in _CLOSES and (word in _OPENS or join in ("-", "–", "—", "through", "to", "по"))


def _both(first: Mark, last: Mark, today: dt.date) -> tuple[Span, Span]:
    """The spans of two ends of a range; a year that one of them lacks is taken from the other."""
    if last.floats and not first.floats and first.year is not None:
        begin = first.span(first.year)
        end = last.span(first.year)
        return begin, end if end[1] > begin[0] else last.span(first.year + 1)
    end = _span(last, today)
    year = last.year if last.year is not None else end[0].year
    if not first.floats:
        return _span(first, today), end
    begin = first.span(year)
    if begin[0] > end[0]:
        begin = first.span(year - 1)
    return begin, end


def _span(mark: Mark, today: dt.date) -> Span:
    if mark.year is not None or not mark.floats:
        return mark.span(mark.year or today.year)
    span = mark.span(today.year)
    return span if span[0] <= today else mark.span(today.year - 1)


def _with_year(mark: Mark, year: int | None) -> Mark:
    return replace(mark, year=year) if mark.floats and year is not None else mark


def _year_ahead(text: str, marks: list[Mark], place: int) -> int | None:
    """The year at the end of a list of times that stand together."""
    while place + 1 < len(marks) and _JOIN.fullmatch(text, marks[place].end, marks[place + 1].start):
        place += 1
        if marks[place].year is not None:
            return marks[place].year
    return None


def _main(words: str) -> str:
    first, *rest = words.split()
    if first.startswith(("сравнени", "compared")):
        return "в"
    return rest[0] if first == "начиная" else first
