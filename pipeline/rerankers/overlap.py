"""A deterministic reranker without a model, for tests: it counts shared words."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from pipeline.rerankers.empty_passages import score_with_text

__all__ = ["OverlapReranker"]

_WORD = re.compile(r"\w+")


class OverlapReranker:
    """The share of the question's different words that a passage holds, 0..1, letter case aside."""

    @property
    def name(self) -> str:
        """The stage name."""
        return "overlap"

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """One score a passage; see `pipeline.ports.Reranker`."""
        return score_with_text(passages, lambda texts: self._score(question, texts))

    def _score(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        asked = _words(question)
        shares = [len(asked & _words(passage)) / max(len(asked), 1) for passage in passages]
        return np.array(shares, np.float32)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))
