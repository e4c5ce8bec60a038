"""One GGUF model and one context of llama.cpp, through its C interface.

The high-level ``Llama`` class of llama-cpp-python hides the parameters that decide the speed on a CPU
(weight repacking above all), so this talks to the structures below it. Tokens in, logits out: what
a conversation is, is known to ``llama_cpp`` next door.
"""

from __future__ import annotations

import ctypes
import logging
import os
import threading
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import GeneratorError, ModelDamagedError, ModelMissingError
from pipeline.messages import Phrase

__all__ = ["EngineOptions", "LlamaEngine"]

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """What decides speed and memory on a given CPU; none of it changes what a model knows.

    Attributes:
        repack: Let llama.cpp rearrange the weights at load. Costs memory and start-up time; wins on
            some CPUs and loses a third of the prompt speed on others.
        flash_attention: Use the fused attention kernel.
        use_mmap: Map the file instead of reading it; pages are shared and loaded on first use.
        n_batch: Prompt tokens a call; also how often a long prompt notices that it was cancelled.
        n_ubatch: Tokens computed at once, at most ``n_batch``.
    """

    repack: bool = False
    flash_attention: bool = True
    use_mmap: bool = True
    n_batch: int = 256
    n_ubatch: int = 256


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
        self._api = api = _library()
        self._model = api.llama_model_load_from_file(os.fsencode(path), _model_params(api, options))
        if not self._model:
            reason = Phrase("generator_unloadable", {"detail": _last_complaint()})
            raise ModelDamagedError(path=str(path), reason=reason)
        self._context = api.llama_init_from_model(
            self._model, _context_params(api, context_tokens, threads, options)
        )
        if not self._context:
            api.llama_model_free(self._model)
            raise GeneratorError(reason=Phrase("generator_no_context", {"detail": _last_complaint()}))
        self._free = weakref.finalize(self, _free, api, self._context, self._model)
        self._vocab = api.llama_model_get_vocab(self._model)
        self._memory = api.llama_get_memory(self._context)
        self._tokenizing = threading.Lock()
        self.vocabulary_size = int(api.llama_vocab_n_tokens(self._vocab))
        self.context_tokens = int(api.llama_n_ctx(self._context))
        self.n_batch = options.n_batch

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
        if self._api.llama_memory_seq_rm(self._memory, 0, tokens, -1):
            return tokens
        self._api.llama_memory_clear(self._memory, True)
        return 0

    def evaluate(self, tokens: Sequence[int]) -> None:
        """Append at most ``n_batch`` tokens to the sequence.

        Raises:
            GeneratorError: llama.cpp refused them.
        """
        array = (ctypes.c_int32 * len(tokens))(*tokens)
        code = self._api.llama_decode(self._context, self._api.llama_batch_get_one(array, len(tokens)))
        if code != 0:
            detail = _last_complaint()
            raise GeneratorError(reason=Phrase("generator_refused", {"code": code, "detail": detail}))

    def logits(self) -> NDArray[np.float32]:
        """Scores of the next token after the last ``evaluate``: float32, shape (vocabulary,), a view."""
        pointer = self._api.llama_get_logits_ith(self._context, -1)
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

    def sample(self, sampler: Any) -> int:  # noqa: ANN401 - a pointer of the library
        """The next token."""
        return int(self._api.llama_sampler_sample(sampler, self._context, -1))


def _free(api: Any, context: Any, model: Any) -> None:  # noqa: ANN401
    api.llama_free(context)
    api.llama_model_free(model)


def _model_params(api: Any, options: EngineOptions) -> Any:  # noqa: ANN401
    params = api.llama_model_default_params()
    params.use_extra_bufts = options.repack
    params.load_mode = api.LLAMA_LOAD_MODE_MMAP if options.use_mmap else api.LLAMA_LOAD_MODE_NONE
    params.n_gpu_layers = 0
    return params


def _context_params(api: Any, context_tokens: int, threads: int, options: EngineOptions) -> Any:  # noqa: ANN401
    params = api.llama_context_default_params()
    params.n_ctx = context_tokens
    params.n_batch = options.n_batch
    params.n_ubatch = min(options.n_ubatch, options.n_batch)
    params.n_threads = params.n_threads_batch = threads
    params.flash_attn_type = (
        api.LLAMA_FLASH_ATTN_TYPE_ENABLED if options.flash_attention else api.LLAMA_FLASH_ATTN_TYPE_DISABLED
    )
    return params


@cache
def _library() -> Any:  # noqa: ANN401
    """The library, set up once for the process: backend started, log sent to ``logging``."""
    import llama_cpp

    llama_cpp.llama_log_set(_log_callback(llama_cpp), None)
    llama_cpp.llama_backend_init()
    return llama_cpp


_complaints: list[str] = []


def _last_complaint() -> str:
    """The library's last error line, said once."""
    return _complaints.pop() if _complaints else ""


@cache
def _log_callback(api: Any) -> Any:  # noqa: ANN401
    # Kept by the cache for the life of the process: the library calls it until the very end.
    # Its warnings are remarks on the model file that no user can act on; its errors come back as results.
    levels = {1: logging.DEBUG, 2: logging.DEBUG, 3: logging.INFO, 4: logging.WARNING}

    @api.llama_log_callback  # type: ignore[untyped-decorator]
    def log(level: int, text: bytes, _data: object) -> None:
        line = text.decode("utf-8", errors="replace").strip()
        if level in (3, 4):  # a failed load says why in a warning as often as in an error
            _complaints[:] = [line]
        if line.strip("."):
            logger.log(levels.get(level, logging.DEBUG), "%s", line)

    return log
