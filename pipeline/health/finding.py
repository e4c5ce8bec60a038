"""One finding of ``otvet doctor``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from pipeline.messages import text
from pipeline.types import Language

__all__ = ["Finding", "Say", "State"]

State = Literal["ok", "warning", "problem"]


@dataclass(frozen=True, slots=True)
class Say:
    """Says texts of the command line, ``doctor_`` left off their keys."""

    language: Language

    def __call__(self, key: str, **values: object) -> str:
        """One text, its placeholders filled."""
        return text("cli", f"doctor_{key}", self.language, "", **values)


@dataclass(frozen=True, slots=True)
class Finding:
    """One check: what was looked at, how it is, what to do (empty: nothing).

    Attributes:
        items: What it is about, one line each: files with reasons, passages.
    """

    check: str
    state: State
    detail: str
    next_step: str = ""
    items: tuple[str, ...] = ()
