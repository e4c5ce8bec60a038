"""Versions and whole indexes out of Qdrant."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any

import numpy as np
import orjson

from pipeline.errors import IndexDamagedError
from pipeline.index import Calibration, Index, Manifest
from pipeline.messages import Phrase
from pipeline.stores import records
from pipeline.stores.qdrant import versions
from pipeline.stores.qdrant.choosing import Found
from pipeline.stores.qdrant.connection import Connection
from pipeline.stores.qdrant.fetched import tokens_of
from pipeline.stores.qdrant.heads import Head
from pipeline.stores.qdrant.layout import TEXT, TOPIC_TEXT, unpacked_ids
from pipeline.stores.qdrant.owners import Owners, owner_in
from pipeline.stores.qdrant.points import document_in
from pipeline.stores.qdrant.snapshot import FIELDS, Version
from pipeline.stores.qdrant.terms import BaseStatistics
from pipeline.stores.qdrant.token_bytes import TokenPlace
from pipeline.text.postings import counted_postings
from pipeline.types import Document

__all__ = ["read_index", "read_version"]

_PAGE = 256


def read_version(connection: Connection, heads: Sequence[Head]) -> Version:
    """What is to be known of the current versions of all sources; there is at least one."""
    blobs = [
        {
            name: versions.blob(connection, head, name)
            for name in ("manifest", "terms", "files", "owners", "order")
        }
        for head in heads
    ]
    manifests = [orjson.loads(one["manifest"]) for one in blobs]
    chunks = sum(head.chunks for head in heads)
    largest = max(range(len(heads)), key=lambda place: heads[place].chunks)
    return Version(
        heads=tuple(heads),
        manifest=_united([records.manifest_from(one) for one in manifests], heads),
        calibration=_calibration(manifests[largest]),
        statistics=BaseStatistics(chunks, tuple(orjson.loads(one["terms"]) for one in blobs)),
        mean=sum(head.terms for head in heads) / max(chunks, 1),
        files=tuple(sorted({file for one in blobs for file in orjson.loads(one["files"])})),
        owners=tuple(
            Owners.of(one["order"], head.chunks, one["owners"])
            for head, one in zip(heads, blobs, strict=True)
        ),
    )


def read_index(connection: Connection, place: TokenPlace, version: Version) -> Index:
    """The whole index, in the order in which it was written; token vectors are fetched when looked at."""
    found: dict[str, Found] = {}
    documents: dict[str, Document] = {}
    for head in version.heads:
        ids = unpacked_ids(versions.blob(connection, head, "order"))
        for one in _points(connection, head.collection, ids[: head.chunks], vectors=True):
            point = Found.of(one, owner_in(version.owners, one.id))
            found.setdefault(point.chunk.id, point)
        for one in _points(connection, head.collection, ids[head.chunks :], vectors=False):
            document = document_in(one.payload)
            documents.setdefault(document.id, document)
    rows = list(found.values())
    dimension = version.manifest.dimension
    chunks = tuple(one.chunk for one in rows)
    empty = np.zeros((0, dimension), dtype=np.float32)
    return Index(
        manifest=version.manifest,
        chunks=chunks,
        documents=documents,
        vectors=np.stack([one.vector for one in rows]) if rows else empty,
        text_vectors=np.stack([one.text_vector for one in rows]) if rows else empty,
        tokens=tokens_of(place, version.collection, [(one.id, one.token_count) for one in rows], dimension),
        postings=counted_postings([one.terms for one in rows]),
        calibration=version.calibration,
    )


def _points(connection: Connection, collection: str, ids: Sequence[str], *, vectors: bool) -> list[Any]:
    """Points by id, in this order."""
    points: dict[str, Any] = {}
    for begin in range(0, len(ids), _PAGE):
        page = connection.call(
            "retrieve",
            collection_name=collection,
            ids=list(ids[begin : begin + _PAGE]),
            with_payload=FIELDS if vectors else ["packed"],
            with_vectors=[TOPIC_TEXT, TEXT] if vectors else False,
        )
        points.update((str(point.id), point) for point in page)
    if len(points) < len(ids):
        raise IndexDamagedError(path="qdrant", reason=Phrase("store_point_gone"))
    return [points[one] for one in ids]


def _united(manifests: Sequence[Manifest], heads: Sequence[Head]) -> Manifest:
    """One manifest for all sources; that of the only one as it is."""
    if len(manifests) == 1:
        return manifests[0]
    names = "\0".join(f"{head.source}\0{one.build_id}" for head, one in zip(heads, manifests, strict=True))
    return replace(
        manifests[0],
        build_id=sha256(names.encode()).hexdigest()[: len(manifests[0].build_id) or 16],
        files=_joined([one.files for one in manifests]),
        skipped=_joined([one.skipped for one in manifests]),
        unread=_joined([one.unread for one in manifests]),
        beside=_joined([one.beside for one in manifests]),
    )


def _joined(parts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    return {name: value for part in parts for name, value in part.items()}


def _calibration(record: object) -> Calibration | None:
    return records.calibration_from(record)
