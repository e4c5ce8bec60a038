"""An embedder behind an OpenAI-compatible server: ``/v1/embeddings``.

It has no token vectors: `Encoded.tokens` is always None, and words take their place
(`pipeline.text.word_tokens`). Tokens are counted by estimate, on the safe side.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from pipeline.embedders.prefixes import PrefixScheme, prefix
from pipeline.embedders.tokenised import unit_rows
from pipeline.errors import RemoteBrokenError, TextTooLongError
from pipeline.messages import Phrase
from pipeline.models.onnx_folder import well_formed
from pipeline.ports import EmbedderSpec, Progress
from pipeline.remote.client import RemoteClient
from pipeline.text.token_estimate import LEAST_SHARE, piece_spans
from pipeline.types import Encoded, FloatMatrix, IntMatrix, Role

__all__ = ["OpenAiEmbedder", "identity_of"]

_PREFIX_TOKENS = 6  # of a prefix and of what a tokenizer puts around a text
_NOTHING = "."  # what an empty text is sent as: OpenAI's own server refuses it, others differ


def identity_of(model: str, scheme: PrefixScheme) -> tuple[str, PrefixScheme]:
    """``spec.id`` and ``spec.prefix_scheme`` of a model, without asking anybody."""
    return f"remote/{model}", scheme


class OpenAiEmbedder:
    """Port ``Embedder``; safe to use from many threads.

    Args:
        client: Sends the requests.
        model: Its name at the server; part of the identity, as its server is not.
        prefix_scheme: What the model wants before texts.
        most_tokens: Of a text, as the server counts them.
        batch: Texts of a request.
        parallel: Requests at once.
        dimension: Of the vectors, where it is known; else one request asks.

    Raises:
        RemoteError: The dimension cannot be asked.
    """

    def __init__(
        self,
        client: RemoteClient,
        model: str,
        *,
        prefix_scheme: PrefixScheme = "none",
        most_tokens: int = 512,
        batch: int = 32,
        parallel: int = 2,
        dimension: int = 0,
    ) -> None:
        self._client = client
        self._model = model
        self._scheme = prefix_scheme
        self._batch = batch
        self._parallel = parallel
        if not dimension:
            dimension = self._ask(["."], None).shape[1]
        limit = max(int((most_tokens - _PREFIX_TOKENS) * LEAST_SHARE), 1)
        self._spec = EmbedderSpec(*_identity(model, dimension, prefix_scheme), limit)

    @property
    def spec(self) -> EmbedderSpec:
        """Who this is."""
        return self._spec

    def encode(
        self,
        texts: Sequence[str],
        role: Role,
        *,
        with_tokens: bool = False,
        progress: Progress | None = None,
    ) -> Encoded:
        """Encode texts; see `pipeline.ports.Embedder`. There are no token vectors.

        Raises:
            TextTooLongError: A text is likely to be longer than the server takes.
            RemoteError: It does not answer, refuses, or answers nonsense.
        """
        del with_tokens
        for text in texts:
            count = len(piece_spans(text))
            if count > self._spec.token_limit:
                raise TextTooLongError(tokens=count, limit=self._spec.token_limit)
        before = prefix(self._scheme, role)
        # NUL characters and lone surrogates have no place in JSON that others read.
        sent = [before + (well_formed(text).replace("\0", "").strip() or _NOTHING) for text in texts]
        batches = [sent[start : start + self._batch] for start in range(0, len(sent), self._batch)]
        told = _Told(progress, len(sent))

        def ask(batch: list[str]) -> FloatMatrix:
            vectors = self._ask(batch, self._spec.dimension)
            told.add(len(batch))
            return vectors

        if len(batches) > 1 and self._parallel > 1:
            with ThreadPoolExecutor(min(self._parallel, len(batches))) as pool:
                parts = list(pool.map(ask, batches))
        else:
            parts = [ask(batch) for batch in batches]
        return Encoded(np.concatenate([np.zeros((0, self._spec.dimension), np.float32), *parts]))

    def token_spans(self, text: str) -> IntMatrix:
        """Ranges that stand in for tokens, whatever the text's length."""
        return piece_spans(text)

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _ask(self, texts: list[str], dimension: int | None) -> FloatMatrix:
        body = {"model": self._model, "input": texts, "encoding_format": "float"}
        reply = self._client.call("/embeddings", body)
        vectors = _vectors(reply.get("data"), len(texts))
        if vectors is None or dimension not in (None, vectors.shape[1]):
            known: dict[str, object] = {"expected": len(texts), "dimension": dimension or "?"}
            url = self._client.status()[0]["url"]
            raise RemoteBrokenError(url=url, reason=Phrase("remote_vectors", known))
        return unit_rows(vectors)


class _Told:
    """Counts texts for a caller, whichever thread is done with some."""

    def __init__(self, progress: Progress | None, total: int) -> None:
        self._progress = progress
        self._total = total
        self._done = 0
        self._lock = threading.Lock()

    def add(self, count: int) -> None:
        with self._lock:
            self._done += count
            if self._progress is not None:
                self._progress(self._done, self._total)


def _identity(model: str, dimension: int, scheme: PrefixScheme) -> tuple[str, int, PrefixScheme]:
    name, scheme = identity_of(model, scheme)
    return name, dimension, scheme


def _vectors(data: object, count: int) -> FloatMatrix | None:
    """float32, (count, dimension), in the order of the texts; None where the reply is no such thing."""
    if not isinstance(data, list) or len(data) != count:
        return None
    rows: list[Any] = [None] * count
    for place, item in enumerate(data):
        index = item.get("index", place) if isinstance(item, dict) else None
        if not isinstance(index, int) or not 0 <= index < count:
            return None
        rows[index] = item.get("embedding")
    try:
        matrix = np.array(rows, dtype=np.float32)
    except (TypeError, ValueError):
        return None
    usable = matrix.ndim == 2 and np.isfinite(matrix).all() and matrix.any(axis=1).all()
    return matrix if usable else None
