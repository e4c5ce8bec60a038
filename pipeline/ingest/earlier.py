"""What of an earlier index can be taken over into a new one, as far as both are made alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipeline.index import Index, Manifest, Postings
from pipeline.ingest.manifest import spec_of
from pipeline.messages import Phrase
from pipeline.stores.known_chunks import KnownChunks
from pipeline.stores.token_store import GatheredTokens, QuantisedTokens
from pipeline.text.postings import chunk_postings, renewed_postings
from pipeline.types import Chunk, Document

__all__ = ["EarlierIndex", "difference"]

_WHAT = (
    ("embedder", "embedder_id"),
    ("dimension", "dimension"),
    ("prefixes", "prefix_scheme"),
)


class EarlierIndex:
    """An earlier index beside the manifest of a new one.

    Args:
        index: As loaded or built.
        manifest: Of the new index.
    """

    def __init__(self, index: Index, manifest: Manifest) -> None:
        tokens = index.tokens
        if not isinstance(tokens, QuantisedTokens | GatheredTokens):
            raise TypeError(type(tokens).__name__)
        index = replace(index, chunks=tuple(index.chunks))  # all are looked at several times
        self._index = index
        self._known = KnownChunks(index, tokens)
        self._cuts: dict[str, list[Chunk]] = {}
        if _cut_alike(index.manifest, manifest):
            for chunk in index.chunks:
                self._cuts.setdefault(chunk.document_id, []).append(chunk)
        self._counted_alike = _same(index.manifest, manifest, "terms_version")
        self.vectors = self._known if _encoded_alike(index.manifest, manifest) else None

    def chunks_of(self, document: Document) -> list[Chunk] | None:
        """The chunks of a document that was the same in every field, or None where it has to be cut."""
        if self._index.documents.get(document.id) == document:
            return self._cuts.get(document.id)
        return None

    def postings(self, chunks: Sequence[Chunk]) -> Postings:
        """Postings of the new chunks."""
        if not self._counted_alike:
            return chunk_postings(chunks)
        return renewed_postings(chunks, self._index.postings, [self._known.row(chunk) for chunk in chunks])

    def removed(self, chunks: Sequence[Chunk]) -> int:
        """How many of its chunks are not among the new ones."""
        return len({chunk.id for chunk in self._index.chunks} - {chunk.id for chunk in chunks})


def difference(earlier: Manifest, manifest: Manifest) -> Phrase | None:
    """What makes an earlier index of no use for a new one, by name."""
    for what, field in _WHAT:
        found, expected = getattr(earlier, field), getattr(manifest, field)
        if found != expected:
            return Phrase(f"index_differs_{what}", {"found": found, "expected": expected})
    for name in sorted(earlier.chunker.keys() | manifest.chunker.keys()):
        found, expected = earlier.chunker.get(name, "—"), manifest.chunker.get(name, "—")
        if found != expected:
            return Phrase("index_differs_chunker", {"name": name, "found": found, "expected": expected})
    return None


def _cut_alike(earlier: Manifest, manifest: Manifest) -> bool:
    return spec_of(earlier) == spec_of(manifest) and dict(earlier.chunker) == dict(manifest.chunker)


def _encoded_alike(earlier: Manifest, manifest: Manifest) -> bool:
    spec = spec_of(earlier)
    same_texts = _same(earlier, manifest, "version", "topic_characters")
    return same_texts and spec is not None and spec == spec_of(manifest)


def _same(earlier: Manifest, manifest: Manifest, *names: str) -> bool:
    return all(earlier.chunker.get(name) == manifest.chunker.get(name) for name in names)
