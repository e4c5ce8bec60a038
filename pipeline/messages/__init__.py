"""Texts for people, Russian and English side by side, in one TOML file per kind.

``errors.toml`` holds the errors, ``cli.toml`` the command line, ``answers.toml`` the words the
service itself says in a reply. The page keeps its texts in ``static/i18n``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Literal

from pipeline.types import Language

__all__ = ["Kind", "Phrase", "entries", "text"]

Kind = Literal["errors", "cli", "answers"]


@cache
def entries(kind: Kind) -> dict[str, dict[str, str]]:
    """All entries of a kind: key -> {"ru": ..., "en": ..., optionally "ru_hint", "en_hint"}."""
    raw = resources.files(__name__).joinpath(f"{kind}.toml").read_text(encoding="utf-8")
    return tomllib.loads(raw)


def text(kind: Kind, key: str, language: Language, part: str = "", **values: object) -> str:
    """One text, its ``{placeholders}`` filled.

    Args:
        kind: Which file.
        key: Which entry; a missing one is a bug and raises ``KeyError``.
        language: ``ru`` or ``en``.
        part: Suffix of the field, for example ``_hint``.
        values: Placeholder values.
    """
    return entries(kind)[key][language + part].format(**values)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A placeholder's value that is itself words: said in the language of the message around it.

    Attributes:
        key: Entry of ``answers.toml``.
        values: Fill the placeholders of that entry.
    """

    key: str
    values: Mapping[str, object] = field(default_factory=dict)

    def text(self, language: Language) -> str:
        """The phrase in one language."""
        return text("answers", self.key, language, "", **self.values)
