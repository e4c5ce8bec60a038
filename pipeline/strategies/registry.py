"""Named ways to do one thing, each described in both languages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

from pipeline.errors import InvalidRequestError
from pipeline.messages import Phrase
from pipeline.types import Language

__all__ = ["About", "Described", "Registry"]

_NAME = re.compile(r"[a-z][a-z0-9]*(?:-[a-z0-9]+)*")
_FLAG = re.compile(r"-[a-z]{1,4}")


@dataclass(frozen=True, slots=True)
class About:
    """What a person has to know before choosing.

    Attributes:
        title: A few words.
        what: What it does.
        pros: What speaks for it.
        cons: What speaks against it.
        best_for: Where it is the right choice.
    """

    title: str
    what: str
    pros: str
    cons: str
    best_for: str


class Described(Protocol):
    """What can be registered."""

    @property
    def name(self) -> str:
        """Words in lower case joined by hyphens."""
        ...

    @property
    def flag(self) -> str:
        """How it is asked for at the end of a question."""
        ...

    @property
    def about(self) -> Mapping[Language, About]:
        """In every language."""
        ...


Entry = TypeVar("Entry", bound=Described)


class Registry(Generic[Entry]):
    """Entries in the order they were added.

    Args:
        field: Request field that holds one of their names.
    """

    def __init__(self, field: str) -> None:
        self.field = field
        self._entries: dict[str, Entry] = {}

    def add(self, entry: Entry) -> Entry:
        """Register an entry.

        Raises:
            ValueError: Its name or flag is malformed or taken, or it is not described in both languages.
        """
        if not _NAME.fullmatch(entry.name) or not _FLAG.fullmatch(entry.flag):
            raise ValueError(f"malformed name or flag: {entry.name} {entry.flag}")
        if entry.name in self._entries or entry.flag in self.flags():
            raise ValueError(f"name or flag taken: {entry.name} {entry.flag}")
        if not {"ru", "en"} <= entry.about.keys():
            raise ValueError(f"not described in both languages: {entry.name}")
        self._entries[entry.name] = entry
        return entry

    def remove(self, name: str) -> None:
        """Forget an entry; one that is not there is forgotten already."""
        self._entries.pop(name, None)

    def names(self) -> tuple[str, ...]:
        """All names, in order."""
        return tuple(self._entries)

    def flags(self) -> dict[str, str]:
        """Flag -> name."""
        return {entry.flag: entry.name for entry in self}

    def __iter__(self) -> Iterator[Entry]:
        return iter(tuple(self._entries.values()))

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __getitem__(self, name: str) -> Entry:
        """The entry of a name.

        Raises:
            InvalidRequestError: There is none.
        """
        if name not in self._entries:
            known = ", ".join(self._entries)
            raise InvalidRequestError(field=self.field, reason=Phrase("field_choice", {"known": known}))
        return self._entries[name]
