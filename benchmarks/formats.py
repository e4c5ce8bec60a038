"""What becomes of files of every format, and how long reading takes.

    python benchmarks/formats.py [--data ../shared/data] [--small 10000] [--folder FOLDER]

Over kb_bsl, where its data is there, and over a folder of all formats and faults that is made on the spot
(``tests/faulty_folder.py``): files read, skipped with their reasons, seconds, the slowest file, and the
peak of memory. With ``--folder`` any other folder is looked at instead.
"""

from __future__ import annotations

import argparse
import importlib
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

import psutil

from pipeline.errors import UnreadableFileError
from pipeline.ingest.collect import find_reader, read_file
from pipeline.ingest.reasons import cause_of
from pipeline.ingest.scan import scan

TESTS = Path(__file__).resolve().parents[1] / "tests"


@dataclass(slots=True)
class Row:
    """All files of one format."""

    found: int = 0
    read: int = 0
    characters: int = 0
    size: int = 0
    seconds: float = 0.0
    slowest: tuple[float, str] = (0.0, "")
    skipped: Counter[str] = field(default_factory=Counter)


def main() -> None:
    """Print a table for each folder."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--small", type=int, default=10_000, help="small files in the folder of faults")
    parser.add_argument("--folder", type=Path, help="look at this folder instead")
    arguments = parser.parse_args()
    if arguments.folder:
        show(str(arguments.folder), arguments.folder, None)
        return
    if (arguments.data / "kb_bsl").is_dir():
        show("kb_bsl", arguments.data / "kb_bsl", None)
    sys.path.insert(0, str(TESTS))
    make: Callable[..., dict[str, str]] = importlib.import_module("faulty_folder").make
    with tempfile.TemporaryDirectory() as name:
        show("formats and faults", Path(name), make(Path(name), arguments.small, large=True))


def show(title: str, folder: Path, expected: dict[str, str] | None) -> None:
    """Read every file of a folder and print what became of it, by format."""
    process = psutil.Process()
    before = peak = process.memory_info().rss
    rows: dict[str, Row] = {}
    became: dict[str, str] = {}
    largest = 0
    for item in scan(folder):
        row = rows.setdefault(PurePosixPath(item.file.strip()).suffix.lower() or "(none)", Row())
        row.found += 1
        size = item.path.stat().st_size if item.skip is None else 0
        largest, row.size = max(largest, size), row.size + size
        started = time.perf_counter()
        try:
            documents = read_file(item, find_reader(item))
        except UnreadableFileError as error:
            became[item.file] = cause_of(error).key.removeprefix("skip_")
            row.skipped[became[item.file]] += 1
        else:
            became[item.file] = ""
            row.read += 1
            row.characters += sum(len(document.text) for document in documents)
            del documents
        took = time.perf_counter() - started
        row.seconds += took
        row.slowest = max(row.slowest, (took, item.file))
        peak = max(peak, process.memory_info().rss)
    print(f"\n{title}")
    heads = f"{'format':8} {'found':>6} {'read':>6} {'skipped':>8} {'MB':>7} {'Mchars':>7} {'s':>7}"
    print(f"{heads}  slowest; reasons")
    for ending, row in sorted(rows.items()):
        reasons = ", ".join(f"{reason} {count}" for reason, count in sorted(row.skipped.items()))
        print(
            f"{ending:8} {row.found:>6} {row.read:>6} {row.skipped.total():>8} {row.size / 1e6:>7.2f} "
            f"{row.characters / 1e6:>7.2f} {row.seconds:>7.2f}  "
            f"{PurePosixPath(row.slowest[1]).name[:24]!r} {row.slowest[0]:.2f} s"
            + (f"; {reasons}" if reasons else "")
        )
    found, read = sum(row.found for row in rows.values()), sum(row.read for row in rows.values())
    skipped = sum(row.skipped.total() for row in rows.values())
    print(
        f"found {found} = read {read} + skipped {skipped}: {found == read + skipped}; "
        f"memory above the start {(peak - before) / 1e6:.0f} MB, largest file {largest / 1e6:.1f} MB"
    )
    if expected is not None:
        wrong = {file for file in expected.keys() | became.keys() if expected.get(file) != became.get(file)}
        print(f"as expected: {len(became) - len(wrong)} of {len(expected)}", *sorted(wrong))


if __name__ == "__main__":
    main()
