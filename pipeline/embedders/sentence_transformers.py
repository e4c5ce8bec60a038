"""Embedder over sentence-transformers (extra ``torch``): any model of the hub or from a folder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pipeline.embedders.prefixes import PrefixScheme, guess_scheme
from pipeline.embedders.tokenised import TextTokenizer, Tokenised, unit_rows
from pipeline.errors import ExtraMissingError, ModelMissingError
from pipeline.models.onnx_folder import usable_positions
from pipeline.ports import EmbedderSpec, Progress
from pipeline.types import Encoded, FloatMatrix, IntMatrix, Role, TokenVectors

if TYPE_CHECKING:
    from sentence_transformers import SentenceTransformer
    from tokenizers import Tokenizer

__all__ = ["SentenceTransformersEmbedder", "identity_of"]

# Tokens of a padded batch. Torch needs batches to be fast, and fp32 texts do not influence each other.
_TOKENS_AT_A_TIME = 4096
_TEXTS_AT_A_TIME = 256


class SentenceTransformersEmbedder:
    """The reference engine. It never reaches for the network: what is not on the disk is missing.

    Pooling is the model's own, and so are the vectors but for their length, which is always 1.

    Args:
        model: A folder, or a name that is in the hub's cache.
        threads: Processor threads of torch, a setting of the whole process.
        prefix_scheme: None: what the model's name says.

    Raises:
        ExtraMissingError: sentence-transformers is not installed.
        ModelMissingError: There is no such model on the disk.
    """

    def __init__(self, model: Path | str, *, threads: int, prefix_scheme: PrefixScheme | None = None) -> None:
        try:
            import torch
            from sentence_transformers import SentenceTransformer
        except ImportError as error:
            raise ExtraMissingError(package="sentence-transformers", extra="torch") from error
        torch.set_num_threads(threads)
        try:
            self._model = SentenceTransformer(str(model), device="cpu", local_files_only=True).float().eval()
        except OSError as error:
            raise ModelMissingError(model=model) from error
        identity, guessed = identity_of(model)
        scheme = prefix_scheme or guessed
        self._tokenise = TextTokenizer(_plain_tokenizer(self._model), scheme, _positions(self._model))
        self._spec = EmbedderSpec(
            id=identity,
            dimension=int(self._forward([self._tokenise("a", "query")])[0].shape[1]),
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
        """Encode texts in batches of like length; see `pipeline.ports.Embedder`.

        Raises:
            TextTooLongError: A text has more than ``spec.token_limit`` tokens.
        """
        vectors = np.zeros((len(texts), self._spec.dimension), np.float32)
        tokens: list[TokenVectors | None] = [None] * len(texts)
        done = 0
        for first in range(0, len(texts), _TEXTS_AT_A_TIME):
            some = [self._tokenise.checked(text, role) for text in texts[first : first + _TEXTS_AT_A_TIME]]
            for batch in _batches([len(text.ids) for text in some]):
                pooled, hidden = self._forward([some[at] for at in batch])
                rows = [first + at for at in batch]
                vectors[rows] = unit_rows(pooled)
                for row, at, states in zip(rows, batch, hidden, strict=True):
                    if with_tokens:
                        tokens[row] = TokenVectors(unit_rows(states[some[at].rows]), some[at].spans)
                done += len(batch)
                if progress is not None:
                    progress(done, len(texts))
        found = tuple(item for item in tokens if item is not None)
        return Encoded(vectors, found if with_tokens else None)

    def token_spans(self, text: str) -> IntMatrix:
        """Character ranges of the text's tokens, whatever its length."""
        return self._tokenise(text, "passage").spans

    def _forward(self, texts: Sequence[Tokenised]) -> tuple[FloatMatrix, NDArray[np.float32]]:
        """Sentence vectors (texts, dimension) and last hidden states (texts, longest, dimension)."""
        import torch

        longest = max(len(text.ids) for text in texts)
        padding = self._model.tokenizer.pad_token_id or 0
        features = {
            "input_ids": torch.full((len(texts), longest), padding),
            "attention_mask": torch.zeros((len(texts), longest), dtype=torch.long),
        }
        if "token_type_ids" in self._model.tokenizer.model_input_names:
            features["token_type_ids"] = torch.zeros((len(texts), longest), dtype=torch.long)
        for row, text in enumerate(texts):
            features["input_ids"][row, : len(text.ids)] = torch.from_numpy(text.ids)
            features["attention_mask"][row, : len(text.ids)] = 1
        with torch.inference_mode():
            output = self._model(features)
        return output["sentence_embedding"].numpy(), output["token_embeddings"].numpy()


def identity_of(model: Path | str) -> tuple[str, PrefixScheme]:
    """``spec.id`` and ``spec.prefix_scheme`` of a model's embedder, without loading it."""
    name = model.resolve().name if isinstance(model, Path) else model
    return f"{name}/fp32", guess_scheme(name)


def _batches(lengths: Sequence[int]) -> Iterator[list[int]]:
    """Row numbers, longest first, in groups whose padded size stays within the budget."""
    batch: list[int] = []
    for row in sorted(range(len(lengths)), key=lambda at: -lengths[at]):
        if batch and lengths[batch[0]] * (len(batch) + 1) > _TOKENS_AT_A_TIME:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch


def _plain_tokenizer(model: SentenceTransformer) -> Tokenizer:
    tokenizer: Tokenizer = model.tokenizer.backend_tokenizer
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def _positions(model: SentenceTransformer) -> int:
    config = model[0].auto_model.config.to_dict()
    return min(usable_positions(config), model.get_max_seq_length() or usable_positions(config))
