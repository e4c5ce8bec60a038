"""Whether a text is in the language it was asked for, identifiers and names left aside."""

from __future__ import annotations

import re

from pipeline.text.language import detect_language
from pipeline.types import Language

__all__ = ["in_another_language"]

FEWEST_WORDS = 3
"""Fewer words have no language: «8025», «LSP», «BSLLS-off»."""

OWN_WORDS = 0.25
"""Share of words in the language's own letters from which a text is in it, for all its identifiers."""

_CODE = re.compile(r"`[^`\n]*`")
_WORD = re.compile(r"[^\W\d_]+")
_CYRILLIC = re.compile("[а-яёіїєґў]", re.IGNORECASE)
_OTHER_SCRIPT = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0600-\u06ff\u0900-\u0dff]")


def in_another_language(text: str, language: Language) -> bool:
    """True for a text or sentence that a reader of ``language`` was not promised."""
    words = _WORD.findall(_CODE.sub(" ", text))
    if len(_OTHER_SCRIPT.findall(text)) > len("".join(words)) / 5:
        return True
    own = sum(bool(_CYRILLIC.search(word)) == (language == "ru") for word in words)
    if len(words) < FEWEST_WORDS or own >= OWN_WORDS * len(words):
        return False
    return detect_language(text) != language
