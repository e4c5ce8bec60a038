"""Dates in words as half-open periods; today is Tuesday, 15 July 2025."""

import datetime as dt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.sql.calendar import last_units, months_later, unit_span
from pipeline.sql.periods import periods_in

TODAY = dt.date(2025, 7, 15)
DAYS = st.dates(dt.date(1990, 1, 1), dt.date(2090, 12, 31))


def read(question: str) -> list[tuple[str, str]]:
    return [(str(period.start or ""), str(period.end or "")) for period in periods_in(question, TODAY)]


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("Сколько заказов было в прошлом квартале?", "2025-04-01", "2025-07-01"),
        ("с марта по май 2023", "2023-03-01", "2023-06-01"),
        ("за последние 30 дней", "2025-06-16", "2025-07-16"),
        ("в 2024 году", "2024-01-01", "2025-01-01"),
        ("вчера", "2025-07-14", "2025-07-15"),
        ("позавчера", "2025-07-13", "2025-07-14"),
        ("вчерашние заказы", "2025-07-14", "2025-07-15"),
        ("в первом полугодии", "2025-01-01", "2025-07-01"),
        ("во втором полугодии 2023 года", "2023-07-01", "2024-01-01"),
        ("за январь", "2025-01-01", "2025-02-01"),
        ("Сколько в декабре?", "2024-12-01", "2025-01-01"),  # this year's has not begun
        ("на прошлой неделе", "2025-07-07", "2025-07-14"),
        ("на этой неделе", "2025-07-14", "2025-07-21"),
        ("в следующем месяце", "2025-08-01", "2025-09-01"),
        ("в этом месяце", "2025-07-01", "2025-08-01"),
        ("позапрошлый год", "2023-01-01", "2024-01-01"),
        ("с ноября по февраль 2024", "2023-11-01", "2024-03-01"),
        ("с ноября 2023 по февраль", "2023-11-01", "2024-03-01"),
        ("с 5 по 12 марта 2024 года", "2024-03-05", "2024-03-13"),
        ("с 5 до 12 марта 2024", "2024-03-05", "2024-03-12"),
        ("с 28 декабря 2023 по 3 января 2024", "2023-12-28", "2024-01-04"),
        ("с 28 декабря по 3 января 2024", "2023-12-28", "2024-01-04"),
        ("5 марта", "2025-03-05", "2025-03-06"),
        ("25-го декабря", "2024-12-25", "2024-12-26"),
        ("29 февраля", "2024-02-29", "2024-03-01"),
        ("05.03.2024", "2024-03-05", "2024-03-06"),
        ("2024-03-05", "2024-03-05", "2024-03-06"),
        ("после 5 марта 2024", "2024-03-06", ""),
        ("после 2023 года", "2024-01-01", ""),
        ("до 2022 года", "", "2022-01-01"),
        ("с 2023 года", "2023-01-01", ""),
        ("начиная с марта 2024", "2024-03-01", ""),
        ("по 2023 год", "", "2024-01-01"),
        ("заказы по 2023 году", "2023-01-01", "2024-01-01"),
        ("за 2021–2023 годы", "2021-01-01", "2024-01-01"),
        ("между мартом и маем 2024", "2024-03-01", "2024-06-01"),
        ("с марта до мая", "2025-03-01", "2025-05-01"),
        ("в III квартале 2023", "2023-07-01", "2023-10-01"),
        ("за 2-й квартал", "2025-04-01", "2025-07-01"),
        ("в четвёртом квартале", "2024-10-01", "2025-01-01"),
        ("за последние полгода", "2025-01-16", "2025-07-16"),
        ("за последний год", "2024-07-16", "2025-07-16"),
        ("за последние два года", "2023-07-16", "2025-07-16"),
        ("за две последние недели", "2025-07-02", "2025-07-16"),
        ("с начала года", "2025-01-01", "2025-07-16"),
        ("за первые три месяца 2024 года", "2024-01-01", "2024-04-01"),
        ("летом 2023", "2023-06-01", "2023-09-01"),
        ("в мае прошлого года", "2024-05-01", "2024-06-01"),
        ("в 23-м году", "2023-01-01", "2024-01-01"),
        ("3 дня назад", "2025-07-12", "2025-07-13"),
        ("last 30 days", "2025-06-16", "2025-07-16"),
        ("in March 2024", "2024-03-01", "2024-04-01"),
        ("from March to May 2023", "2023-03-01", "2023-06-01"),
        ("last quarter", "2025-04-01", "2025-07-01"),
        ("since 2023", "2023-01-01", ""),
        ("Q2 2024", "2024-04-01", "2024-07-01"),
        ("year to date", "2025-01-01", "2025-07-16"),
    ],
)
def test_words_of_time_are_periods(question, start, end):
    assert read(question) == [(start, end)]


def test_several_times_are_several_periods_and_share_their_year():
    assert read("в январе и феврале 2024") == [("2024-01-01", "2024-02-01"), ("2024-02-01", "2024-03-01")]
    assert read("за март, апрель и май 2024")[0] == ("2024-03-01", "2024-04-01")
    assert read("в 2023 и 2024 годах") == [("2023-01-01", "2024-01-01"), ("2024-01-01", "2025-01-01")]
    assert read("выручка 2024 по сравнению с 2023") == [
        ("2024-01-01", "2025-01-01"),
        ("2023-01-01", "2024-01-01"),
    ]


@pytest.mark.parametrize(
    "question",
    [
        "Марта купила 2024 шарика",
        "больше 2000 рублей",
        "31 июня",
        "прошлые годы",
        "",
        "маяк в море",
    ],
)
def test_what_is_no_time_gives_none(question):
    assert read(question) == []


def test_the_words_are_those_of_the_question():
    (period,) = periods_in("Сколько было С МАРТА по Май 2023?", TODAY)
    assert period.said == "С МАРТА по Май 2023"


@given(st.text(alphabet="впосмартдеябрькваюл 0123456789.-–", max_size=60), DAYS)
def test_any_text_gives_periods_that_begin_before_they_end(text, today):
    for period in periods_in(text, today):
        assert period.start is None or period.end is None or period.start < period.end


@given(DAYS)
def test_a_unit_holds_its_day_and_touches_its_neighbours(day):
    for unit in ("day", "week", "month", "quarter", "half", "year"):
        start, end = unit_span(day, unit)
        assert start <= day < end
        assert unit_span(day, unit, 1)[0] == end
        assert unit_span(day, unit, -1)[1] == start


@given(DAYS, st.integers(1, 40))
def test_the_last_units_end_with_today(day, count):
    for unit in ("day", "week", "month", "year"):
        start, end = last_units(day, unit, count)
        assert end == day + dt.timedelta(days=1)
        assert start < end
    assert last_units(day, "day", count)[0] == end - dt.timedelta(days=count)


@given(DAYS, st.integers(-60, 60))
def test_months_later_lands_in_the_month_meant(day, months):
    later = months_later(day, months)
    assert (later.year * 12 + later.month) - (day.year * 12 + day.month) == months
    assert later.day <= day.day


@given(DAYS, DAYS)
def test_two_written_days_are_a_closed_range(first, last):
    if first > last:
        first, last = last, first
    (period,) = periods_in(f"с {first:%d.%m.%Y} по {last:%d.%m.%Y}", TODAY)
    assert (period.start, period.end) == (first, last + dt.timedelta(days=1))
