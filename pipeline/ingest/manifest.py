"""The manifest of an index that is yet to be built; equal ones mean that there is nothing to do."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, replace

from pipeline.index import Manifest
from pipeline.ingest.chunkers.chunker import topic_characters
from pipeline.ingest.collect import Collection
from pipeline.ingest.fingerprints import READERS_VERSION
from pipeline.ingest.reasons import stored
from pipeline.ports import EmbedderSpec
from pipeline.settings import IndexSettings
from pipeline.text.postings import TERMS_VERSION

__all__ = ["CHUNKER_VERSION", "made_like", "make_manifest", "spec_of"]

CHUNKER_VERSION = 1
"""To be raised when the chunker cuts the same document otherwise or other text is embedded."""


def make_manifest(collection: Collection, spec: EmbedderSpec, settings: IndexSettings) -> Manifest:
    """What an index of these documents, made by this embedder, would say of itself."""
    return _identified(
        Manifest(
            build_id="",
            embedder_id=spec.id,
            dimension=spec.dimension,
            prefix_scheme=spec.prefix_scheme,
            chunker=_chunker(spec, settings),
            files=collection.files,
            skipped={file: stored(phrase) for file, phrase in collection.skipped.items()},
            unread=collection.unread,
            beside=collection.beside,
            readers=READERS_VERSION,
        )
    )


def made_like(manifest: Manifest, spec: EmbedderSpec, settings: IndexSettings) -> Manifest:
    """What an index of the same files would say of itself if it were made today."""
    today = replace(
        manifest,
        embedder_id=spec.id,
        dimension=spec.dimension,
        prefix_scheme=spec.prefix_scheme,
        chunker=_chunker(spec, settings),
        readers=READERS_VERSION,
    )
    return _identified(today)


def spec_of(manifest: Manifest) -> EmbedderSpec | None:
    """The embedder that made an index, as far as the index knows; None for one of an older version."""
    limit = manifest.chunker.get("token_limit")
    if not isinstance(limit, int):
        return None
    return EmbedderSpec(manifest.embedder_id, manifest.dimension, manifest.prefix_scheme, limit)


def _chunker(spec: EmbedderSpec, settings: IndexSettings) -> Mapping[str, str | int]:
    otherwise = {
        f"name.{kind}": name
        for kind, name in sorted(settings.chunking_by_format.items())
        if name != settings.chunking
    }
    return {
        "name": settings.chunking,
        **otherwise,
        "version": CHUNKER_VERSION,
        "chunk_tokens": settings.chunk_tokens,
        "overlap_tokens": settings.overlap_tokens,
        "topic_characters": topic_characters(spec),
        "token_limit": spec.token_limit,
        "terms_version": TERMS_VERSION,
    }


def _identified(manifest: Manifest) -> Manifest:
    content = asdict(replace(manifest, build_id=""))
    written = json.dumps(content, ensure_ascii=True, sort_keys=True)
    return replace(manifest, build_id=hashlib.sha256(written.encode()).hexdigest()[:16])
