"""From a folder of texts to an index, and what happened on the way."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from pipeline.errors import UnreadableFileError
from pipeline.index import Index, Manifest
from pipeline.ingest.chunking import Chunker, topic_characters
from pipeline.ingest.readers.registry import reader_for
from pipeline.ingest.reasons import cause_of, reason, stored
from pipeline.ingest.scan import Found, scan
from pipeline.messages import Phrase
from pipeline.ports import Embedder, EmbedderSpec, Progress
from pipeline.settings import IndexSettings
from pipeline.stores.encode import encode_chunks
from pipeline.stores.vector_book import VectorBook
from pipeline.text.postings import chunk_postings
from pipeline.types import Chunk, Document

__all__ = ["BuildReport", "Built", "Collection", "build_index", "collect", "is_current"]

CHUNKER_VERSION = 1


@dataclass(frozen=True, slots=True)
class Collection:
    """The readable documents of a knowledge base.

    Attributes:
        files: File -> SHA-256 of its bytes, for every file that gave a document.
        skipped: File -> why it gives no document.
        encodings: File -> encoding, where it is not UTF-8 and had to be recognised.
    """

    documents: tuple[Document, ...]
    files: Mapping[str, str]
    skipped: Mapping[str, Phrase]
    encodings: Mapping[str, str]
    found: int


@dataclass(frozen=True, slots=True)
class BuildReport:
    """What an indexing run did; ``indexed + len(skipped) == found``.

    Attributes:
        tokens: Tokens of all embedded texts, topics included, each chunk once.
        dropped_tokens: Tokens of text that no vector has seen; 0 by construction, measured all the same.
        shortened_topics: Topics too long to be embedded whole.
        encodings: File -> encoding, where it is not UTF-8 and had to be recognised.
    """

    found: int
    indexed: int
    skipped: Mapping[str, Phrase]
    chunks: int
    tokens: int
    dropped_tokens: int
    shortened_topics: int
    encodings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Built:
    """A new index, in memory only, and the report of its making."""

    index: Index
    report: BuildReport


def build_index(
    knowledge_base: Path,
    embedder: Embedder,
    settings: IndexSettings,
    progress: Progress | None = None,
    *,
    book: VectorBook | None = None,
) -> Built:
    """Read, cut and embed every document; a bad file is reported and never stops the run (case 4).

    Args:
        knowledge_base: The folder; an absent one is an empty one.
        embedder: Makes the vectors and counts the tokens.
        settings: Chunk sizes.
        progress: Called with (characters embedded, characters in all).
        book: Vectors that an interrupted run has made, and where those of this one are kept; the
            index reads token vectors from it until it is saved.

    Raises:
        SettingsError: The chunk sizes don't fit the embedder or each other.
    """
    chunker = Chunker(embedder, settings.chunk_tokens, settings.overlap_tokens)
    collection = collect(knowledge_base)
    chunks: list[Chunk] = [chunk for document in collection.documents for chunk in chunker.chunk(document)]
    limit = topic_characters(embedder.spec)
    skipped = {file: stored(phrase) for file, phrase in collection.skipped.items()}
    encoded = encode_chunks(chunks, embedder, limit, progress, book=book)
    index = Index(
        manifest=_manifest(collection.files, skipped, embedder.spec, settings),
        chunks=tuple(chunks),
        documents={document.id: document for document in collection.documents},
        vectors=encoded.vectors,
        text_vectors=encoded.text_vectors,
        tokens=encoded.tokens,
        postings=chunk_postings(chunks),
    )
    report = BuildReport(
        found=collection.found,
        indexed=collection.found - len(collection.skipped),
        skipped=collection.skipped,
        chunks=len(chunks),
        tokens=encoded.encoded_tokens,
        dropped_tokens=chunker.dropped_tokens(collection.documents, chunks),
        shortened_topics=len(chunker.shortened_topics),
        encodings=collection.encodings,
    )
    return Built(index, report)


def collect(knowledge_base: Path) -> Collection:
    """Read every file of a knowledge base."""
    documents: list[Document] = []
    files: dict[str, str] = {}
    skipped: dict[str, Phrase] = {}
    encodings: dict[str, str] = {}
    found = scan(knowledge_base)
    for item in found:
        try:
            read = _read(item, files)
        except UnreadableFileError as error:
            skipped[item.file] = cause_of(error)
            continue
        documents.extend(read)
        encoding = str(read[0].metadata.get("encoding", "utf-8"))
        if encoding != "utf-8":
            encodings[item.file] = encoding
    return Collection(tuple(documents), files, skipped, encodings, len(found))


def is_current(manifest: Manifest, knowledge_base: Path, spec: EmbedderSpec, settings: IndexSettings) -> bool:
    """True if building again would give an index with the same ``build_id``.

    Files are only hashed, but those that were skipped are tried again; no model is needed.
    """
    if manifest.build_id != _manifest(manifest.files, manifest.skipped, spec, settings).build_id:
        return False
    found = scan(knowledge_base)
    names = {item.file for item in found}
    if len(found) != len(names) or names != manifest.files.keys() | manifest.skipped.keys():
        return False
    return all(_is_unchanged(item, manifest) for item in found)


def _is_unchanged(item: Found, manifest: Manifest) -> bool:
    try:
        if item.skip is None and item.file in manifest.files:
            return _sha256(item.path) == manifest.files[item.file]
        _read(item, {})
    except UnreadableFileError as error:
        return manifest.skipped.get(item.file) == stored(cause_of(error))
    except OSError:
        pass  # it went away: the new build tells
    return False


def _read(item: Found, files: dict[str, str]) -> list[Document]:
    if item.skip is not None:
        raise UnreadableFileError(file=item.file, reason=item.skip)
    reader = reader_for(item.file)
    if reader is None:
        suffix = Path(item.file).suffix or item.file
        raise UnreadableFileError(file=item.file, reason=reason("unsupported", suffix))
    documents = reader(item.path, item.file)
    try:
        files[item.file] = _sha256(item.path)
    except OSError as error:  # it went away since it was read
        raise UnreadableFileError(file=item.file, reason=reason("unopened", error.strerror or "?")) from error
    return documents


def _sha256(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _manifest(
    files: Mapping[str, str], skipped: Mapping[str, str], spec: EmbedderSpec, settings: IndexSettings
) -> Manifest:
    manifest = Manifest(
        build_id="",
        embedder_id=spec.id,
        dimension=spec.dimension,
        prefix_scheme=spec.prefix_scheme,
        chunker={
            "name": "sentences",
            "version": CHUNKER_VERSION,
            "chunk_tokens": settings.chunk_tokens,
            "overlap_tokens": settings.overlap_tokens,
            "topic_characters": topic_characters(spec),
        },
        files=dict(files),
        skipped=dict(skipped),
    )
    written = json.dumps(asdict(manifest), ensure_ascii=True, sort_keys=True)
    return replace(manifest, build_id=hashlib.sha256(written.encode()).hexdigest()[:16])
