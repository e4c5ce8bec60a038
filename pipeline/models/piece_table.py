"""The pieces of a Unigram tokenizer as one mapped file, searched without loading them.

``tokenizers`` builds a tree of all 250,000 pieces of XLM-RoBERTa each time it reads
``tokenizer.json``: a second of processor time and 300 MB of memory. This file lies beside
``tokenizer.json``, costs nothing to open and tells which pieces occur in a text.
"""

from __future__ import annotations

import mmap
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from numpy.typing import NDArray

from pipeline.durable import put_in_place

__all__ = ["PieceTable", "open_table"]

Hashes = NDArray[np.uint64]

_SUFFIX = ".pieces"
_MAGIC = b"otvet pieces 2\n\0"
# Below that the tokenizer itself is read in no time.
_SMALLEST = 1 << 20
# Odd 64-bit constants of well-mixed bits; the second is only for pieces that collide under the first.
_MULTIPLIERS = (0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xC2B2AE3D27D4EB4F)
_CHARACTERS_AT_A_TIME = 16384


@dataclass(frozen=True, slots=True)
class PieceTable:
    """Pieces by row, and the hash of each.

    Attributes:
        rest: ``tokenizer.json`` with no pieces but the fixed ones and without added tokens.
        fixed: Rows that every selection of pieces holds: the unknown piece and the worst score.
        unknown: Row of the unknown piece.
        longest: Characters of the longest piece.
        multiplier: Of the hash.
        hashes: uint64, ascending, one a piece.
        rows: int32: the row of each hash.
        scores: float64, by row.
        starts: uint32, (pieces + 1,): where each piece begins in ``text``.
        text: All pieces in UTF-8, by row.
    """

    rest: str
    fixed: tuple[int, ...]
    unknown: int
    longest: int
    multiplier: int
    hashes: Hashes
    rows: NDArray[np.int32]
    scores: NDArray[np.float64]
    starts: NDArray[np.uint32]
    text: NDArray[np.uint8]

    def piece(self, row: int) -> tuple[str, float]:
        """A piece and its score."""
        text = bytes(self.text[self.starts[row] : self.starts[row + 1]]).decode("utf-8")
        return text, float(self.scores[row])

    def rows_in(self, text: str) -> list[int]:
        """Rows of all pieces that occur in a text, and hardly any others, each once.

        A foreign text with the hash of a piece only adds that piece, which then fits nowhere.
        """
        letters = _letters(text)
        found: dict[int, None] = {}
        for begin in range(0, len(letters), _CHARACTERS_AT_A_TIME):
            part = letters[begin : begin + _CHARACTERS_AT_A_TIME + self.longest - 1]
            hashes = np.concatenate(list(_substring_hashes(part, self.longest, self.multiplier)))
            places = np.searchsorted(self.hashes, hashes)
            places[places == len(self.hashes)] = 0
            found.update(dict.fromkeys(self.rows[places[self.hashes[places] == hashes]].tolist()))
        return list(found)


def open_table(tokenizer: Path) -> PieceTable | None:
    """The table of a ``tokenizer.json``, made now if it is not there or not of this file.

    Returns:
        None for a tokenizer that needs no table (a small one) or can't be used with one.

    Raises:
        OSError: ``tokenizer.json`` cannot be read.
    """
    status = tokenizer.stat()
    if status.st_size < _SMALLEST:
        return None
    state = [status.st_size, status.st_mtime_ns]
    file = tokenizer.with_suffix(_SUFFIX)
    table = _read(file, state)
    if table is not None:
        return table
    try:
        table = _made(orjson.loads(tokenizer.read_bytes()))
    except (orjson.JSONDecodeError, KeyError, TypeError, ValueError, IndexError):
        return None  # not what we know; the tokenizers library has the last word
    if table is not None:
        _write(file, table, state)
    return table


