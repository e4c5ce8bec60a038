"""Knowledge bases for the tests of stores: indexes made in memory, with all that an index can hold."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from pipeline.embedders.hash import HashEmbedder
from pipeline.index import Calibration, Index, Manifest
from pipeline.retrieval.keyword import weighted_terms
from pipeline.snapshot import Asked, Excerpt, Snapshot
from pipeline.stores.token_store import pack_tokens, quantise
from pipeline.text.embedded import embedded_with_map
from pipeline.text.postings import chunk_postings
from pipeline.types import Block, Chunk, Document

__all__ = ["EMBEDDER", "Paper", "asked", "base", "found", "texts_of"]

EMBEDDER = HashEmbedder(32)


@dataclass(frozen=True)
class Paper:
    """A document: its passages become its chunks, one each."""

    file: str
    passages: Sequence[str]
    topic: str = ""
    tags: tuple[str, ...] = ()
    metadata: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    chunk_tags: tuple[str, ...] = ()
    link: str | None = None
    source_type: str = "txt"


def base(papers: Sequence[Paper], calibration: Calibration | None = None) -> Index:
    """The index of some papers; equal ones give equal indexes, and a chunk that stays keeps its id."""
    documents: dict[str, Document] = {}
    chunks: list[Chunk] = []
    for paper in sorted(papers, key=lambda one: one.file):
        document = _document(paper)
        documents[document.id] = document
        chunks += _chunks(paper, document)
    texts = [embedded_with_map(chunk.topic, chunk.text) for chunk in chunks]
    encoded = EMBEDDER.encode([one.text for one in texts], "passage", with_tokens=True)
    alone = EMBEDDER.encode([chunk.text for chunk in chunks], "passage").vectors
    tokens = [
        (quantise(part.vectors), one.spans_in_chunk(part.spans))
        for one, part in zip(texts, encoded.tokens or (), strict=True)
    ]
    spec = EMBEDDER.spec
    build_id = _hash("".join(f"{document!r}" for document in documents.values()))
    files = {paper.file: _hash(repr(paper)) for paper in papers}
    manifest = Manifest(
        build_id,
        spec.id,
        spec.dimension,
        spec.prefix_scheme,
        {"name": "sentences", "chunk_tokens": 220},
        dict(sorted(files.items())),
        skipped={"photo.png": "unsupported: .png"},
        unread={"photo.png": _hash("png")},
        beside={"sources.toml": _hash("toml")},
        readers=3,
    )
    return Index(
        manifest,
        tuple(chunks),
        documents,
        encoded.vectors,
        alone,
        pack_tokens(tokens, spec.dimension),
        chunk_postings(chunks),
        calibration,
    )


def _document(paper: Paper) -> Document:
    text = "\n\n".join(paper.passages)
    block = Block(0, len(text), paper.topic, ("Раздел", "Глава"), paper.link, paper.chunk_tags, 7)
    return Document(
        id=_hash(paper.file + "\x00" + text),
        file=paper.file,
        title=paper.topic or paper.file,
        link=paper.link,
        text=text,
        blocks=(block,),
        metadata={"source_type": paper.source_type, **paper.metadata},
        tags=paper.tags,
    )


def _chunks(paper: Paper, document: Document) -> list[Chunk]:
    made, start = [], 0
    for ordinal, passage in enumerate(paper.passages):
        end = start + len(passage)
        made.append(
            Chunk(
                id=_hash(f"{paper.file}\x00{start}\x00{passage}"),
                document_id=document.id,
                ordinal=ordinal,
                topic=paper.topic,
                text=passage,
                start=start,
                end=end,
                headings=("Раздел", "Глава"),
                link=paper.link,
                file=paper.file,
                tags=paper.chunk_tags,
                page=7,
            )
        )
        start = end + 2
    return made


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def asked(snapshot: Snapshot, text: str) -> Asked:
    """A question as `retrieve_from` puts it to a snapshot."""
    vector = EMBEDDER.encode([text], "query").vectors[0]
    return Asked(text, vector, weighted_terms(snapshot.statistics, text))


def found(excerpt: Excerpt) -> list[Chunk]:
    """The chunks of an excerpt's pool, best first."""
    return [excerpt.index.chunks[row] for row in excerpt.pool.rows]


def texts_of(excerpt: Excerpt) -> list[str]:
    """Their texts."""
    return [chunk.text for chunk in found(excerpt)]


def vectors_by_id(index: Index) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Both vectors of each chunk."""
    rows = zip(index.chunks, index.vectors, index.text_vectors, strict=True)
    return {chunk.id: (vector, alone) for chunk, vector, alone in rows}
