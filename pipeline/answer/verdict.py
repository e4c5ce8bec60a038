"""The «да» or «нет» that an answer opens with.

A small model says «да» far too readily. Its verdict stays only before a sentence of its own that stood the
check and says the same thing: a «да» before a negation, or a «нет» before none, is left out, and the reader
judges by the sentence.
"""

from __future__ import annotations

import re

from pipeline.answer.support import negates

__all__ = ["agrees", "split_verdict"]

_VERDICT = re.compile(
    r"\s*(?P<word>да|нет|yes|no)(?:\s*\[\d+\])?(?P<stop>\s*[,.:;!—–]+|\s+-|\s*$)\s*", re.IGNORECASE
)
_YES = frozenset(("да", "yes"))


def split_verdict(text: str) -> tuple[str, str]:
    """The verdict as written, with its punctuation, and the rest; an empty verdict where there is none."""
    match = _VERDICT.match(text)
    if match is None:
        return "", text
    return f"{match['word']}{match['stop'].rstrip()}", text[match.end() :]


def agrees(verdict: str, sentence: str) -> bool:
    """True if the sentence negates where the verdict does."""
    said = re.match(r"\w+", verdict)
    return said is not None and (said.group().lower() in _YES) != negates(sentence)
