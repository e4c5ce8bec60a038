"""Words of a text as keyword search compares them.

Words are lower-cased, ё = е, stemmed with Snowball (Porter's family, snowballstem.org): Russian
for Cyrillic, English for Latin. Codes and identifiers are kept whole and also in parts, so that
``УПД-5`` finds «УПД 5» and ``UnsafeFindByCode`` is found by "find by code".
"""

from __future__ import annotations

import re
import threading
from functools import cache, lru_cache
from typing import Any

from pipeline.text.normalise import DASHES, LOOKALIKES, fold

__all__ = ["keyword_terms"]

# A run of letters and digits, held together by single inner dots, dashes, underscores and the like.
_TOKEN = re.compile(r"[^\W_]+(?:[.,_\-‐‑‒−/+'’][^\W_]+)*(?:\+\+|#)?|(?<!_)_++[^\W_]+(?:_+[^\W_]+)*")
_PIECE = re.compile(r"[^\W_]+")
_DOTTED_NUMBER = re.compile(r"\d+(?:\.\d+)+")
_DECIMAL = re.compile(r"\d+,\d+")
_CAMEL = re.compile(
    r"[A-ZА-ЯЁ]+(?=[A-ZА-ЯЁ][a-zа-яё])|[A-ZА-ЯЁ]?[a-zа-яё]+|[A-ZА-ЯЁ]+|\d+|[^\W\d_A-Za-zА-ЯЁа-яё]+"
)
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?: \d{3})+(?![\w.,]*\d)")
_CODE_WORD = re.compile(r"[A-ZА-ЯЁ]{2,8}")
_CYRILLIC = re.compile("[а-я]")
_LOOKALIKE_CODE = re.compile(r"(?=.*\d)(?=.*[a-z])[\dabekmhopctyx]+")
_SEPARATORS = re.compile(r"[.\-/+'’](?=[^\W_])")
_MAX_TERM = 64
_CACHE_WORDS = 200_000


def keyword_terms(text: str) -> list[str]:
    """Terms of a text in order, repeated as often as they occur.

    A word gives its stem. A code or identifier (``ERR_42``, ``8.3.14``, ``cachedValueNames``)
    gives itself and its parts; capitals before a number («ГОСТ 12.1») also give the joined code
    ``гост-12.1``, the same as «ГОСТ-12.1» does; «45 000» also gives ``45000``.
    """
    terms: list[str] = []
    previous, previous_end = "", -2
    for match in _TOKEN.finditer(text):
        token = match.group()
        terms.extend(_terms_of(token))
        if token[0].isdigit() and match.start() - previous_end == 1 and _CODE_WORD.fullmatch(previous):
            terms.append(fold(f"{previous}-{token}"))
        previous, previous_end = token, match.end()
    terms.extend(match.group().replace(" ", "") for match in _THOUSANDS.finditer(text))
    return terms


@lru_cache(maxsize=_CACHE_WORDS)
def _terms_of(token: str) -> tuple[str, ...]:
    token = token.translate(DASHES)
    folded = fold(token)
    if folded.isdigit() or len(folded) > _MAX_TERM * 4:
        return (folded[:_MAX_TERM],)
    if _DOTTED_NUMBER.fullmatch(folded):
        parts = folded.split(".")
        return tuple(".".join(parts[:count]) for count in range(len(parts), 1, -1))
    if _DECIMAL.fullmatch(folded):
        return (folded.replace(",", "."), *folded.split(","))
    pieces = _PIECE.findall(token)
    terms: list[str] = []
    for piece in pieces:
        terms.extend(_terms_of_piece(piece))
    if len(pieces) > 1 and "," not in token:
        # Parts are stemmed inside the whole too, so that «счёта-фактуры» meets «счёт-фактура».
        terms.append(_SEPARATORS.sub("-", _PIECE.sub(lambda m: _stem(fold(m.group())), folded)))
    elif token[-1] in "+#":
        terms.append(folded)
    return tuple(term[:_MAX_TERM] for term in terms)


def _terms_of_piece(piece: str) -> tuple[str, ...]:
    folded = fold(piece)
    if _LOOKALIKE_CODE.fullmatch(folded):
        piece = folded = folded.translate(LOOKALIKES)
    if piece.isdigit():
        return (folded,)
    parts = _CAMEL.findall(piece)
    if len(parts) < 2 or _is_plain_word(piece):
        return (_stem(folded),)
    return (folded, *(_stem(fold(part)) for part in parts))


def _is_plain_word(piece: str) -> bool:
    return piece.isalpha() and (piece.islower() or piece.isupper() or piece.istitle())


class _Stemmers(threading.local):
    """Snowball stemmers keep state while they work, so each thread has its own."""

    def __init__(self) -> None:
        import snowballstemmer

        self.russian: Any = snowballstemmer.stemmer("russian")
        self.english: Any = snowballstemmer.stemmer("english")


@cache
def _stemmers() -> _Stemmers:
    return _Stemmers()


@lru_cache(maxsize=_CACHE_WORDS)
def _stem(word: str) -> str:
    stemmer = _stemmers().russian if _CYRILLIC.search(word) else _stemmers().english
    return str(stemmer.stemWord(word)) or word
