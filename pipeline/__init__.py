"""Otvet: question answering over your own documents, on an ordinary laptop."""

import os

__all__ = ["__version__"]

__version__ = "0.1.0"

# Before numpy is imported. Its BLAS would start a thread on every core for products of a fraction of
# a millisecond, and where a language model keeps the cores busy it waits for them up to 300 ms.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# pydantic looks through all installed packages for plugins of its own: 20 ms of every start.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
