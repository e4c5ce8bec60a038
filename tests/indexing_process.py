"""Indexing in processes of their own that a test can kill at any moment.

``python indexing_process.py`` reads lines ``[HOME, DELAY]``, forks a process that indexes HOME with
an embedder that needs DELAY seconds a text, and prints its number. After another line, of any
content, it waits for the end of that process and prints its status.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from pipeline.embedders.hash import HashEmbedder
from pipeline.indexing import EmbedderSource, update_index
from pipeline.ports import Embedder, Progress
from pipeline.settings import Settings, load_settings
from pipeline.stores import encode
from pipeline.types import Encoded, Role

__all__ = ["SlowEmbedder", "settings_for", "source_of"]


class SlowEmbedder(HashEmbedder):
    """A `HashEmbedder` that needs some time, and counts its texts."""

    def __init__(self, delay: float = 0.0) -> None:
        super().__init__(dimension=16)
        self.delay = delay
        self.texts = 0

    def encode(
        self, texts: Sequence[str], role: Role, *, with_tokens: bool = False, progress: Progress | None = None
    ) -> Encoded:
        self.texts += len(texts)
        time.sleep(self.delay * len(texts))
        return super().encode(texts, role, with_tokens=with_tokens, progress=progress)


def settings_for(home: Path) -> Settings:
    """Default settings of a home folder."""
    return load_settings({"home": home}, environ={}).settings


def source_of(embedder: Embedder) -> EmbedderSource:
    """An embedder as indexing wants it."""
    return EmbedderSource(embedder.spec.id, embedder.spec.prefix_scheme, lambda: embedder)


def _index(home: str, delay: float) -> None:
    encode._SLICE = 8
    update_index(settings_for(Path(home)), source_of(SlowEmbedder(delay)))


def _tell(value: object) -> None:
    sys.stdout.write(f"{value}\n")
    sys.stdout.flush()


def _serve() -> None:
    _tell("ready")
    for line in sys.stdin:
        child = os.fork()
        if child == 0:
            try:
                _index(*json.loads(line))
            finally:
                os._exit(0 if sys.exc_info()[0] is None else 1)
        _tell(child)
        sys.stdin.readline()  # until then an ended process keeps its number, and may be killed again
        _tell(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    _serve()
