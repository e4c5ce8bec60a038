"""Whether a source says the same fact as an answer, in whatever form either writes it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from pipeline.answer.facts import Fact, Kind, code_form, find_facts, find_times, name_form
from pipeline.text.numerals import last_values, number_keys, worded_numbers

__all__ = ["FactSource"]

_SHORT_YEAR = re.compile(r"(?<!\d)((?:19|20))\d\d/(\d\d)(?!\d)")


@dataclass(slots=True)
class FactSource:
    """A source, prepared so that facts can be looked up in it.

    Args:
        text: Everything the source says, its title and headings included.
    """

    text: str
    _folded: str = field(init=False)
    _stems: str = field(init=False)
    _keys: dict[Kind, set[str]] = field(init=False)

    def __post_init__(self) -> None:
        self._folded = code_form(self.text)
        self._stems = f" {name_form(self.text)} "
        self._keys = {"number": set(), "date": set()}
        for fact in find_facts(self.text):
            if fact.kind in self._keys:
                self._keys[fact.kind] |= fact.keys
        # A year, the digits inside a date, time or code, «8.3» of «8.3.14» may be quoted on their own.
        self._keys["number"] |= {key for run in re.findall(r"\d+", self.text) for key in number_keys(run)}
        self._keys["number"] |= set(re.findall(r"\d+\.\d+", self.text))
        self._keys["number"] |= {f"{found[1]}{found[2]}" for found in _SHORT_YEAR.finditer(self.text)}
        for fact in find_times(self.text):
            self._folded += " " + " ".join(sorted(fact.keys))
            self._keys["number"] |= {key for time in fact.keys for key in number_keys(time.replace(":", "."))}
        self._keys["number"] |= {str(value) for _, _, value in worded_numbers(self.text, last_values())}

    def holds(self, fact: Fact) -> bool:
        """True if the source says the same."""
        if fact.kind == "code":
            return any(_stands_in(key, self._folded) for key in fact.keys)
        if fact.kind == "name":
            return any(f" {key} " in self._stems or key in self._folded for key in fact.keys)
        if fact.kind == "date":
            return any(self._holds_date(key) for key in fact.keys)
        return bool(fact.keys & self._keys["number"])

    def _holds_date(self, key: str) -> bool:
        year, _, day = key.partition("-")
        if key in self._keys["date"] or (not year and any(k.endswith(key) for k in self._keys["date"])):
            return True
        # «5 мая» under a heading that names the year.
        return f"-{day}" in self._keys["date"] and year in self._keys["number"]


def _stands_in(key: str, text: str) -> bool:
    """True if ``key`` occurs in ``text`` as a whole, not as a part of a longer word."""
    left = r"(?<!\w)" if key[:1].isalnum() else ""
    right = r"(?!\w)" if key[-1:].isalnum() else ""
    return re.search(left + re.escape(key) + right, text) is not None
