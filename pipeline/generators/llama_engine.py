"""One GGUF model and one context of llama.cpp, through its C interface.

The high-level ``Llama`` class of llama-cpp-python hides the parameters that decide the speed on a CPU
(weight repacking above all), so this talks to the structures below it. Tokens in, logits out: what
a conversation is, is known to ``llama_cpp`` next door.
"""

from __future__ import annotations

import ctypes
import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import GeneratorError, ModelDamagedError, ModelMissingError
from pipeline.generators.engine_options import EngineOptions
from pipeline.generators.grammar import Grammar
from pipeline.generators.llama_library import (
    PARKED_SEQUENCE,
    WORKING_SEQUENCE,
    StopFlag,
    context_params,
    last_complaint,
    library,
    model_params,
)
from pipeline.messages import Phrase

__all__ = ["EngineOptions", "LlamaEngine"]

_ABORTED = 2


class LlamaEngine:
    """A loaded model with one sequence in its KV cache. Not thread-safe, but for ``tokenize``.

    Args:
        path: The GGUF file. Letters outside ASCII are fine on every system: the name is handed over as
            UTF-8, which llama.cpp turns into a wide name on Windows.
        context_tokens: Prompt and answer together.
        threads: Threads for prompt and answer; the library's own default is not used.
        options: See ``EngineOptions``.

    Raises:
        ModelMissingError: There is no such file.
        ModelDamagedError: The file is not a model this library can load.
        GeneratorError: The context could not be made, usually for want of memory.
    """

    def __init__(self, path: Path, context_tokens: int, threads: int, options: EngineOptions) -> None:
        if not path.is_file():
            raise ModelMissingError(model=path.name)
        self._api = api = library()
        self._model = api.llama_model_load_from_file(os.fsencode(path), model_params(api, options))
        if not self._model:
            reason = Phrase("generator_unloadable", {"detail": last_complaint()})
            raise ModelDamagedError(path=str(path), reason=reason)
        self._context = api.llama_init_from_model(
            self._model, context_params(api, context_tokens, threads, options)
        )
        if not self._context:
            api.llama_model_free(self._model)
            raise GeneratorError(reason=Phrase("generator_no_context", {"detail": last_complaint()}))
        self._free = weakref.finalize(self, _free, api, self._context, self._model)
        self._vocab = api.llama_model_get_vocab(self._model)
        self._memory = api.llama_get_memory(self._context)
        self._tokenizing = threading.Lock()
        self.vocabulary_size = int(api.llama_vocab_n_tokens(self._vocab))
        self.context_tokens = int(api.llama_n_ctx(self._context))
        self.n_batch = options.n_batch
        # What slides over its window, or sums everything up in one state, cannot be cut out of the middle;
        # nor can the part of a step that was read before an interrupt be taken back.
        self.can_park = not (
            api.llama_model_n_swa(self._model)
            or api.llama_model_is_recurrent(self._model)
            or api.llama_model_is_hybrid(self._model)
        )
        self._stop = StopFlag(api)
        if self.can_park:
            self._stop.attach(api, self._context)

    def close(self) -> None:
        """Free model and context; nothing else may be called afterwards."""
        with self._tokenizing:
            self._free()

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """Token ids of a text; control tokens are read as such only with ``special``. Thread-safe.

        Raises:
            GeneratorError: The engine was closed.
        """
        data = text.encode("utf-8", errors="replace")
        room = len(data) + 8
        buffer = (ctypes.c_int32 * room)()
        with self._tokenizing:
            if not self._free.alive:
                raise GeneratorError(reason=Phrase("generator_closed"))
            count = self._api.llama_tokenize(self._vocab, data, len(data), buffer, room, False, special)
        return list(buffer[:count])

    def opening_tokens(self) -> list[int]:
        """The beginning-of-text token, for models that want one."""
        if not self._api.llama_vocab_get_add_bos(self._vocab):
            return []
        return [int(self._api.llama_vocab_bos(self._vocab))]

    def piece(self, token: int) -> bytes:
        """Bytes of a token, which may be part of a character; none for a control token."""
        size = 64
        while True:
            buffer = ctypes.create_string_buffer(size)
            count = self._api.llama_token_to_piece(self._vocab, token, buffer, size, 0, False)
            if count >= 0:
                return buffer.raw[:count]
            size = -count

    def ends_text(self, token: int) -> bool:
        """True for the vocabulary's own end-of-generation tokens."""
        return bool(self._api.llama_vocab_is_eog(self._vocab, token))

    def metadata(self, key: str) -> str:
        """A text of the file's header, empty when it has none of that name."""
        size = 1 << 16
        buffer = ctypes.create_string_buffer(size)
        count = self._api.llama_model_meta_val_str(self._model, key.encode(), buffer, size)
        return "" if count < 0 else buffer.value.decode("utf-8", errors="replace")

    def keep(self, tokens: int) -> int:
        """Forget everything in the KV cache after the first ``tokens``; returns how many stay.

        Some architectures cannot forget a part: then all goes, and 0 is returned.
        """
        if self._api.llama_memory_seq_rm(self._memory, WORKING_SEQUENCE, tokens, -1):
            return tokens
        self._api.llama_memory_clear(self._memory, True)
        return 0

    def save(self, start: int, end: int) -> NDArray[np.uint8]:
        """A copy of what the KV cache holds of the tokens from ``start`` up to ``end``; see ``restore``."""
        api, context = self._api, self._context
        api.llama_memory_seq_cp(self._memory, WORKING_SEQUENCE, PARKED_SEQUENCE, start, end)
        state = np.empty(api.llama_state_seq_get_size(context, PARKED_SEQUENCE), np.uint8)
        size = api.llama_state_seq_get_data(context, _bytes_of(state), state.nbytes, PARKED_SEQUENCE)
        api.llama_memory_seq_rm(self._memory, PARKED_SEQUENCE, -1, -1)
        return state[:size]

    def restore(self, state: NDArray[np.uint8]) -> bool:
        """Append what ``save`` copied; the cache must end where that begins. False when it does not fit."""
        api, context = self._api, self._context
        done = api.llama_state_seq_set_data(context, _bytes_of(state), state.nbytes, PARKED_SEQUENCE)
        if done:
            api.llama_memory_seq_cp(self._memory, PARKED_SEQUENCE, WORKING_SEQUENCE, -1, -1)
        api.llama_memory_seq_rm(self._memory, PARKED_SEQUENCE, -1, -1)
        return bool(done)

    def interrupt(self) -> None:
        """Have a running ``evaluate`` return at once, if ``can_park``. Callable from any thread."""
        self._stop.set()

    def resume(self) -> None:
        """Forget an ``interrupt``."""
        self._stop.clear()

    def evaluate(self, tokens: Sequence[int], *, every: bool = False) -> bool:
        """Append at most ``n_batch`` tokens to the sequence.

        Args:
            tokens: What follows.
            every: Keep the scores after each of the tokens, for ``logits``, and not of the last one only.

        Returns:
            False when it was interrupted; some of the tokens may be in the sequence then, ``keep`` tells.

        Raises:
            GeneratorError: llama.cpp refused them.
        """
        count = len(tokens)
        array = (ctypes.c_int32 * count)(*tokens)
        batch = self._api.llama_batch_get_one(array, count)
        if every:
            batch.logits = (ctypes.c_int8 * count)(*[1] * count)
        code = self._api.llama_decode(self._context, batch)
        if code == _ABORTED:
            return False
        if code != 0:
            detail = last_complaint()
            raise GeneratorError(reason=Phrase("generator_refused", {"code": code, "detail": detail}))
        return True

    def logits(self, place: int = -1) -> NDArray[np.float32]:
        """Scores of the next token after the last ``evaluate``: float32, shape (vocabulary,), a view.

        Args:
            place: After which of its tokens; others than the last one only where ``every`` was asked for.
        """
        pointer = self._api.llama_get_logits_ith(self._context, place)
        return np.ctypeslib.as_array(pointer, shape=(self.vocabulary_size,))

    @contextmanager
    def sampler(self, temperature: float, seed: int) -> Iterator[Any]:
        """A chooser for ``sample``: the likeliest token at temperature 0, else top-k, top-p, temperature."""
        api = self._api
        chain = api.llama_sampler_chain_init(api.llama_sampler_chain_default_params())
        if temperature <= 0:
            api.llama_sampler_chain_add(chain, api.llama_sampler_init_greedy())
        else:
            api.llama_sampler_chain_add(chain, api.llama_sampler_init_top_k(40))
            api.llama_sampler_chain_add(chain, api.llama_sampler_init_top_p(0.95, 1))
            api.llama_sampler_chain_add(chain, api.llama_sampler_init_temp(temperature))
            api.llama_sampler_chain_add(chain, api.llama_sampler_init_dist(seed))
        try:
            yield chain
        finally:
            api.llama_sampler_free(chain)

    def sample(self, sampler: Any, grammar: Grammar | None = None) -> int:  # noqa: ANN401 - a pointer
        """The next token; where the grammar refuses it, the likeliest one that the grammar allows."""
        token = int(self._api.llama_sampler_sample(sampler, self._context, -1))
        if grammar is not None:
            if not grammar.allows(token):
                token = grammar.best(self.logits())
            grammar.accept(token)
        return token

    @contextmanager
    def following(self, grammar: str) -> Iterator[Grammar | None]:
        """A grammar for ``sample``; None for an empty one.

        Raises:
            GeneratorError: It is not understood.
        """
        if not grammar:
            yield None
            return
        found = Grammar(self._api, self._vocab, grammar)
        try:
            yield found
        finally:
            found.close()


def _free(api: Any, context: Any, model: Any) -> None:  # noqa: ANN401
    api.llama_free(context)
    api.llama_model_free(model)


def _bytes_of(state: NDArray[np.uint8]) -> Any:  # noqa: ANN401
    return state.ctypes.data_as(ctypes.POINTER(ctypes.c_uint8))
