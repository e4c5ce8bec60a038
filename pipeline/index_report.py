"""What ``/status`` tells of an index."""

from __future__ import annotations

from pipeline.index import Index
from pipeline.ingest.holdings import holdings
from pipeline.ingest.reasons import stored

__all__ = ["IndexReport"]


class IndexReport:
    """Makes the report of an index, once for each. Thread-safe."""

    def __init__(self) -> None:
        self._last: tuple[Index, dict[str, object]] | None = None

    def of(self, index: Index) -> dict[str, object]:
        """Version, sizes, and every file with what became of it, as JSON values.

        ``found`` is ``files`` plus the skipped ones.
        """
        last = self._last
        if last is None or last[0] is not index:
            last = self._last = (index, _report(index))
        return last[1]


def _report(index: Index) -> dict[str, object]:
    manifest = index.manifest
    return {
        "kb_version": manifest.build_id,
        "chunks": len(index.chunks),
        "found": len(manifest.files) + len(manifest.skipped),
        "files": len(manifest.files),
        # Lists: names of files are no keys that 1C could read.
        "skipped": [{"file": file, "reason": reason} for file, reason in manifest.skipped.items()],
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
        "embedder": manifest.embedder_id,
    }
