"""Cross-encoder over sentence-transformers (extra ``torch``): any model of the hub or from a folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ExtraMissingError, ModelMissingError
from pipeline.models.onnx_folder import usable_positions
from pipeline.rerankers.empty_passages import score_with_text
from pipeline.rerankers.pairs import Pair, PairTokenizer
from pipeline.rerankers.windows import relevance, score_windows

__all__ = ["SentenceTransformersCrossEncoder"]

_PAIRS_AT_A_TIME = 8


class SentenceTransformersCrossEncoder:
    """The reference engine. It never reaches for the network: what is not on the disk is missing.

    Scores are logits, as those of `OnnxCrossEncoder`, and long and empty passages go the same way.

    Args:
        model: A folder, or a name that is in the hub's cache.
        threads: Processor threads of torch, a setting of the whole process.

    Raises:
        ExtraMissingError: sentence-transformers is not installed.
        ModelMissingError: There is no such model on the disk.
    """

    def __init__(self, model: Path | str, *, threads: int) -> None:
        try:
            import torch
            from sentence_transformers import CrossEncoder
        except ImportError as error:
            raise ExtraMissingError(package="sentence-transformers", extra="torch") from error
        torch.set_num_threads(threads)
        try:
            self._model = CrossEncoder(str(model), device="cpu", local_files_only=True).float().eval()
        except OSError as error:
            raise ModelMissingError(model=model) from error
        tokenizer = self._model.tokenizer.backend_tokenizer
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True
        self._pairs = PairTokenizer(tokenizer, usable_positions(self._model.config.to_dict()))

    @property
    def name(self) -> str:
        """The stage name."""
        return "cross_encoder"

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """One logit a passage, (passages,); see `OnnxCrossEncoder.score`."""
        return score_with_text(passages, lambda texts: self._score(question, texts))

    def _score(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        return score_windows([self._pairs(question, passage) for passage in passages], self._run)

    def _run(self, pairs: Sequence[Pair]) -> list[float]:
        order = sorted(range(len(pairs)), key=lambda at: -len(pairs[at].ids))
        found: dict[int, float] = {}
        for first in range(0, len(order), _PAIRS_AT_A_TIME):
            batch = order[first : first + _PAIRS_AT_A_TIME]
            logits = self._logits([pairs[at] for at in batch])
            found.update(zip(batch, map(relevance, logits), strict=True))
        return [found[at] for at in range(len(pairs))]

    def _logits(self, pairs: Sequence[Pair]) -> NDArray[np.float32]:
        """(pairs, labels)."""
        import torch

        shape = (len(pairs), max(len(pair.ids) for pair in pairs))
        features = {
            "input_ids": torch.full(shape, self._model.tokenizer.pad_token_id or 0),
            "attention_mask": torch.zeros(shape, dtype=torch.long),
            "token_type_ids": torch.zeros(shape, dtype=torch.long),
        }
        for row, pair in enumerate(pairs):
            for name, values in (("input_ids", pair.ids), ("token_type_ids", pair.types)):
                features[name][row, : len(values)] = torch.from_numpy(values)
            features["attention_mask"][row, : len(pair.ids)] = 1
        if "token_type_ids" not in self._model.tokenizer.model_input_names:
            del features["token_type_ids"]
        with torch.inference_mode():
            return np.asarray(self._model.model(**features).logits.numpy(), dtype=np.float32)
