"""``embeddings/map.json``: the map beside the index it shows."""

from __future__ import annotations

import errno
from functools import lru_cache
from pathlib import Path
from typing import Any

import orjson

from pipeline.durable import put_in_place
from pipeline.errors import IndexUnusableError, MapMissingError
from pipeline.plots.map_data import MAP_FORMAT, Cluster, KnowledgeMap, Point, Watch, make_map
from pipeline.stores import json_store

__all__ = ["MAP", "current_map", "map_record", "read_map", "shows_current_index", "write_map"]

MAP = "map.json"
_NOT_KEPT = (errno.EROFS, errno.EACCES, errno.EPERM, errno.ENOSPC)


def current_map(folder: Path, watch: Watch | None = None) -> KnowledgeMap:
    """The map of the index in a folder; computed and kept only where there is none of this very index.

    Args:
        folder: The index folder, ``embeddings/``.
        watch: Follows the computation.

    Raises:
        IndexUnusableError: There is no usable index.
        ExtraMissingError: A library of the extra ``map`` is not installed.
    """
    manifest = json_store.read_manifest(folder)
    try:
        kept = read_map(folder)
    except MapMissingError:
        kept = None
    if kept is not None and kept.build_id == manifest.build_id:
        return kept
    made = make_map(json_store.load(folder), watch)
    try:
        write_map(made, folder)
    except OSError as error:
        # Where nothing can be kept the map is still good for this once.
        if error.errno not in _NOT_KEPT:
            raise
    return made


def read_map(folder: Path) -> KnowledgeMap:
    """The map as it was kept, of whatever index.

    Raises:
        MapMissingError: There is none, or it is of another format or damaged.
    """
    path = folder / MAP
    try:
        state = path.stat()
        return _parsed(path, state.st_size, state.st_mtime_ns)
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise MapMissingError(path=path) from error


def write_map(made: KnowledgeMap, folder: Path) -> None:
    """Put the map in place of an older one, whole or not at all.

    Raises:
        OSError: This place cannot be written to.
    """
    put_in_place(folder / MAP, orjson.dumps(map_record(made), option=orjson.OPT_APPEND_NEWLINE))


def shows_current_index(shown: KnowledgeMap, folder: Path) -> bool:
    """True when the index in the folder is the one the map shows."""
    try:
        return json_store.read_manifest(folder).build_id == shown.build_id
    except IndexUnusableError:
        return False


def map_record(made: KnowledgeMap) -> dict[str, Any]:
    """The map as JSON values."""
    return {
        "format": made.format,
        "build_id": made.build_id,
        "method": made.method,
        "clusters": [
            {
                "number": cluster.number,
                "terms": list(cluster.terms),
                "size": cluster.size,
                "flat": list(cluster.flat),
                "deep": list(cluster.deep),
            }
            for cluster in made.clusters
        ],
        "points": [
            {
                "id": point.id,
                "topic": point.topic,
                "file": point.file,
                "text": point.text,
                "group": point.group,
                "flat": list(point.flat),
                "deep": list(point.deep),
                "cluster": point.cluster,
                "duplicates": point.duplicates,
                "alone": point.alone,
            }
            for point in made.points
        ],
    }


@lru_cache(maxsize=1)
def _parsed(path: Path, size: int, changed_ns: int) -> KnowledgeMap:
    """The map in a file of this size and time of change: read once for many questions."""
    record = orjson.loads(path.read_bytes())
    if record["format"] != MAP_FORMAT:
        raise ValueError(record["format"])
    return _map_from(record)


def _map_from(record: dict[str, Any]) -> KnowledgeMap:
    clusters = tuple(
        Cluster(**entry | {name: tuple(entry[name]) for name in ("terms", "flat", "deep")})
        for entry in record["clusters"]
    )
    points = tuple(
        Point(**entry | {name: tuple(entry[name]) for name in ("flat", "deep")}) for entry in record["points"]
    )
    return KnowledgeMap(record["build_id"], record["method"], clusters, points)
