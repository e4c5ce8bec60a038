"""One progress bar for two passes over the same texts: cut with the embedder's help, then encoded."""

from __future__ import annotations

from pipeline.ports import Progress

__all__ = ["in_halves"]


def in_halves(progress: Progress, size: int) -> tuple[Progress, Progress]:
    """Two parts of a bar, each told in units of its own.

    Args:
        progress: Called with (done, twice ``size``), never less than before.
        size: What a half stands for.
    """

    def first(done: int, total: int) -> None:
        progress(size * done // max(total, 1), 2 * size)

    def second(done: int, total: int) -> None:
        progress(size + size * done // max(total, 1), 2 * size)

    return first, second
