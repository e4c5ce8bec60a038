"""Cross-encoder over onnxruntime: question and passage read together by one model."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.models.onnx_folder import OnnxFolder, load_tokenizer, open_session, run_one
from pipeline.rerankers.empty_passages import score_with_text
from pipeline.rerankers.pairs import Pair, PairTokenizer
from pipeline.rerankers.windows import relevance, score_windows

__all__ = ["OnnxCrossEncoder"]


class OnnxCrossEncoder:
    """A reranker from a folder with ``tokenizer.json`` and an ONNX file (BERT or XLM-RoBERTa).

    Scores are logits. Every run takes one pair, for the reasons given in `pipeline.embedders.onnx`;
    ``threads`` runs go on at a time. Safe to use from many threads.

    Args:
        folder: The model.
        threads: Processor threads to use.

    Raises:
        ModelMissingError: The folder holds no ONNX file or no tokenizer.
        ModelDamagedError: A file cannot be read.
    """

    def __init__(self, folder: Path, *, threads: int) -> None:
        model = OnnxFolder.read(folder)
        self._threads = threads
        self._pairs = PairTokenizer(load_tokenizer(folder), model.positions)
        self._session = open_session(model.model, threads)

    @property
    def name(self) -> str:
        """The stage name."""
        return "cross_encoder"

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """One logit a passage, (passages,); see `pipeline.ports.Reranker`.

        A passage too long for one run scores as its best window; one without text as
        `score_with_text` says.
        """
        return score_with_text(passages, lambda texts: self._score(question, texts))

    def _score(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        windows = [self._pairs(question, passage) for passage in passages]
        with ThreadPoolExecutor(self._threads, "cross-encoder") as pool:
            return score_windows(windows, lambda pairs: list(pool.map(self._run, pairs)))

    def _run(self, pair: Pair) -> float:
        return relevance(run_one(self._session, pair.ids, pair.types))
