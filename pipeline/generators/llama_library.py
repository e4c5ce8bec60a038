"""llama.cpp's library, set up once for the process, and its parameter structures."""

from __future__ import annotations

import ctypes
import logging
import sys
import weakref
from functools import cache
from typing import Any

from pipeline.generators.engine_options import EngineOptions

__all__ = ["StopFlag", "context_params", "last_complaint", "library", "model_params"]

logger = logging.getLogger(__name__)

WORKING_SEQUENCE, PARKED_SEQUENCE = 0, 1
"""The sequence that is written, and the one through which parts of it are saved and restored."""


_stopped: weakref.WeakSet[StopFlag] = weakref.WeakSet()


class StopFlag:
    """Makes llama.cpp stop within one operation of its graph, from any thread.

    The library asks a C function again and again. Were that Python, every question would need the
    interpreter's lock; ``strlen`` of a one-byte text answers 0 or 1 without it.
    """

    def __init__(self, api: Any) -> None:  # noqa: ANN401
        self._text = ctypes.create_string_buffer(2)
        runtime = ctypes.CDLL("msvcrt") if sys.platform == "win32" else ctypes.CDLL(None)
        self._asked = ctypes.cast(runtime.strlen, api.ggml_abort_callback)

    def attach(self, api: Any, context: Any) -> None:  # noqa: ANN401
        """Have a context ask this flag."""
        api.llama_set_abort_callback(context, self._asked, ctypes.cast(self._text, ctypes.c_void_p))

    def set(self) -> None:
        """Stop now."""
        _stopped.add(self)
        self._text.value = b"1"

    def clear(self) -> None:
        """Go on from here."""
        self._text.value = b""
        _stopped.discard(self)


def model_params(api: Any, options: EngineOptions) -> Any:  # noqa: ANN401
    """How to load a model."""
    params = api.llama_model_default_params()
    params.use_extra_bufts = options.repack
    params.load_mode = api.LLAMA_LOAD_MODE_MMAP if options.use_mmap else api.LLAMA_LOAD_MODE_NONE
    params.n_gpu_layers = 0
    return params


def context_params(api: Any, context_tokens: int, threads: int, options: EngineOptions) -> Any:  # noqa: ANN401
    """A context of two sequences that share its room."""
    params = api.llama_context_default_params()
    params.n_ctx = context_tokens
    params.n_batch = options.n_batch
    params.n_ubatch = min(options.n_ubatch, options.n_batch)
    params.n_seq_max = 2
    params.kv_unified = True
    params.n_threads = params.n_threads_batch = threads
    params.flash_attn_type = (
        api.LLAMA_FLASH_ATTN_TYPE_ENABLED if options.flash_attention else api.LLAMA_FLASH_ATTN_TYPE_DISABLED
    )
    return params


@cache
def library() -> Any:  # noqa: ANN401
    """The library, set up once for the process: backend started, log sent to ``logging``."""
    import llama_cpp

    llama_cpp.llama_log_set(_log_callback(llama_cpp), None)
    llama_cpp.llama_backend_init()
    return llama_cpp


_complaints: list[str] = []


def last_complaint() -> str:
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
        if _stopped:  # what was stopped on purpose is a failure to the library
            level = 1
        if level in (3, 4):  # a failed load says why in a warning as often as in an error
            _complaints[:] = [line]
        if line.strip("."):
            logger.log(levels.get(level, logging.DEBUG), "%s", line)

    return log
