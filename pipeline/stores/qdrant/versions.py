"""What a version holds: points that came with it or before, and have not gone with it or before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pipeline.stores.qdrant.connection import Connection
from pipeline.stores.qdrant.heads import Head
from pipeline.stores.qdrant.layout import LIVE
from pipeline.stores.qdrant.points import blob_of

if TYPE_CHECKING:
    from qdrant_client import models

__all__ = ["blob", "every", "in_versions", "left_over", "outlived", "undone"]

_PAGE = 256


def in_versions(heads: Sequence[Head]) -> list[models.Condition]:
    """Points of the current versions that these heads name."""
    from qdrant_client import models

    shares = [
        models.Filter(
            must=[
                _is("source", head.source),
                models.FieldCondition(key="added", range=models.Range(lte=head.generation)),
                models.FieldCondition(key="removed", range=models.Range(gt=head.generation)),
            ]
        )
        for head in heads
    ]
    return list(shares[0].must or []) if len(shares) == 1 else [models.Filter(should=list(shares))]  # type: ignore[arg-type]


def left_over(head: Head) -> models.Filter:
    """Points that an attempt sent which was never finished."""
    from qdrant_client import models

    later = models.FieldCondition(key="added", range=models.Range(gt=head.generation))
    return models.Filter(must=[_is("source", head.source), later])


def undone(head: Head) -> models.Filter:
    """Points that such an attempt took for removed."""
    from qdrant_client import models

    later = models.FieldCondition(key="removed", range=models.Range(gt=head.generation, lt=LIVE))
    return models.Filter(must=[_is("source", head.source), later])


def outlived(source: str, generation: int) -> models.Filter:
    """Points that are in no version from this one on."""
    from qdrant_client import models

    earlier = models.FieldCondition(key="removed", range=models.Range(lte=generation))
    return models.Filter(must=[_is("source", source), earlier])


def every(
    connection: Connection, collection: str, conditions: models.Filter | None, fields: Sequence[str] | bool
) -> list[Any]:
    """All points that meet a filter, read page by page."""
    found: list[Any] = []
    offset = None
    while True:
        page, offset = connection.call(
            "scroll",
            collection_name=collection,
            scroll_filter=conditions,
            limit=_PAGE if fields else 16 * _PAGE,
            offset=offset,
            with_payload=fields,
        )
        found += page
        if offset is None:
            return found


def blob(connection: Connection, head: Head, name: str) -> bytes:
    """What belongs to a version as a whole."""
    ids = list(head.blobs[name])
    found = connection.call("retrieve", collection_name=head.collection, ids=ids, with_payload=["packed"])
    pieces = {point.id: point.payload["packed"] for point in found}
    return blob_of([pieces[one] for one in ids])


def _is(key: str, value: str) -> models.FieldCondition:
    from qdrant_client import models

    return models.FieldCondition(key=key, match=models.MatchValue(value=value))
