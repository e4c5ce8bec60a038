"""What Word's styles and numbering say of a paragraph: heading level, list level, automatic number."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipeline.ingest.readers.container import local

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["Numbering", "Styles", "attribute", "child", "read_numbering", "read_styles"]

_HEADING_NAME = re.compile(r"(?:heading|заголовок)\s*([1-9])", re.I)
_TITLE_NAMES = ("title", "название", "заглавие")
_MAX_INHERITANCE = 20
_RUSSIAN = "абвгдежзиклмнопрстуфхцчшщэюя"
_LATIN = "abcdefghijklmnopqrstuvwxyz"
_ROMAN = ((100, "c"), (90, "xc"), (50, "l"), (40, "xl"), (10, "x"), (9, "ix"), (5, "v"), (4, "iv"), (1, "i"))


def child(element: Element | None, *names: str) -> Element | None:
    """The descendant along a path of local names, or None."""
    for name in names:
        if element is None:
            return None
        element = next((item for item in element if local(item.tag) == name), None)
    return element


def attribute(element: Element | None, name: str = "val") -> str:
    """An attribute by its local name, or an empty string."""
    if element is None:
        return ""
    return next((value for key, value in element.attrib.items() if local(key) == name), "")


@dataclass(frozen=True, slots=True)
class _Style:
    name: str
    based_on: str
    outline: int | None
    number: tuple[str, int] | None


@dataclass(frozen=True, slots=True)
class Styles:
    """Styles by id."""

    by_id: Mapping[str, _Style] = field(default_factory=dict)

    def heading_level(self, style: str) -> int:
        """1 to 9 for a heading, 0 for other styles."""
        for found in self._line(style):
            match = _HEADING_NAME.fullmatch(found.name)
            if match:
                return int(match[1])
            if found.outline is not None:
                return found.outline
        return 0

    def is_title(self, style: str) -> bool:
        """True for the style of a document's title."""
        return any(found.name.lower() in _TITLE_NAMES for found in self._line(style)[:1])

    def number(self, style: str) -> tuple[str, int] | None:
        """The list and level a style puts its paragraphs into, or None."""
        return next((found.number for found in self._line(style) if found.number), None)

    def _line(self, style: str) -> list[_Style]:
        """The style and those it is based on, nearest first."""
        line: list[_Style] = []
        while style in self.by_id and len(line) < _MAX_INHERITANCE:
            line.append(self.by_id[style])
            style = line[-1].based_on
        return line


def read_styles(root: Element | None) -> Styles:
    """The paragraph styles of ``styles.xml``."""
    styles: dict[str, _Style] = {}
    for element in root if root is not None else ():
        if local(element.tag) == "style":
            properties = child(element, "pPr")
            styles[attribute(element, "styleId")] = _Style(
                name=attribute(child(element, "name")),
                based_on=attribute(child(element, "basedOn")),
                outline=outline_level(properties),
                number=number_of(properties),
            )
    return Styles(styles)


def outline_level(properties: Element | None) -> int | None:
    """The outline level of paragraph properties, 1 to 9, 0 for body text, None if nothing is said."""
    value = attribute(child(properties, "outlineLvl"))
    if not value.isdecimal():
        return None
    return int(value) + 1 if int(value) < 9 else 0


def number_of(properties: Element | None) -> tuple[str, int] | None:
    """List and level (from 0) of paragraph properties; list ``0`` is none, whatever the style says."""
    numbered = child(properties, "numPr")
    if numbered is None:
        return None
    level = attribute(child(numbered, "ilvl"))
    return attribute(child(numbered, "numId")), min(int(level), 8) if level.isdecimal() else 0


@dataclass(frozen=True, slots=True)
class _Level:
    form: str
    text: str
    start: int


@dataclass(slots=True)
class Numbering:
    """Automatic numbers, counted as paragraphs go by.

    Attributes:
        lists: List -> its definition (several lists may share one and its counter).
        levels: Definition -> level -> how it is counted.
    """

    lists: Mapping[str, str] = field(default_factory=dict)
    levels: Mapping[str, Mapping[int, _Level]] = field(default_factory=dict)
    _counts: dict[str, dict[int, int]] = field(default_factory=dict)

    def mark(self, number: str, level: int) -> str:
        """The next mark of a list: ``3.2.``, ``а)``, or ``-`` for a bullet; empty for no list."""
        definition = self.lists.get(number)
        if definition is None:
            return ""
        levels = self.levels.get(definition, {})
        here = levels.get(level, _Level("bullet", "", 1))
        counts = self._counts.setdefault(definition, {})
        counts[level] = counts.get(level, here.start - 1) + 1
        for deeper in [other for other in counts if other > level]:
            del counts[deeper]
        if here.form in ("bullet", "none"):
            return "-" if here.form == "bullet" else ""

        def numeral(match: re.Match[str]) -> str:
            other = int(match[1]) - 1
            shown = levels.get(other, here)
            return _numeral(counts.get(other, shown.start), shown.form)

        return re.sub(r"%([1-9])", numeral, here.text).strip()


def read_numbering(root: Element | None) -> Numbering:
    """The lists of ``numbering.xml``."""
    lists: dict[str, str] = {}
    levels: dict[str, dict[int, _Level]] = {}
    for element in root if root is not None else ():
        if local(element.tag) == "abstractNum":
            levels[attribute(element, "abstractNumId")] = {
                int(attribute(level, "ilvl")): _read_level(level)
                for level in element
                if local(level.tag) == "lvl" and attribute(level, "ilvl").isdecimal()
            }
        elif local(element.tag) == "num":
            lists[attribute(element, "numId")] = attribute(child(element, "abstractNumId"))
    return Numbering(lists, levels)


def _read_level(level: Element) -> _Level:
    start = attribute(child(level, "start"))
    return _Level(
        form=attribute(child(level, "numFmt")) or "decimal",
        text=attribute(child(level, "lvlText")),
        start=int(start) if start.isdecimal() and len(start) < 6 else 1,
    )


def _numeral(value: int, form: str) -> str:
    letters = {"lowerLetter": _LATIN, "upperLetter": _LATIN.upper(),
               "russianLower": _RUSSIAN, "russianUpper": _RUSSIAN.upper()}.get(form)  # fmt: skip
    if letters and value > 0:
        return letters[(value - 1) % len(letters)] * ((value - 1) // len(letters) + 1)
    if form in ("lowerRoman", "upperRoman") and 0 < value < 400:
        roman = ""
        for size, sign in _ROMAN:
            roman += sign * (value // size)
            value %= size
        return roman.upper() if form == "upperRoman" else roman
    return f"{value:02d}" if form == "decimalZero" else str(value)
