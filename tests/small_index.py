"""Small indexes made in memory, one chunk a passage, with the product's own embedding and postings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.embedders.hash import HashEmbedder
from pipeline.index import Index, Manifest
from pipeline.ports import Embedder
from pipeline.text.embedded import embedded_with_map
from pipeline.text.postings import chunk_postings
from pipeline.types import Chunk, Document, TokenVectors


@dataclass(frozen=True)
class Passage:
    text: str
    file: str = "a.txt"
    topic: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str | int | float | bool] = field(default_factory=dict)


def small_index(passages: Sequence[Passage | str], embedder: Embedder | None = None) -> Index:
    """Row ``i`` is passage ``i``; its chunk's id is ``c`` and the row in four digits."""
    embedder = embedder or HashEmbedder()
    made = [
        one if isinstance(one, Passage) else Passage(one, f"{row}.txt") for row, one in enumerate(passages)
    ]
    chunks = tuple(
        Chunk(f"c{row:04}", f"d{row:04}", 0, p.topic, p.text, 0, len(p.text), file=p.file, tags=p.tags)
        for row, p in enumerate(made)
    )
    documents = {
        f"d{row:04}": Document(
            f"d{row:04}", p.file, p.topic, None, p.text, (), {"source_type": "txt", **p.metadata}, p.tags
        )
        for row, p in enumerate(made)
    }
    texts = [embedded_with_map(chunk.topic, chunk.text) for chunk in chunks]
    dimension = embedder.spec.dimension
    if chunks:
        encoded = embedder.encode([one.text for one in texts], "passage", with_tokens=True)
        alone = embedder.encode([chunk.text for chunk in chunks], "passage").vectors
        vectors, parts = encoded.vectors, encoded.tokens or ()
    else:
        vectors = alone = np.zeros((0, dimension), np.float32)
        parts = ()
    tokens = [
        TokenVectors(part.vectors, one.spans_in_chunk(part.spans))
        for one, part in zip(texts, parts, strict=True)
    ]
    manifest = Manifest("build", embedder.spec.id, dimension, embedder.spec.prefix_scheme, {}, {})
    return Index(manifest, chunks, documents, vectors, alone, tokens, chunk_postings(chunks))
