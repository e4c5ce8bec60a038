"""Front matter of Markdown: ``key: value`` lines between two ``---`` lines at the very top.

Only what authors of notes write by hand is understood (scalars, ``[a, b]`` and ``- a`` lists);
nested YAML is passed over, never an error.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from pipeline.types import Metadata

__all__ = ["FrontMatter", "split_front_matter"]

_FRONT = re.compile(r"---[ \t]*\n(?P<body>(?:[^\n]*\n)*?)(?:---|\.\.\.)[ \t]*(?:\n|\Z)")
_PAIR = re.compile(r"(?P<key>[^\s:#\-][^:]*?)[ \t]*:(?:[ \t]+(?P<value>.*))?$")
_ITEM = re.compile(r"[ \t]*-[ \t]+(?P<value>.+)$")
_NAMES: Mapping[str, str] = {
    "title": "title", "заголовок": "title", "название": "title",
    "link": "link", "url": "link", "ссылка": "link",
    "tags": "tags", "теги": "tags", "метки": "tags", "keywords": "tags",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What the front matter says; empty fields where it says nothing."""

    title: str = ""
    link: str = ""
    tags: tuple[str, ...] = ()
    metadata: Metadata = field(default_factory=dict)


def split_front_matter(text: str) -> tuple[FrontMatter, str]:
    """Front matter of a document, and the text after it."""
    match = _FRONT.match(text)
    if match is None:
        return FrontMatter(), text
    values = _values(match["body"])
    if not values and match["body"].strip():
        return FrontMatter(), text  # two rulers around ordinary text
    metadata: dict[str, str | int | float | bool] = {}
    known: dict[str, list[str]] = {}
    for key, items in values.items():
        name = _NAMES.get(key.lower())
        if name:
            known[name] = items
        elif len(items) == 1:
            metadata[key] = _scalar(items[0])
    tags = [tag.strip() for item in known.get("tags", []) for tag in item.split(",")]
    front = FrontMatter(
        title=" ".join(known.get("title", [])),
        link=next(iter(known.get("link", [])), ""),
        tags=tuple(filter(None, tags)),
        metadata=metadata,
    )
    return front, text[match.end() :]


def _values(body: str) -> dict[str, list[str]]:
    values: dict[str, list[str]] = {}
    key = ""
    for line in body.splitlines():
        pair, item = _PAIR.match(line), _ITEM.match(line)
        if pair:
            key = pair["key"].strip("\"'")
            values[key] = _items(pair["value"] or "")
        elif item and key:
            values[key].append(_unquoted(item["value"]))
    return values


def _items(value: str) -> list[str]:
    value = value.strip()
    if value.startswith("[") and value.endswith("]"):
        return [_unquoted(part) for part in value[1:-1].split(",") if part.strip()]
    return [_unquoted(value)] if value else []


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _scalar(value: str) -> str | int | float | bool:
    if value.lower() in ("true", "false"):
        return value.lower() == "true"
    if re.fullmatch(r"-?\d{1,15}", value):
        return int(value)
    return float(value) if re.fullmatch(r"-?\d{1,15}\.\d{1,15}", value) else value
