"""Which language a question is in; the answer is given in the same one."""

from __future__ import annotations

import re

from pipeline.text.function_words import ENGLISH, RUSSIAN
from pipeline.types import Language

__all__ = ["detect_language"]

_WORD = re.compile(r"[^\W\d_]+")
_CYRILLIC = re.compile("[а-яёіїєґў]", re.IGNORECASE)


def detect_language(text: str) -> Language:
    """``ru`` or ``en``; function words decide, then the number of words, and ``ru`` when all is equal.

    Function words come first because a Russian question often names more English identifiers than
    it has Russian words.
    """
    words = _WORD.findall(text.lower())
    russian = sum(word in RUSSIAN for word in words)
    english = sum(word in ENGLISH for word in words)
    if russian == english:
        russian = sum(bool(_CYRILLIC.search(word)) for word in words)
        english = len(words) - russian
    return "en" if english > russian else "ru"
