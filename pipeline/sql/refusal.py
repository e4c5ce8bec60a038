"""The error of a statement that may not run, with its reason in both languages."""

from __future__ import annotations

from pipeline.errors import StatementRefusedError
from pipeline.messages import Phrase

__all__ = ["refused"]


def refused(key: str, **values: object) -> StatementRefusedError:
    """The error for a reason ``guard_<key>`` of ``answers.toml``."""
    return StatementRefusedError(reason=Phrase(f"guard_{key}", values))
