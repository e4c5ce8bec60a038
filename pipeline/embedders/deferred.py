"""An embedder that is loaded when something has to be encoded, and not before."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pipeline.errors import IndexMismatchError
from pipeline.lazy import Lazy
from pipeline.messages import Phrase
from pipeline.ports import Embedder, EmbedderSpec, Progress
from pipeline.types import Encoded, IntMatrix, Role

__all__ = ["DeferredEmbedder"]


class DeferredEmbedder:
    """See `pipeline.ports.Embedder`.

    Args:
        load: Makes the embedder.
        spec: What it will say of itself; None loads it as soon as that is asked for.
    """

    def __init__(self, load: Callable[[], Embedder], spec: EmbedderSpec | None = None) -> None:
        self._loaded = Lazy(load)
        self._spec = spec

    @property
    def spec(self) -> EmbedderSpec:
        """Who this is."""
        return self._spec or self._loaded.get().spec

    def encode(
        self,
        texts: Sequence[str],
        role: Role,
        *,
        with_tokens: bool = False,
        progress: Progress | None = None,
    ) -> Encoded:
        """Load and encode.

        Raises:
            IndexMismatchError: The embedder is not the expected one.
        """
        return self._checked().encode(texts, role, with_tokens=with_tokens, progress=progress)

    def token_spans(self, text: str) -> IntMatrix:
        """Load and tokenise; raises as ``encode``."""
        return self._checked().token_spans(text)

    def _checked(self) -> Embedder:
        embedder = self._loaded.get()
        if self._spec is not None and embedder.spec != self._spec:
            what = Phrase("index_what_embedder")
            raise IndexMismatchError(what=what, found=self._spec, expected=embedder.spec)
        return embedder
