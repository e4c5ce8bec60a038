"""Embedder over onnxruntime and tokenizers alone; the engine that serves."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pipeline.embedders.prefixes import PrefixScheme, guess_scheme
from pipeline.embedders.tokenised import TextTokenizer, Tokenised, unit_rows
from pipeline.models.onnx_folder import (
    OnnxFolder,
    load_tokenizer,
    open_session,
    read_json,
    run_one,
)
from pipeline.ports import EmbedderSpec, Progress
from pipeline.types import Encoded, IntMatrix, Role, TokenVectors

__all__ = ["OnnxEmbedder", "identity_of"]

Pooling = Literal["mean", "cls"]
_Result = tuple[NDArray[np.float32], TokenVectors | None]

# Texts tokenised at a time; bounds the memory of a long run.
_TEXTS_AT_A_TIME = 256


class OnnxEmbedder:
    """An embedder from a folder with ``tokenizer.json``, ``config.json`` and an ONNX file.

    A run takes one text; ``threads`` runs go on at a time, longest first. Padded batches were measured
    and left: at 200 tokens a text they gain nothing on a CPU, and in a dynamically quantised model the
    texts of a batch share one integer scale, so that a vector would depend on its neighbours.

    Safe to use from many threads.

    Args:
        folder: The model.
        threads: Texts encoded at a time, each on one processor thread.
        prefix_scheme: None: what the folder says, else what its name says.

    Raises:
        ModelMissingError: The folder holds no ONNX file or no tokenizer.
        ModelDamagedError: A file cannot be read.
    """

    def __init__(self, folder: Path, *, threads: int, prefix_scheme: PrefixScheme | None = None) -> None:
        model = OnnxFolder.read(folder)
        self._threads = threads
        self._pooling = _pooling(model)
        scheme = prefix_scheme or _scheme(model)
        self._tokenise = TextTokenizer(load_tokenizer(folder), scheme, model.positions)
        # A second thread within a run would wait for the first at each of 200 operators: at the length of
        # questions and passages it gained nothing and cost a tenth more processor time.
        self._session = open_session(model.model, 1)
        # The first run is the slowest, so it may as well happen here; it also tells the dimension.
        probe = self._tokenise("a", "query")
        hidden = run_one(self._session, probe.ids, probe.types)
        self._spec = EmbedderSpec(
            id=model.identity,
            dimension=int(hidden.shape[-1]),
            prefix_scheme=scheme,
            token_limit=self._tokenise.limit,
        )

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
        """Encode texts, each by itself; see `pipeline.ports.Embedder`.

        The vector of a text is the mean over all its tokens, prefix and specials included, as e5 was
        trained (or the first token's, where the folder asks for that).

        Raises:
            TextTooLongError: A text has more than ``spec.token_limit`` tokens.
        """
        vectors = np.zeros((len(texts), self._spec.dimension), np.float32)
        tokens: list[TokenVectors | None] = [None] * len(texts)
        for done, (row, result) in enumerate(self._results(texts, role, with_tokens), start=1):
            vectors[row], tokens[row] = result
            if progress is not None:
                progress(done, len(texts))
        found = tuple(item for item in tokens if item is not None)
        return Encoded(vectors, found if with_tokens else None)

    def token_spans(self, text: str) -> IntMatrix:
        """Character ranges of the text's tokens, whatever its length."""
        return self._tokenise(text, "passage").spans

    def _results(self, texts: Sequence[str], role: Role, with_tokens: bool) -> Iterator[tuple[int, _Result]]:
        if len(texts) == 1 or self._threads == 1:
            for row, text in enumerate(texts):
                yield row, self._run(self._tokenise.checked(text, role), with_tokens)
            return
        with ThreadPoolExecutor(self._threads, "embedder") as pool:
            for first in range(0, len(texts), _TEXTS_AT_A_TIME):
                some = [
                    self._tokenise.checked(text, role) for text in texts[first : first + _TEXTS_AT_A_TIME]
                ]
                order = sorted(range(len(some)), key=lambda at: -len(some[at].ids))
                results = pool.map(self._run, [some[at] for at in order], repeat(with_tokens))
                yield from zip((first + at for at in order), results, strict=True)

    def _run(self, text: Tokenised, with_tokens: bool) -> _Result:
        hidden = run_one(self._session, text.ids, text.types)
        pooled = hidden.mean(axis=0) if self._pooling == "mean" else hidden[0]
        vector = unit_rows(pooled[None])[0]
        return vector, TokenVectors(unit_rows(hidden[text.rows]), text.spans) if with_tokens else None


def identity_of(folder: Path) -> tuple[str, PrefixScheme]:
    """``spec.id`` and ``spec.prefix_scheme`` of the embedder in a folder, without loading it.

    Raises:
        ModelMissingError: The folder holds no ONNX file or no tokenizer.
    """
    model = OnnxFolder.read(folder)
    return model.identity, _scheme(model)


def _scheme(model: OnnxFolder) -> PrefixScheme:
    said = model.own.get("prefix_scheme")
    if said is not None:
        return "e5" if said == "e5" else "none"
    return guess_scheme(f"{model.config.get('_name_or_path', '')}/{model.path.resolve().name}")


def _pooling(model: OnnxFolder) -> Pooling:
    if "pooling" in model.own:
        return "cls" if model.own["pooling"] == "cls" else "mean"
    # Where sentence-transformers keeps it.
    return (
        "cls" if read_json(model.path / "1_Pooling" / "config.json").get("pooling_mode_cls_token") else "mean"
    )
