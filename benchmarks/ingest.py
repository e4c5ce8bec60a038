"""What indexing costs beside the model: reading and cutting by format, and all against one embedding run.

``python benchmarks/ingest.py FOLDER [--models MODELS] [--rounds 2]``

The embedding run gives the same model the same texts in the same slices, and keeps nothing. Both are done
in turn, in one process; processor time is the fairer figure where other programs run. Target: at most 15 %.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from memory_watch import MemoryWatch

from pipeline import bootstrap
from pipeline.errors import UnreadableFileError
from pipeline.indexing import EmbedderSource, update_index
from pipeline.ingest.chunkers.chunker import Chunker
from pipeline.ingest.collect import find_reader, read_file
from pipeline.ingest.reasons import cause_of
from pipeline.ingest.scan import scan
from pipeline.ports import Embedder
from pipeline.settings import Settings, load_settings
from pipeline.stores import json_store
from pipeline.text.embedded import TOPIC_CHARACTERS, embedded_with_map
from pipeline.types import Chunk

_SLICE = 64
_LIMIT = 15.0


@dataclass(slots=True)
class Format:
    """What became of the files of one format."""

    files: int = 0
    skipped: Counter[str] = field(default_factory=Counter)
    characters: int = 0
    chunks: int = 0
    read_s: float = 0.0
    cut_s: float = 0.0


@dataclass(slots=True)
class Times:
    """Seconds by the clock and of the processor."""

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Add what happens inside."""
        wall, cpu = time.perf_counter(), time.process_time()
        yield
        self.wall.append(time.perf_counter() - wall)
        self.cpu.append(time.process_time() - cpu)


def main() -> None:
    """Print the table and the overhead."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="a knowledge base")
    parser.add_argument("--models", type=Path)
    parser.add_argument("--rounds", type=int, default=2)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as home:
        chosen = {"home": home, "models": options.models, "profile": "search"}
        settings = load_settings({name: value for name, value in chosen.items() if value}).settings
        settings.knowledge_base.symlink_to(options.folder.resolve(), target_is_directory=True)
        embedder = bootstrap.create_embedder(settings)
        by_format(settings, embedder)
        overhead(settings, embedder, options.rounds)


def by_format(settings: Settings, embedder: Embedder) -> None:
    """Read and cut every file by itself."""
    chunker = Chunker.of(embedder, settings.index)
    formats: defaultdict[str, Format] = defaultdict(Format)
    for item in scan(settings.knowledge_base):
        found = formats[Path(item.file).suffix.lower() or "-"]
        found.files += 1
        started = time.perf_counter()
        try:
            documents = read_file(item, find_reader(item))
        except UnreadableFileError as error:
            found.skipped[cause_of(error).key] += 1
            continue
        finally:
            found.read_s += time.perf_counter() - started
        found.characters += sum(len(document.text) for document in documents)
        started = time.perf_counter()
        found.chunks += sum(len(chunker.chunk(document)) for document in documents)
        found.cut_s += time.perf_counter() - started
    print(f"{'':8}{'files':>7}{'read':>7}{'characters':>12}{'chunks':>8}{'read, s':>9}{'cut, s':>9}  skipped")
    for name, one in sorted(formats.items()):
        read = one.files - one.skipped.total()
        skipped = "; ".join(f"{why} ({count})" for why, count in one.skipped.most_common())
        print(
            f"{name:8}{one.files:7}{read:7}{one.characters:12}{one.chunks:8}"
            f"{one.read_s:9.2f}{one.cut_s:9.2f}  {skipped}"
        )


def overhead(settings: Settings, embedder: Embedder, rounds: int) -> None:
    """Index everything, and embed everything, in turn."""
    spec = embedder.spec
    source = EmbedderSource(spec.id, spec.prefix_scheme, lambda: embedder)
    indexing, embedding = Times(), Times()
    tokens, chunks = 0, 0
    for _ in range(rounds):
        with MemoryWatch() as watch, indexing.measured():
            report = update_index(settings, source, rebuild=True)
        if report is not None:
            tokens, chunks = report.tokens, report.chunks
        whole, alone = _texts(json_store.load(settings.embeddings).chunks)
        with embedding.measured():
            _embed(embedder, whole, with_tokens=True)
            _embed(embedder, alone, with_tokens=False)
    print(f"{chunks} chunks, {tokens} tokens, {len(whole)} + {len(alone)} texts encoded")
    for name, once in (("indexing", indexing), ("embedding alone", embedding)):
        wall, cpu = statistics.median(once.wall), statistics.median(once.cpu)
        print(f"{name:20} {wall:8.2f} s, {cpu:8.2f} s of processor time")
    by_clock, by_cpu = (
        100 * (statistics.median(one) / statistics.median(other) - 1)
        for one, other in ((indexing.wall, embedding.wall), (indexing.cpu, embedding.cpu))
    )
    print(f"{'overhead':20} {by_clock:8.1f} %, {by_cpu:6.1f} % of processor time; target {_LIMIT:.0f} %")
    print(f"{'memory at most':20} {watch.peaks['private_mb']:8.0f} MB private")
    print(time.strftime("%Y-%m-%d %H:%M"))


def _texts(chunks: Sequence[Chunk]) -> tuple[list[str], list[str]]:
    """What the model is given for these chunks, each text once: topic + text, and texts alone."""
    made = [embedded_with_map(chunk.topic, chunk.text, TOPIC_CHARACTERS) for chunk in chunks]
    whole = dict.fromkeys(one.text for one in made)
    alone = dict.fromkeys(one.body.text for one in made if one.offset and one.body.text not in whole)
    return list(whole), list(alone)


def _embed(embedder: Embedder, texts: list[str], *, with_tokens: bool) -> None:
    texts.sort(key=len, reverse=True)
    for begin in range(0, len(texts), _SLICE):
        embedder.encode(texts[begin : begin + _SLICE], "passage", with_tokens=with_tokens)


if __name__ == "__main__":
    main()
