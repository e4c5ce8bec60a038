"""From a folder of texts to an index, and what happened on the way."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pipeline.index import Index
from pipeline.ingest.chunkers.chunker import Chunker, topic_characters
from pipeline.ingest.collect import Collection, KnownFiles, collect
from pipeline.ingest.earlier import EarlierIndex, difference
from pipeline.ingest.halves import in_halves
from pipeline.ingest.manifest import make_manifest
from pipeline.ingest.notes import notes_of
from pipeline.messages import Phrase
from pipeline.ports import Embedder, Progress
from pipeline.settings import IndexSettings
from pipeline.stores.encode import encode_chunks
from pipeline.stores.vector_book import VectorBook
from pipeline.text.embedded import embedded_topic
from pipeline.text.postings import chunk_postings
from pipeline.types import Chunk, Document

__all__ = ["BuildReport", "Built", "build_collected", "build_index"]


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What an indexing run did; ``indexed + len(skipped) == found``, ``embedded + reused == chunks``.

    Attributes:
        tokens: Tokens of all embedded texts, topics included, each chunk once.
        dropped_tokens: Tokens of text that no vector has seen; 0 by construction, measured all the same.
        shortened_topics: Topics too long to be embedded whole.
        encodings: File -> encoding, where it is not UTF-8 and had to be recognised.
        notes: File -> what of it was left out.
        read: Files that were read now.
        embedded: Chunks that the embedder was given now.
        reused: Chunks whose vectors were known: from the earlier index, from an interrupted run, or
            from another chunk with the same topic and text.
        removed: Chunks of the earlier index that are not in the new one.
        difference: What is made otherwise than in the earlier index, so that it was of little use.
    """

    found: int
    indexed: int
    skipped: Mapping[str, Phrase]
    chunks: int
    tokens: int
    dropped_tokens: int
    shortened_topics: int
    encodings: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, tuple[Phrase, ...]] = field(default_factory=dict)
    read: int = 0
    embedded: int = 0
    reused: int = 0
    removed: int = 0
    difference: Phrase | None = None


@dataclass(frozen=True, slots=True)
class Built:
    """A new index, not yet saved, and the report of its making.

    Its token vectors are read from the book and the earlier index it was built with.
    """

    index: Index
    report: BuildReport


def build_index(
    knowledge_base: Path,
    embedder: Embedder,
    settings: IndexSettings,
    progress: Progress | None = None,
    *,
    book: VectorBook | None = None,
    previous: Index | None = None,
) -> Built:
    """Read, cut and embed every document; a bad file is reported and never stops the run (case 4).

    The result is the same with and without ``book`` and ``previous``, as long as the embedder gives
    equal vectors for equal texts.

    Args:
        knowledge_base: The folder; an absent one is an empty one.
        embedder: Makes the vectors and counts the tokens.
        settings: Chunk sizes.
        progress: Called with (characters embedded, characters in all); where cutting takes the embedder
            too, it is the first half.
        book: Vectors that an interrupted run has made, and where those of this one are kept.
        previous: An index of an earlier state of the folder: what it holds of unchanged files,
            chunks and texts is taken over.

    Raises:
        SettingsError: The chunk sizes don't fit the embedder or each other.
    """
    known = None if previous is None else KnownFiles(previous.manifest, previous.documents.values())
    collection = collect(knowledge_base, known)
    return build_collected(collection, embedder, settings, progress, book=book, previous=previous)


def build_collected(
    collection: Collection,
    embedder: Embedder,
    settings: IndexSettings,
    progress: Progress | None = None,
    *,
    book: VectorBook | None = None,
    previous: Index | None = None,
) -> Built:
    """As `build_index`, for files that have been read."""
    manifest = make_manifest(collection, embedder.spec, settings)
    earlier = None if previous is None else EarlierIndex(previous, manifest)
    chunker = Chunker.of(embedder, settings)
    cutting: Progress | None = None
    if progress is not None and chunker.asks_for_vectors:
        cutting, progress = in_halves(progress, sum(len(item.text) for item in collection.documents))
    chunks, cut = _chunks(collection.documents, chunker, earlier, cutting)
    limit = topic_characters(embedder.spec)
    known = earlier.vectors if earlier else None
    encoded = encode_chunks(chunks, embedder, limit, progress, known=known, book=book)
    index = Index(
        manifest=manifest,
        chunks=tuple(chunks),
        documents={document.id: document for document in collection.documents},
        vectors=encoded.vectors,
        text_vectors=encoded.text_vectors,
        tokens=encoded.tokens,
        postings=earlier.postings(chunks) if earlier else chunk_postings(chunks),
    )
    report = BuildReport(
        found=collection.found,
        indexed=collection.found - len(collection.skipped),
        skipped=collection.skipped,
        chunks=len(chunks),
        tokens=encoded.encoded_tokens,
        dropped_tokens=chunker.dropped_tokens(cut, chunks),
        shortened_topics=len(_shortened_topics(index, limit)),
        encodings=_encodings(collection.documents),
        notes={item.file: tuple(notes) for item in collection.documents if (notes := notes_of(item))},
        read=collection.read,
        embedded=encoded.encoded,
        reused=len(chunks) - encoded.encoded,
        removed=earlier.removed(chunks) if earlier else 0,
        difference=difference(previous.manifest, manifest) if previous else None,
    )
    return Built(index, report)


def _chunks(
    documents: Sequence[Document],
    chunker: Chunker,
    earlier: EarlierIndex | None,
    progress: Progress | None,
) -> tuple[list[Chunk], list[Document]]:
    """The chunks of all documents, and the documents that had to be cut now."""
    chunks: list[Chunk] = []
    cut: list[Document] = []
    for number, document in enumerate(documents):
        if progress is not None:
            progress(number, len(documents))
        known = earlier.chunks_of(document) if earlier else None
        if known is None:
            cut.append(document)
            known = chunker.chunk(document)
        chunks += known
    return chunks, cut


def _shortened_topics(index: Index, limit: int) -> set[str]:
    """Topics of blocks that are embedded only in part, either by the limit or to leave room for the text."""
    starts = {key: [block.start for block in document.blocks] for key, document in index.documents.items()}
    topics: set[tuple[str, str]] = set()
    for chunk in index.chunks:
        blocks = index.documents[chunk.document_id].blocks
        block = blocks[bisect_right(starts[chunk.document_id], chunk.start) - 1]
        topics.add((block.topic, chunk.topic))
    return {
        topic
        for topic, used in topics
        if used != topic or embedded_topic(topic, limit) != embedded_topic(topic, len(topic) + 1)
    }


def _encodings(documents: Sequence[Document]) -> dict[str, str]:
    found = {document.file: str(document.metadata.get("encoding", "utf-8")) for document in documents}
    return {file: encoding for file, encoding in found.items() if encoding != "utf-8"}
