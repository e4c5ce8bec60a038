"""The table of ``benchmarks/stores.py``, for the terminal and for ``docs/stores.md``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["BESIDE", "STORES", "WANTED", "recorded_table", "table"]

STORES = ("json", "faiss-flat", "faiss-hnsw", "chroma", "postgres", "qdrant")
BESIDE = ("faiss-flat", "faiss-hnsw", "chroma")
"""Stores that lie beside the JSON files."""
WANTED = ("no filter", "half", "1 %")
"""What the filters let through."""


def recorded_table(path: Path) -> str:
    """The figures of the last recorded run."""
    found = json.loads(path.read_text(encoding="utf-8"))
    first, last = (pick(one["when"][:10] for one in found["stores"].values()) for pick in (min, max))
    when = first if first == last else f"{first} to {last}"
    return f"{found['chunks']:,} passages, {when}.\n\n{table(found['stores'])}"


def table(known: Mapping[str, Any]) -> str:
    """The figures as Markdown."""
    head = (
        "store",
        "recall@10: all, half, 1 %",
        "by meaning, p50 / p99 ms",
        "by words",
        "hybrid",
        "hybrid within 1 %",
        "20 passages' tokens, ms",
        "fill, s",
        "memory, MB",
        "disk, MB",
    )
    lines = [head, tuple("---" for _ in head)]
    for name in (one for one in STORES if one in known):
        one = known[name]
        recall = " ".join(f"{one[f'dense, {wanted}']['recall']:.3f}" for wanted in WANTED)
        server = f" + {one['server_mb']:.0f} server" if one["server_mb"] else ""
        lines.append(
            (
                f"`{name}`",
                recall,
                *(_pair(one[f"{mode}, no filter"]) for mode in ("dense", "keyword", "hybrid")),
                _pair(one["hybrid, 1 %"]),
                f"{one['tokens_ms']:.1f}",
                (f"{known['json']['build_s']:.0f} + " if name in BESIDE and "json" in known else "")
                + f"{one['build_s']:.0f}",
                f"{one['search_mb']:.0f}{server}",
                f"{one['disk_mb']:.0f}",
            )
        )
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def _pair(figures: Mapping[str, float]) -> str:
    return f"{figures['p50_ms']:.1f} / {figures['p99_ms']:.1f}"
