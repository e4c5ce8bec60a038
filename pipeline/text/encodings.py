"""The encoding of a file's bytes, Russian first.

Order: byte order mark; strict UTF-8; UTF-16 without a mark; then the eight-bit code page whose
decoding looks most like Russian. Letter statistics beat general detectors on short texts, because
the set of candidates is known (cases 1 and 4). They are taken of samples: a hundred thousand characters
tell as much as millions.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

__all__ = ["Decoded", "NotTextError", "decode", "decode_as"]

_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# With the head start of each: today cp1251 is common, cp866 rare, koi8-r very rare.
_CODE_PAGES = {"cp1251": 0.0, "cp866": -1.0, "koi8-r": -2.0}
# Frequencies of Russian letters per mille, from the Russian National Corpus (O. Lyashevskaya and
# S. Sharov, 2009, letter table); ё as in texts that write it.
_PER_MILLE = dict(
    zip(
        "оеаинтсрвлкмдпуяыьгзбчйхжшюцщэфъё",
        (109.7, 84.5, 80.1, 73.5, 67.0, 62.6, 54.7, 47.3, 45.4, 44.0, 34.9, 32.1, 29.8, 28.1, 26.2, 20.1,
         19.0, 17.4, 17.0, 16.5, 15.9, 14.4, 12.1, 9.7, 9.4, 7.3, 6.4, 4.8, 3.6, 3.2, 2.6, 0.4, 3.0),
        strict=True,
    )
)  # fmt: skip
_LETTER_SCORE = {letter: math.log(share / 1000 * 33) for letter, share in _PER_MILLE.items()}
_FOREIGN = -6.0  # a character that Russian text does not hold
_ALL_CAPITALS = -1.5  # koi8-r and cp1251 swap capitals and small letters, and small ones are common
_COMMON_SIGNS = frozenset("«»№—–…“”„‘’•©®°±§€\xa0·×÷−≤≥→←")
_SMALL_THEN_CAPITAL = re.compile("[а-яё][А-ЯЁ]")
_MIXED_WORD = re.compile("[A-Za-z][а-яёА-ЯЁ]|[а-яёА-ЯЁ][A-Za-z]")
# Sound patterns: what Russian spelling forbids or avoids, with the price of each occurrence.
_PATTERNS = (
    (re.compile(r"\b[ьъы]|[аеёиоуыэюяйьъ][ьъ]|[бвгджзклмнпрстфхцчшщьъ]й|[аеёиоуыэюя]ы"), -4.0),
    (re.compile(r"(?<![^\W\d_])[бвгджзйклмнпрстфхцчшщ]{4}|[аеёиоуыэюя]{3}|жы|шы|чя|щя|чю|щю"), -2.0),
    (re.compile(r"(?=[аеёиоуыэюя][аеёиоуыэюя])|\bй"), -0.8),
    (re.compile(r"(?=[бвгджзклмнпрстфхцчшщ][бвгджзклмнпрстфхцчшщ])"), -0.4),
    (re.compile(r"(?=[бвгджзклмнпрстфхцчшщ][аеёиоуыэюя]|[аеёиоуыэюя][бвгджзклмнпрстфхцчшщ])"), 0.3),
)
_PIECE = 32 * 1024  # of a sample, of which three are taken
_LINE = 4096  # bytes of a line that a sample holds at most
_HIGH = re.compile(b"[\x80-\xff]")
_NOT_ASCII = re.compile("[^\x00-\x7f]")
_CONTROL = re.compile("[\x00-\x08\x0e-\x19\x1b-\x1f\x7f-\x84\x86-\x9f]")


@dataclass(frozen=True, slots=True)
class Decoded:
    """Text of a file and the name of the encoding it was read with (``utf-8`` for a mark too)."""

    text: str
    encoding: str


class NotTextError(Exception):
    """The bytes are not text in any known encoding. Readers turn it into `UnreadableFileError`."""


def decode(data: bytes) -> Decoded:
    """Decode the bytes of a text file.

    Raises:
        NotTextError: The bytes look like a program, a picture or noise.
    """
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return Decoded(_strict(data[len(mark) :], encoding), encoding)
    text = _try(data, "utf-8")
    if text is not None and _control_share(text) <= 0.02:
        return Decoded(text, "utf-8") if _is_likely(text) else _eight_bit_or(data, text)
    best = max(
        (decoded for encoding in ("utf-16-le", "utf-16-be") if (decoded := _utf16(data, encoding))),
        key=lambda decoded: _score(_sampled(decoded.text)),
        default=None,
    )
    if best is not None:
        return best
    if text is not None:
        if _control_share(text) <= 0.1:
            return Decoded(text, "utf-8")
        raise NotTextError
    return _eight_bit(data)


def decode_as(data: bytes, encoding: str) -> Decoded:
    """Decode with an encoding that a person has named; its mark, if there is one, goes.

    Raises:
        NotTextError: The bytes are not text in this encoding.
        LookupError: There is no such encoding.
    """
    text = _strict(data, encoding).removeprefix("\ufeff")
    if _control_share(text) > 0.1:
        raise NotTextError
    return Decoded(text, encoding)


def _strict(data: bytes, encoding: str) -> str:
    text = _try(data, encoding)
    if text is None:
        # A good file may be cut inside its last character; anything else is damage.
        text = data.decode(encoding, "replace")
        if text.count("\ufffd") > 1 + len(text) // 100:
            raise NotTextError
    return text


def _try(data: bytes, encoding: str) -> str | None:
    try:
        return data.decode(encoding)
    except UnicodeError:
        return None


def _utf16(data: bytes, encoding: str) -> Decoded | None:
    text = _try(data, encoding) if len(data) % 2 == 0 else None
    if not text or _control_share(text) > 0.02:
        return None
    sample = _sampled(text)
    known = sum(ord(c) < 0x250 or c.lower() in _LETTER_SCORE or c in _COMMON_SIGNS for c in sample)
    return Decoded(text, encoding) if known >= 0.9 * len(sample) else None


def _is_likely(text: str) -> bool:
    """False for UTF-8 that may be an accident, as «Ёлка» in cp866 is one rare ideograph."""
    foreign = [match.group() for match in islice(_NOT_ASCII.finditer(text), 3)]
    return not foreign or len(foreign) > 2 or any(ord(c) < 0x530 or c in _COMMON_SIGNS for c in foreign)


def _eight_bit_or(data: bytes, text: str) -> Decoded:
    encoding = _best_code_page(data)
    decoded = data.decode(encoding, "replace")
    return Decoded(decoded, encoding) if _score(decoded) > _FOREIGN / 2 else Decoded(text, "utf-8")


def _best_code_page(data: bytes) -> str:
    sample = data if len(data) <= 3 * _PIECE else b"".join(_telling_lines(data))
    return max(_CODE_PAGES, key=lambda name: _score(sample.decode(name, "replace")) + _CODE_PAGES[name])


def _telling_lines(data: bytes) -> Iterator[bytes]:
    """Lines that hold more than ASCII, from the start, the middle and the end of a long file."""
    third = len(data) // 3
    position = 0
    for begin in (0, third, 2 * third):
        position = max(position, begin)
        size = 0
        while size < _PIECE and (match := _HIGH.search(data, position, begin + third + 1)):
            place = match.start()
            start = data.rfind(b"\n", max(position, place - _LINE // 2), place) + 1
            start = start or max(position, place - _LINE // 2)
            end = data.find(b"\n", place, place + _LINE // 2) + 1
            position = end or min(place + _LINE // 2, len(data))
            size += position - start
            yield data[start:position]


def _sampled(text: str) -> str:
    """A long text's start, middle and end, from line to line where lines are not too long."""
    if len(text) <= 3 * _PIECE:
        return text
    pieces = []
    for begin in (0, (len(text) - _PIECE) // 2, len(text) - _PIECE):
        piece = text[begin : begin + _PIECE]
        first = piece.find("\n", 0, _LINE) + 1 if begin else 0
        last = piece.rfind("\n", _PIECE - _LINE) + 1
        pieces.append(piece[first : last or _PIECE])
    return "".join(pieces)


def _eight_bit(data: bytes) -> Decoded:
    encoding = _best_code_page(data)
    text = data.decode(encoding, "replace")
    sample = _sampled(text)
    if _looks_western(sample):
        encoding, text = "cp1252", data.decode("cp1252", "replace")
    elif _known_share(sample) < 0.85:
        raise NotTextError
    if _control_share(text) > 0.02:
        raise NotTextError
    return Decoded(text, encoding)


def _score(text: str) -> float:
    """How much a text looks like Russian: log likelihood of its letters against even chances."""
    total = 0.0
    for character in text:
        if not character.isascii():
            letter = _LETTER_SCORE.get(character.lower())
            sign = 0.0 if character in _COMMON_SIGNS else _FOREIGN
            total += sign if letter is None else letter
    if text.isupper():
        total += _ALL_CAPITALS
    total += _FOREIGN / 2 * len(_SMALL_THEN_CAPITAL.findall(text))
    lowered = text.lower()
    total += sum(price * len(pattern.findall(lowered)) for pattern, price in _PATTERNS)
    return total + _FOREIGN / 2 * len(_MIXED_WORD.findall(text))


def _looks_western(text: str) -> bool:
    """True for a western text such as «cafй»: few foreign letters, most of them inside Latin words."""
    foreign = sum(not character.isascii() and character.isalpha() for character in text)
    latin = sum(character.isascii() and character.isalpha() for character in text)
    return 0 < foreign < latin / 2 and len(_MIXED_WORD.findall(text)) >= foreign * 0.7


def _known_share(text: str) -> float:
    known = sum(
        (c.isascii() and (c.isprintable() or c in "\t\n\r\f\0"))
        or c.lower() in _LETTER_SCORE
        or c in _COMMON_SIGNS
        for c in text
    )
    return known / max(len(text), 1)


def _control_share(text: str) -> float:
    # A stray NUL or two does not make a file binary (case 6).
    return max(len(text) - len(_CONTROL.sub("", text)) - 2, 0) / max(len(text), 1)
