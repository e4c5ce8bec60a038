"""Cleaning of text before anything else looks at it.

Two uses: whole documents (`clean_text`, line breaks kept) and questions (`clean_question`, one line).
Both keep what a person would see and drop what only breaks programs.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["DASHES", "LOOKALIKES", "clean_question", "clean_text", "fold"]

DASHES = str.maketrans(dict.fromkeys("‐‑‒–—−", "-"))
"""For ``str.translate``: every kind of dash as the plain one."""

LOOKALIKES = str.maketrans("abekmhopctyx", "авекмнорстух")
"""For ``str.translate``: lower-case Latin letters that look like Cyrillic ones as those: «1C» and «1С» are
typed alike and must match."""

_LINE_BREAKS = re.compile("\r\n|[\r\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029]")
# Zero-width space, word joiner, soft hyphen, BOM and bidirectional marks are invisible and split
# words for search; the zero-width joiner stays, because it holds emoji together.
_INVISIBLE = re.compile(
    "[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\xad\u200b\u200e\u200f\u202a-\u202e\u2060\u2066-\u2069\ufeff]"
)
_SPACES = re.compile("[\xa0\u1680\u2000-\u200a\u202f\u205f\u3000]")
_LINE_ENDS = re.compile("[ \t]+(?=\n|$)")
_SURROGATE = re.compile("[\ud800-\udfff]")


def clean_text(text: str) -> str:
    """Text of a document as every later step sees it.

    NFC; line breaks of every kind become line feeds; NUL, control and invisible characters go; a
    lone surrogate becomes U+FFFD (a pair is joined); exotic spaces become plain ones; spaces at
    line ends go. Applying it twice changes nothing.
    """
    if _SURROGATE.search(text):
        text = text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    text = _LINE_BREAKS.sub("\n", text)
    text = _INVISIBLE.sub("", text)
    text = _SPACES.sub(" ", text)
    # Composing can bring nothing back that the lines above removed, so one pass is enough.
    return _LINE_ENDS.sub("", unicodedata.normalize("NFC", text))


def clean_question(text: str) -> str:
    """A question as it is searched for: `clean_text` on one line, single spaces, nothing at the ends."""
    return " ".join(clean_text(text).split())


def fold(text: str) -> str:
    """Lower case with ё = е, the form in which words are compared."""
    return text.lower().replace("ё", "е")
