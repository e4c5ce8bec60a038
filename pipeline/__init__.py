"""Otvet: question answering over your own documents, on an ordinary laptop."""

import os

__all__ = ["__version__"]

__version__ = "0.1.0"

# Before numpy is imported. Its BLAS would start a thread on every core for products of a fraction of
# a millisecond, and where a language model keeps the cores busy it waits for them up to 300 ms.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# Threads of llama.cpp that wait for each other look 300,000 times before they sleep, unless told otherwise:
# milliseconds at each of 600 places a token, in which they keep the cores from those they wait for when
# another program wants them too. Figures stand in docs/decisions/0013-busy-machine.md.
os.environ.setdefault("GOMP_SPINCOUNT", "1000")
# pydantic looks through all installed packages for plugins of its own: 20 ms of every start.
os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
# onnxruntime (from 1.29) and huggingface_hub report their use over the network unless told not to
# before they are imported. Nothing here ever calls home.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
os.environ["HF_HUB_DISABLE_TELEMETRY"] = "1"
