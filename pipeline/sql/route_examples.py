"""Questions whose route is known, and how near a question comes to those of each route."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from functools import cache
from importlib import resources
from pathlib import Path
from typing import cast

import numpy as np

from pipeline.errors import SettingsError
from pipeline.ports import Embedder
from pipeline.types import FloatMatrix, Route

__all__ = ["ANSWERING", "ROUTES_FILE", "RouteExamples", "own_examples"]

ROUTES_FILE = "routes.toml"
"""Beside ``otvet.toml``: ``sql = ["…"]``, ``search = ["…"]``, ``hybrid = ["…"]``."""

ANSWERING: tuple[Route, ...] = ("sql", "search", "hybrid")
"""Routes that lead to an answer."""

NEIGHBOURS = 5
_SHARPNESS = 25.0
"""Cosines of questions lie close together: e to this power times their difference is their weight."""

_CHARACTERS = 600


def own_examples(home: Path) -> dict[Route, tuple[str, ...]]:
    """The user's labelled questions; none where there is no file.

    Raises:
        SettingsError: The file is not what it should be.
    """
    path = home / ROUTES_FILE
    if not path.is_file():
        return {}
    try:
        return _checked(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise SettingsError(where=ROUTES_FILE, reason=str(error)) from error


def _checked(values: Mapping[str, object]) -> dict[Route, tuple[str, ...]]:
    found: dict[Route, tuple[str, ...]] = {}
    for name, questions in values.items():
        texts = isinstance(questions, list) and all(isinstance(text, str) and text for text in questions)
        if name not in ANSWERING or not texts:
            known = ", ".join(ANSWERING)
            raise SettingsError(where=ROUTES_FILE, reason=f'{name}: {known} = ["…"]')
        found[name] = tuple(cast(Sequence[str], questions))
    return found


@cache
def _built_in() -> dict[Route, tuple[str, ...]]:
    raw = resources.files(__package__).joinpath("routes.toml").read_text(encoding="utf-8")
    return _checked(tomllib.loads(raw))


class RouteExamples:
    """Labelled questions, embedded once. Those of the user count as the product's own.

    Args:
        embedder: Compares questions by meaning.
        own: The user's.
    """

    def __init__(self, embedder: Embedder, own: Mapping[Route, Sequence[str]] | None = None) -> None:
        self._embedder = embedder
        pairs = [
            (route, text) for source in (_built_in(), own or {}) for route in source for text in source[route]
        ]
        self._routes = tuple(route for route, _ in pairs)
        self._vectors = self._encoded([text for _, text in pairs])

    def votes(self, question: str) -> dict[Route, float]:
        """Shares of the routes among the nearest examples; they come to 1."""
        cosines = self._vectors @ self._encoded([question])[0]
        nearest = np.argsort(-cosines, kind="stable")[:NEIGHBOURS]
        weights = np.exp(_SHARPNESS * (cosines[nearest] - cosines[nearest[0]]))
        votes = dict.fromkeys(ANSWERING, 0.0)
        for row, weight in zip(nearest, weights / weights.sum(), strict=True):
            votes[self._routes[row]] += float(weight)
        return votes

    def _encoded(self, texts: Sequence[str]) -> FloatMatrix:
        return self._embedder.encode([text[:_CHARACTERS] for text in texts], "query").vectors
