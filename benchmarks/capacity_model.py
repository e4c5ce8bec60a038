"""How much of a machine a knowledge base and its readers need: plain arithmetic over what was measured.

All costs are in cores, gigabytes and seconds; what a core-hour costs is for whoever pays to know. A figure
that grows with the base is a straight line through two measured sizes; a third one checks it
(``capacity.py --check``).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["Demand", "Facts", "Line", "Need", "facts_from", "need", "slots_for", "waiting_s"]

HOURS_A_MONTH = 730.0
BUSY = 0.6
"""Share of its cores that a server should be busy at the busiest time: beyond it, waiting grows quickly."""


@dataclass(frozen=True, slots=True)
class Line:
    """``at_zero + per_chunk * chunks``."""

    at_zero: float
    per_chunk: float

    @classmethod
    def through(cls, points: Sequence[tuple[float, float]]) -> Line:
        """The line through the first and the last of several points (chunks, value)."""
        (x0, y0), (x1, y1) = points[0], points[-1]
        slope = (y1 - y0) / (x1 - x0)
        return cls(y0 - slope * x0, slope)

    def at(self, chunks: float) -> float:
        """Value at this size."""
        return self.at_zero + self.per_chunk * chunks


@dataclass(frozen=True, slots=True)
class Facts:
    """What was measured.

    Attributes:
        search_core_s: Processor seconds of a search.
        private_mb: Private memory of a process that searches.
        mapped_mb: Files of the index that it keeps in the page cache; one copy serves all processes.
        disk_mb: The index on the disk.
        index_tokens_core_s: Tokens of documents that a core indexes in a second.
        tokens_a_chunk: Of the measured base.
        answer_s: Seconds of an answer by the local model, alone on ``answer_cores``.
        answer_cores: Cores that it takes.
        model_mb: Memory of the local model.
        graph_mb_a_chunk: Of an HNSW index, 384 numbers a vector (PostgreSQL, 100,000 passages).
    """

    search_core_s: Line
    private_mb: Line
    mapped_mb: Line
    disk_mb: Line
    index_tokens_core_s: float
    tokens_a_chunk: float
    answer_s: float
    answer_cores: float
    model_mb: float
    graph_mb_a_chunk: float


@dataclass(frozen=True, slots=True)
class Demand:
    """What is wanted at the busiest time.

    Attributes:
        chunks: Passages of the base.
        searches_s: Searches a second, those while somebody types included.
        answers_s: Written answers a second.
        wait_s: Seconds an answer may wait on the average.
        remote_answer_s: Seconds of an answer by a remote model; 0: the local one writes.
        reindex_h: Hours in which everything must be indexable anew.
        store_core_s: Processor seconds that a server of its own takes to find candidates; 0: each process
            looks through all vectors itself.
    """

    chunks: float
    searches_s: float
    answers_s: float
    wait_s: float = 5.0
    remote_answer_s: float = 0.0
    reindex_h: float = 8.0
    store_core_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Need:
    """What it takes.

    Attributes:
        search_cores: For searching, in the processes that answer.
        store_cores: For searching, in the store where that is a server.
        index_cores: To index everything anew in the time given; only while that goes on.
        slots: Answers written at once.
        wait_s: Mean wait for one of them.
        answer_cores: For the local model; 0 with a remote one.
        memory_gb: Of all servers that search, the graph of the store's vector index included.
        disk_gb: Of the index, once.
    """

    search_cores: float
    store_cores: float
    index_cores: float
    slots: int
    wait_s: float
    answer_cores: float
    memory_gb: float
    disk_gb: float

    def cost(self, core_hour: float, gb_hour: float, slot_hour: float) -> float:
        """A month, in the currency of the prices."""
        cores = self.search_cores + self.store_cores + self.answer_cores
        slots = 0 if self.answer_cores else self.slots
        return HOURS_A_MONTH * (cores * core_hour + self.memory_gb * gb_hour + slots * slot_hour)


def need(demand: Demand, facts: Facts, workers: int = 1) -> Need:
    """What a demand takes.

    Args:
        demand: At the busiest time.
        facts: As measured.
        workers: Processes that search; each has its own private memory, all share the mapped files.
    """
    search = demand.searches_s + demand.answers_s  # an answer begins with a search
    own = demand.remote_answer_s or facts.answer_s
    slots = slots_for(demand.answers_s, own, demand.wait_s)
    local = bool(slots) and not demand.remote_answer_s
    answer_cores = slots * facts.answer_cores if local else 0.0
    here = 0.0 if demand.store_core_s else demand.chunks  # passages that these processes hold themselves
    memory = workers * facts.private_mb.at(here) + facts.mapped_mb.at(here)
    if demand.store_core_s:
        memory += facts.graph_mb_a_chunk * demand.chunks
    tokens = demand.chunks * facts.tokens_a_chunk
    return Need(
        search_cores=search * facts.search_core_s.at(here) / BUSY,
        store_cores=search * demand.store_core_s / BUSY,
        index_cores=tokens / facts.index_tokens_core_s / (demand.reindex_h * 3600),
        slots=slots,
        wait_s=waiting_s(demand.answers_s, own, slots),
        answer_cores=answer_cores,
        memory_gb=(memory + (slots * facts.model_mb if local else 0.0)) / 1000,
        disk_gb=facts.disk_mb.at(demand.chunks) / 1000,
    )


def slots_for(rate_s: float, each_s: float, wait_s: float) -> int:
    """The fewest places at which the mean wait stays within ``wait_s``."""
    if rate_s <= 0:
        return 0
    slots = math.floor(rate_s * each_s) + 1
    while waiting_s(rate_s, each_s, slots) > wait_s:
        slots += 1
    return slots


def waiting_s(rate_s: float, each_s: float, slots: int) -> float:
    """Mean wait where answers of nearly equal length come at random: half of what Erlang's formula gives.

    M/D/c by the approximation of Allen and Cunneen: (Ca^2 + Cs^2) / 2 times the wait of M/M/c.
    """
    offered = rate_s * each_s
    if rate_s <= 0 or slots == 0:
        return 0.0
    if offered >= slots:
        return math.inf
    # Erlang B by its recurrence (no factorials), then Erlang C.
    blocked = 1.0
    for n in range(1, slots + 1):
        blocked = offered * blocked / (n + offered * blocked)
    delayed = blocked / (1 - offered / slots * (1 - blocked))
    return 0.5 * delayed * each_s / (slots - offered)


def facts_from(record: Mapping[str, object]) -> Facts:
    """Facts out of ``capacity.json``."""
    sizes = record["sizes"]
    assert isinstance(sizes, list)

    def line(name: str, scale: float = 1.0) -> Line:
        # The smallest and the largest size; what lies between them is for the check.
        ends = (sizes[0], sizes[-1])
        return Line.through([(float(one["chunks"]), float(one[name]) * scale) for one in ends])

    def number(name: str) -> float:
        value = record[name]
        assert isinstance(value, int | float)
        return float(value)

    return Facts(
        search_core_s=line("search_cpu_ms", 0.001),
        private_mb=line("private_mb"),
        mapped_mb=line("mapped_mb"),
        disk_mb=line("disk_mb"),
        index_tokens_core_s=number("index_tokens_core_s"),
        tokens_a_chunk=number("tokens_a_chunk"),
        answer_s=number("answer_s"),
        answer_cores=number("answer_cores"),
        model_mb=number("model_mb"),
        graph_mb_a_chunk=number("graph_mb_a_chunk"),
    )
