"""The article base: 400 texts composed by a grammar, no two with the same facts, and their authors."""

from __future__ import annotations

import datetime as dt
import random
import re
import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from typing import Any

from pipeline.sql.demo.tables import MadeTable, columns
from pipeline.sql.russian import plural

__all__ = ["article_tables"]

_SLOT = re.compile(r"\{(\w+)(?::([^}]*))?\}")
_FIRST_DAY = dt.date(2021, 1, 1)
_DAYS = 1640
_PARAGRAPHS = ((0, 3), (3, 6), (6, 8), (8, 10))
_ASIDES = 5


def article_tables(seed: int = 2026) -> list[MadeTable]:
    """Tables ``authors`` and ``articles``; equal for equal seeds."""
    grammar = _grammar()
    rng = random.Random(seed)  # noqa: S311 -- made-up data, the same every time
    authors = [
        (number, name, town, _day(rng.randrange(400)))
        for number, (name, town) in enumerate(grammar["authors"], start=1)
    ]
    texts = [text for category in grammar["category"] for text in _texts(category, grammar, rng)]
    rng.shuffle(texts)
    rows = []
    for number, (title, category, body) in enumerate(texts, start=1):
        author = rng.choice(authors)
        published = _day(rng.randrange(_DAYS))
        minutes = max(1, round(len(body) / 400))
        views = int(rng.paretovariate(1.2) * 90) % 20_000
        link = f"https://articles.example/{number}"
        rows.append((number, title, category, author[0], author[1], published, minutes, views, link, body))
    return [
        MadeTable("authors", columns("id:id name:text town:text joined_on:date"), tuple(authors)),
        MadeTable(
            "articles",
            columns(
                "id:id title:text category:text author_id:id>authors author:text published_on:date "
                "reading_minutes:int views:int url:text body:text"
            ),
            tuple(rows),
        ),
    ]


@cache
def _grammar() -> dict[str, Any]:
    raw = resources.files(__package__).joinpath("articles.toml").read_text(encoding="utf-8")
    return tomllib.loads(raw)


def _day(offset: int) -> str:
    return (_FIRST_DAY + dt.timedelta(days=offset)).isoformat()


def _texts(
    category: Mapping[str, Any], grammar: Mapping[str, Any], rng: random.Random
) -> list[tuple[str, str, str]]:
    """Title, category and text of each article of one category, titles all different."""
    count = int(category["count"])
    towns = _spread(grammar["towns"], count, rng)
    slots = {name: _spread(values, count, rng) for name, values in category["slots"].items()}
    made: list[tuple[str, str, str]] = []
    seen: set[str] = set()
    for place in range(count):
        values = {name: spread[place] for name, spread in slots.items()}
        values |= {"town": towns[place], "town_in": f"{towns[place]}е"}
        person = rng.choice(grammar["men"] + grammar["women"])
        values |= {"person": person, "а": "а" if person in grammar["women"] else ""}
        title = _filled(category["title"], values, {})
        while title in seen:
            for name in _SLOT.findall(category["title"]):
                values[name[0]] = rng.choice(category["slots"].get(name[0], [values[name[0]]]))
            title = _filled(category["title"], values, {})
        seen.add(title)
        numbers = {name: rng.randint(*bounds) for name, bounds in category["numbers"].items()}
        facts = [_filled(fact, values, numbers) for fact in category["facts"]]
        body = _told(facts, rng.sample(category["asides"], _ASIDES))
        made.append((title, str(category["name"]), body))
    return made


def _told(facts: Sequence[str], asides: Sequence[str]) -> str:
    """Paragraphs of facts, each closed by what could be said of any article of the category."""
    parts = [[*facts[start:end], asides[place]] for place, (start, end) in enumerate(_PARAGRAPHS)]
    parts[-1] += asides[len(parts) :]
    return "\n\n".join(" ".join(part) for part in parts)


def _spread(values: Sequence[str], count: int, rng: random.Random) -> list[str]:
    """Each value about equally often, in no order."""
    spread = [values[place % len(values)] for place in range(count)]
    rng.shuffle(spread)
    return spread


def _filled(template: str, values: Mapping[str, str], numbers: Mapping[str, int]) -> str:
    def put(match: re.Match[str]) -> str:
        name, forms = match[1], match[2]
        if forms:
            return f"{numbers[name]} {plural(numbers[name], *forms.split(','))}"
        return values[name] if name in values else str(numbers[name])

    text = _SLOT.sub(put, template)
    return text[:1].upper() + text[1:]
