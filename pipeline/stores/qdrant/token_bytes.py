"""Where the token vectors are: in the payload of their points, or beside the local engine in a file.

Late interaction reads those of some 20 passages a question, 70 KB each. As bytes in base64 they take a
third more than that; as numbers in JSON, which a multivector would be sent as, ten times as much
(``benchmarks/stores.py --tokens``). The local engine keeps all payloads in memory, where they would take
gigabytes, so there they go to a file of SQLite.
"""

from __future__ import annotations

import sqlite3
import threading
from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pipeline.index import TokenStore
from pipeline.stores.qdrant.connection import Connection
from pipeline.stores.token_store import GatheredTokens, QuantisedText, QuantisedTokens, quantise

__all__ = ["FileTokens", "PayloadTokens", "TokenPlace", "quantised_of"]

_FILE = "tokens.sqlite"


class TokenPlace(Protocol):
    """Keeps the token vectors of points."""

    def keep(self, tokens: Mapping[str, QuantisedText]) -> dict[str, dict[str, Any]]:
        """Take the tokens of some points that are about to be written; what their payload must hold."""
        ...

    def read(self, collection: str, ids: Sequence[str], dimension: int) -> dict[str, QuantisedText]:
        """The tokens of some points; those that are gone are left out."""
        ...

    def drop(self, ids: Sequence[str]) -> None:
        """These points have been removed."""
        ...

    def close(self) -> None:
        """Give back what is open."""
        ...


def quantised_of(tokens: TokenStore, row: int) -> QuantisedText:
    """The bytes of a row, whatever kind of store it is in."""
    if isinstance(tokens, QuantisedTokens | GatheredTokens):
        return tokens.quantised(row)
    found = tokens[row]
    return quantise(found.vectors), found.spans


class PayloadTokens:
    """Tokens in the payload.

    Args:
        connection: Of the server.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def keep(self, tokens: Mapping[str, QuantisedText]) -> dict[str, dict[str, Any]]:
        """See `TokenPlace`."""
        return {
            one: {"tokens": _text(_bytes(values)), "spans": _text(_spans(spans))}
            for one, (values, spans) in tokens.items()
        }

    def read(self, collection: str, ids: Sequence[str], dimension: int) -> dict[str, QuantisedText]:
        """See `TokenPlace`."""
        found = self._connection.call(
            "retrieve", collection_name=collection, ids=list(ids), with_payload=["tokens", "spans"]
        )
        return {
            one.id: _quantised(b64decode(one.payload["tokens"]), b64decode(one.payload["spans"]), dimension)
            for one in found
        }

    def drop(self, ids: Sequence[str]) -> None:
        """They went with their points."""

    def close(self) -> None:
        """Nothing is open."""


class FileTokens:
    """Tokens in a file of SQLite.

    Args:
        folder: Where the file is.
    """

    def __init__(self, folder: Path) -> None:
        self._lock = threading.Lock()
        self._base = sqlite3.connect(folder / _FILE, check_same_thread=False)
        self._base.execute("PRAGMA journal_mode = WAL")
        with self._base:
            self._base.execute(
                "CREATE TABLE IF NOT EXISTS tokens (id TEXT PRIMARY KEY, vectors BLOB, spans BLOB)"
            )

    def keep(self, tokens: Mapping[str, QuantisedText]) -> dict[str, dict[str, Any]]:
        """See `TokenPlace`."""
        rows = [(one, _bytes(values), _spans(spans)) for one, (values, spans) in tokens.items()]
        with self._lock, self._base:
            self._base.executemany("INSERT OR REPLACE INTO tokens VALUES (?, ?, ?)", rows)
        return {}

    def read(self, collection: str, ids: Sequence[str], dimension: int) -> dict[str, QuantisedText]:
        """See `TokenPlace`."""
        found: dict[str, QuantisedText] = {}
        with self._lock:
            for one in ids:
                row = self._base.execute("SELECT vectors, spans FROM tokens WHERE id = ?", (one,)).fetchone()
                if row is not None:
                    found[one] = _quantised(row[0], row[1], dimension)
        return found

    def drop(self, ids: Sequence[str]) -> None:
        """See `TokenPlace`."""
        with self._lock, self._base:
            self._base.executemany("DELETE FROM tokens WHERE id = ?", [(one,) for one in ids])

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._base.close()


def _quantised(values: bytes, spans: bytes, dimension: int) -> QuantisedText:
    return (
        np.frombuffer(values, np.int8).reshape(-1, dimension),
        np.frombuffer(spans, "<i4").reshape(-1, 2).astype(np.int32, copy=False),
    )


def _bytes(values: np.ndarray) -> bytes:
    return np.ascontiguousarray(values).tobytes()


def _spans(spans: np.ndarray) -> bytes:
    return np.ascontiguousarray(spans, dtype="<i4").tobytes()


def _text(data: bytes) -> str:
    return b64encode(data).decode("ascii")
