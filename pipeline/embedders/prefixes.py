"""Prefixes that tell an embedder what a text is; added here and nowhere else.

multilingual-e5 was trained with ``query: `` and ``passage: `` (https://arxiv.org/abs/2402.05672) and
loses much of its quality without them.
"""

from __future__ import annotations

from typing import Literal

from pipeline.types import Role

__all__ = ["PrefixScheme", "guess_scheme", "prefix"]

PrefixScheme = Literal["e5", "none"]


def prefix(scheme: PrefixScheme, role: Role) -> str:
    """What goes before a text of this role."""
    return f"{role}: " if scheme == "e5" else ""


def guess_scheme(name: str) -> PrefixScheme:
    """The scheme of a model that does not say: ``e5`` is part of the name of every e5 model.

    The instruct models among them want instructions instead, which is not this scheme.
    """
    words = name.lower().replace("_", "-").replace("/", "-").split("-")
    return "e5" if "e5" in words and "instruct" not in words else "none"
