"""A grammar that an answer must follow, in llama.cpp's notation (GBNF).

To ask the grammar about every token of a vocabulary costs tens of milliseconds; to ask it about the one
token that the model would say anyway costs nothing. So the model speaks first, and only where the grammar
refuses its word are all others looked at.
"""

from __future__ import annotations

import ctypes
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import GeneratorError
from pipeline.messages import Phrase

__all__ = ["Grammar"]


class Grammar:
    """The state of one answer that follows a grammar from its rule ``root`` on.

    Args:
        api: llama.cpp's library.
        vocabulary: The model's vocabulary.
        text: The grammar.

    Raises:
        GeneratorError: llama.cpp does not understand the grammar.
    """

    def __init__(self, api: Any, vocabulary: Any, text: str) -> None:  # noqa: ANN401 - of the library
        self._api = api
        self._sampler = api.llama_sampler_init_grammar(vocabulary, text.encode(), b"root")
        if not self._sampler:
            raise GeneratorError(reason=Phrase("generator_grammar"))
        self._free = weakref.finalize(self, api.llama_sampler_free, self._sampler)

    def close(self) -> None:
        """Free it; nothing else may be called afterwards."""
        self._free()

    def allows(self, token: int) -> bool:
        """Whether this token may come next."""
        return bool(np.isfinite(self._judged(np.array([token], np.int32), np.zeros(1, np.float32))[0]))

    def best(self, logits: NDArray[np.float32]) -> int:
        """The likeliest token that may come next."""
        return int(self._judged(np.arange(len(logits), dtype=np.int32), logits).argmax())

    def accept(self, token: int) -> None:
        """This token came."""
        self._api.llama_sampler_accept(self._sampler, token)

    def _judged(self, tokens: NDArray[np.int32], logits: NDArray[np.float32]) -> NDArray[np.float32]:
        """The scores of tokens, those that may not come at minus infinity."""
        data = np.zeros(len(tokens), dtype=[("id", "i4"), ("logit", "f4"), ("p", "f4")])
        data["id"], data["logit"] = tokens, logits
        api = self._api
        pointer = data.ctypes.data_as(ctypes.POINTER(api.llama_token_data))
        array = api.llama_token_data_array(pointer, len(data), -1, False)
        api.llama_sampler_apply(self._sampler, ctypes.byref(array))
        return np.asarray(data["logit"])
