"""Cues of two languages, and the routes they lead to."""

import math

import pytest

from pipeline.embedders.hash import HashEmbedder
from pipeline.errors import SettingsError
from pipeline.sql.cues import cues_of, without_cues
from pipeline.sql.route import Signals, chances, decided, model_chances
from pipeline.sql.route_examples import RouteExamples, own_examples


@pytest.mark.parametrize(
    ("question", "cues"),
    [
        ("Сколько всего заказов?", {"count", "total"}),
        ("How many orders per month?", {"count", "group"}),
        ("Какая средняя цена?", {"average"}),
        ("Топ-5 покупателей", {"most"}),
        ("Самый дешёвый товар", {"most", "least"}),
        ("Товары дороже 500 рублей", {"compare"}),
        ("Почему сломался мост?", {"meaning"}),
        ("Какая доля отмен?", {"share"}),
        ("Сколько обращений за последние полгода?", {"count"}),
        ("Перечисли склады", {"listing"}),
    ],
)
def test_cues(question, cues):
    found = cues_of(question)
    names = (
        "count",
        "total",
        "average",
        "share",
        "most",
        "least",
        "group",
        "compare",
        "listing",
        "meaning",
    )
    assert {name for name in names if getattr(found, name)} == cues


@pytest.mark.parametrize(
    ("question", "limit"),
    [
        ("Пять самых дорогих товаров", 5),
        ("Топ-10 клиентов", 10),
        ("the three largest orders", 3),
        ("Самый дорогой товар", 1),
        ("Сколько заказов?", 0),
        ("Сколько заказов за последние 3 месяца?", 0),
    ],
)
def test_how_many_rows_a_superlative_means(question, limit):
    assert cues_of(question).limit == limit


def test_parts_of_dates():
    assert cues_of("Выручка по месяцам за прошлый год").parts == ("month",)
    assert cues_of("Заказы за прошлый месяц").parts == ()
    assert cues_of("Продажи по годам").parts == ("year",)
    assert cues_of("Какой перевозчик выполнил больше всего отгрузок?").tally.startswith("отгрузок")


def test_what_cues_leave_over():
    assert without_cues("Сколько всего мостов?").split() == ["мостов?"]


def signals(question, unexplained=0, firm=0, texts=True):
    return Signals(cues_of(question), unexplained, firm, texts)


@pytest.mark.parametrize(
    ("found", "route"),
    [
        (signals("Сколько заказов?"), "sql"),
        (signals("Средняя цена по месяцам"), "sql"),
        (signals("Почему мост сломался ночью?", 3), "search"),
        (signals("Что писали в 2023 году о мостах через реку?", 3, 1), "hybrid"),
        (signals("Что писали в 2023 году о мостах через реку?", 3, 1, texts=False), "search"),
        (signals("Сколько статей вышло в 2023 году?", 0, 1), "sql"),
    ],
)
def test_rules_alone(found, route):
    probable = chances(found)
    assert math.isclose(sum(probable.values()), 1)
    assert max(probable, key=probable.get) == route


def test_the_model_tips_the_scale_and_silence_changes_nothing():
    even = {"sql": 0.4, "search": 0.4, "hybrid": 0.2}
    assert decided(even) is None
    tipped = model_chances(even, (-0.1, -6.0, -6.0))
    assert max(tipped, key=tipped.get) == "sql"
    assert decided(tipped) == "sql"
    assert model_chances(even, ()) == even


def test_a_user_s_examples_count(tmp_path):
    (tmp_path / "routes.toml").write_text('hybrid = ["зелёный квадрат прыгает"]\n', encoding="utf-8")
    own = own_examples(tmp_path)
    assert own == {"hybrid": ("зелёный квадрат прыгает",)}
    votes = RouteExamples(HashEmbedder(256), own).votes("зелёный квадрат прыгает")
    assert max(votes, key=votes.get) == "hybrid"
    assert math.isclose(sum(votes.values()), 1, abs_tol=1e-6)
    assert own_examples(tmp_path / "nowhere") == {}


@pytest.mark.parametrize("text", ['fly = ["a"]', "sql = 5", "sql = [", 'sql = [""]'])
def test_a_wrong_file_of_examples_is_told(tmp_path, text):
    (tmp_path / "routes.toml").write_text(text, encoding="utf-8")
    with pytest.raises(SettingsError, match=r"routes\.toml"):
        own_examples(tmp_path)