def _made(record: dict[str, Any]) -> PieceTable | None:
    model = record["model"]
    if (
        model["type"] != "Unigram"
        or model.get("byte_fallback")
        or not all(record[part] for part in ("normalizer", "pre_tokenizer", "post_processor"))
        or not all(token["special"] for token in record["added_tokens"])
    ):
        return None
    pieces: list[str] = [piece for piece, _ in model["vocab"]]
    scores = np.array([score for _, score in model["vocab"]], np.float64)
    unknown = int(model["unk_id"])
    # What an unknown letter costs depends on the worst score of all.
    fixed = sorted({unknown, int(scores.argmin())})
    encoded = [piece.encode("utf-8") for piece in pieces]
    starts = np.zeros(len(pieces) + 1, np.uint32)
    np.cumsum([len(piece) for piece in encoded], out=starts[1:])
    for multiplier in _MULTIPLIERS:
        hashes = _piece_hashes(pieces, multiplier)
        order = np.argsort(hashes)
        if (np.diff(hashes[order]) > 0).all():
            break
    else:
        return None
    small = {**model, "vocab": [model["vocab"][row] for row in fixed], "unk_id": fixed.index(unknown)}
    rest = {**record, "added_tokens": [], "truncation": None, "padding": None, "model": small}
    return PieceTable(
        rest=orjson.dumps(rest).decode("utf-8"),
        fixed=tuple(fixed),
        unknown=unknown,
        longest=max(map(len, pieces)),
        multiplier=multiplier,
        hashes=hashes[order],
        rows=order.astype(np.int32),
        scores=scores,
        starts=starts,
        text=np.frombuffer(b"".join(encoded), np.uint8),
    )


def _letters(text: str) -> Hashes:
    return np.frombuffer(text.encode("utf-32-le"), np.uint32).astype(np.uint64) + np.uint64(1)


def _substring_hashes(letters: Hashes, longest: int, multiplier: int) -> Iterator[Hashes]:
    """Hashes of all substrings, shortest first: ``hash(text + letter) = hash(text) * m + letter``."""
    hashes = np.zeros(len(letters), np.uint64)
    for length in range(1, min(longest, len(letters)) + 1):
        hashes = hashes[: len(letters) - length + 1] * np.uint64(multiplier) + letters[length - 1 :]
        yield hashes


def _piece_hashes(pieces: Sequence[str], multiplier: int) -> Hashes:
    letters = _letters("".join(pieces))
    lengths = np.array([len(piece) for piece in pieces])
    starts = np.cumsum(lengths) - lengths
    hashes = np.zeros(len(pieces), np.uint64)
    for at in range(int(lengths.max())):
        longer = lengths > at
        hashes[longer] = hashes[longer] * np.uint64(multiplier) + letters[starts[longer] + at]
    return hashes


_ARRAYS: Mapping[str, str] = {"hashes": "<u8", "scores": "<f8", "rows": "<i4", "starts": "<u4", "text": "u1"}


def _write(file: Path, table: PieceTable, state: list[int]) -> None:
    arrays = {name: getattr(table, name).astype(kind) for name, kind in _ARRAYS.items()}
    body = b"".join(array.tobytes() for array in arrays.values())
    head = orjson.dumps(
        {
            "state": state,
            "sizes": {name: len(array) for name, array in arrays.items()},
            "crc32": zlib.crc32(body),
            "rest": table.rest,
            "fixed": table.fixed,
            "unknown": table.unknown,
            "longest": table.longest,
            "multiplier": table.multiplier,
        }
    )
    head += b" " * (-len(head) % 8)
    # Into a read-only or full folder: the table serves from memory and is made again next time.
    with suppress(OSError):
        put_in_place(file, _MAGIC + len(head).to_bytes(8, "little") + head + body)


def _read(file: Path, state: list[int]) -> PieceTable | None:
    try:
        with file.open("rb") as stream:
            mapped = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError):
        return None
    begin = len(_MAGIC) + 8
    if mapped[: len(_MAGIC)] != _MAGIC:
        return None
    end = begin + int.from_bytes(mapped[len(_MAGIC) : begin], "little")
    try:
        head = orjson.loads(mapped[begin:end])
        # A wrong piece would change every vector without a word, and 9 MB are summed up in 10 ms.
        if head["state"] != state or head["crc32"] != zlib.crc32(memoryview(mapped)[end:]):
            return None
        arrays: dict[str, NDArray[Any]] = {}
        for name, kind in _ARRAYS.items():
            arrays[name] = np.frombuffer(mapped, kind, head["sizes"][name], end)
            end += arrays[name].nbytes
        return PieceTable(
            head["rest"],
            tuple(head["fixed"]),
            head["unknown"],
            head["longest"],
            head["multiplier"],
            **arrays,
        )
    except (ValueError, KeyError, TypeError):
        return None  # cut or foreign: it is made again
