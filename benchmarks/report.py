"""Puts the recorded figures into the documentation.

``python benchmarks/report.py`` fills the regions between ``<!-- benchmark: NAME -->`` and ``<!-- end -->``
of ``docs/performance.md`` and ``README.md`` from ``benchmarks/recorded.json``; ``--check`` changes nothing
and fails when one is out of date. ``run.py --record`` does it by itself.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from measures import Measured, as_markdown, from_json

__all__ = ["outdated", "write_pages"]

_ROOT = Path(__file__).resolve().parents[1]
_PAGES = (_ROOT / "docs" / "performance.md", _ROOT / "README.md")
_REGION = re.compile(r"(<!-- benchmark: (?P<name>[a-z-]+) -->\n).*?(<!-- end -->)", re.DOTALL)
_TOLD = (
    "start",
    "search",
    "rerank",
    "index",
    "first_token",
    "first_token_again",
    "answer",
    "memory_generator",
)


def outdated(recorded: Path, *, write: bool) -> list[Path]:
    """Pages whose regions differ from what was recorded; brought up to date with ``write``."""
    kept = json.loads(recorded.read_text(encoding="utf-8"))
    run = kept.get("full") or kept.get("quick")
    found = []
    for page in _PAGES:
        old = page.read_text(encoding="utf-8")
        new = _REGION.sub(lambda region: f"{region[1]}{_REGIONS[region['name']](run)}\n{region[3]}", old)
        if new != old:
            found.append(page)
            if write:
                page.write_text(new, encoding="utf-8")
    return found


def write_pages(recorded: Path) -> None:
    """Bring all pages up to date."""
    for page in outdated(recorded, write=True):
        print(f"written: {page}")


def _full_table(run: Mapping[str, Any]) -> str:
    return f"{_when(run)}\n\n{as_markdown(_rows(run))}"


def _short_table(run: Mapping[str, Any]) -> str:
    rows = [row for row in _rows(run) if row.stage in _TOLD]
    return f"{_when(run)}\n\n{as_markdown(rows)}"


def _rows(run: Mapping[str, Any]) -> list[Measured]:
    return [from_json(row) for row in run["stages"].values()]


def _when(run: Mapping[str, Any]) -> str:
    return f"Measured {run['measured']} on {run['machine']}; medians of rounds that alternate."


_REGIONS = {"full": _full_table, "short": _short_table}


def main() -> None:
    """Write, or check."""
    recorded = _ROOT / "benchmarks" / "recorded.json"
    check = "--check" in sys.argv[1:]
    if not recorded.is_file():
        sys.exit("nothing was recorded yet: python benchmarks/run.py --record")
    found = outdated(recorded, write=not check)
    for page in found:
        print(f"{'out of date' if check else 'written'}: {page.name}")
    sys.exit(1 if check and found else 0)


if __name__ == "__main__":
    main()
