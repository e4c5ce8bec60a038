"""What ``/status`` tells of an index."""

from __future__ import annotations

from weakref import ref

from pipeline.index import Index, Manifest
from pipeline.ingest.holdings import holdings
from pipeline.ingest.reasons import stored
from pipeline.retrieval.exact import IndexSnapshot
from pipeline.snapshot import Snapshot

__all__ = ["IndexReport"]


class IndexReport:
    """Makes the report of an index, once for each. Thread-safe."""

    def __init__(self) -> None:
        self._last: tuple[ref[Index], dict[str, object]] | None = None

    def of(self, snapshot: Snapshot) -> dict[str, object]:
        """Version, sizes, and every file with what became of it, as JSON values.

        ``found`` is ``files`` plus the skipped ones. Of a base that is not at hand as a whole, nothing is
        told of single files but their names.
        """
        if not isinstance(snapshot, IndexSnapshot):
            return _summary(snapshot.manifest, snapshot.statistics.chunks) | {
                "by_file": [
                    {"file": file, "state": "indexed", "chunks": None, "encoding": None, "reason": None}
                    for file in snapshot.manifest.files
                ]
            }
        last = self._last
        if last is None or last[0]() is not snapshot.index:
            last = self._last = (ref(snapshot.index), _report(snapshot.index))
        return last[1]


def _summary(manifest: Manifest, chunks: int) -> dict[str, object]:
    return {
        "kb_version": manifest.build_id,
        "chunks": chunks,
        "found": len(manifest.files) + len(manifest.skipped),
        "files": len(manifest.files),
        # Lists: names of files are no keys that 1C could read.
        "skipped": [{"file": file, "reason": reason} for file, reason in manifest.skipped.items()],
        "embedder": manifest.embedder_id,
    }


def _report(index: Index) -> dict[str, object]:
    return _summary(index.manifest, len(index.chunks)) | {
        "by_file": [
            {
                "file": held.file,
                "state": held.state,
                "chunks": held.chunks,
                "encoding": held.encoding,
                "reason": stored(held.reason) if held.reason else None,
            }
            for held in holdings(index).values()
        ],
    }
