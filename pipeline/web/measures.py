"""What this server has done and holds, as text that Prometheus reads.

A label takes its values from a fixed set (addresses of the table, methods, statuses): a caller cannot
make the text grow.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import accumulate
from threading import Lock
from typing import Literal

__all__ = [
    "BUCKETS_S",
    "TEXT",
    "Family",
    "RequestMeter",
    "Sample",
    "job_families",
    "service_families",
    "write",
]

TEXT = "text/plain; version=0.0.4; charset=utf-8"

BUCKETS_S = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0)
"""Upper bounds of the histogram: a search takes the first ones, an answer the last ones."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One line: ``name`` is the family's, with a suffix where its kind has several."""

    name: str
    value: float
    labels: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Family:
    """A measure with its samples; ``about`` is one line of English."""

    name: str
    kind: Literal["counter", "gauge", "histogram"]
    about: str
    samples: tuple[Sample, ...]


def write(families: Iterable[Family]) -> bytes:
    """The text exposition format 0.0.4 of Prometheus; a family without samples is left out."""
    lines: list[str] = []
    for family in families:
        if family.samples:
            lines.append(f"# HELP {family.name} {family.about}")
            lines.append(f"# TYPE {family.name} {family.kind}")
            lines += map(_line, family.samples)
    return "".join(f"{line}\n" for line in lines).encode()


def _line(sample: Sample) -> str:
    labels = ",".join(f'{name}="{_escaped(value)}"' for name, value in sample.labels.items())
    value = int(sample.value) if float(sample.value).is_integer() else sample.value
    return f"{sample.name}{{{labels}}} {value}" if labels else f"{sample.name} {value}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


class RequestMeter:
    """Counts requests and their time. Thread-safe."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._requests: Counter[tuple[str, str, int]] = Counter()
        # Per address: requests in each bucket, the last one for all that took longer.
        self._buckets: dict[str, list[int]] = {}
        self._seconds: dict[str, float] = {}

    def note(self, route: str, method: str, status: int, seconds: float) -> None:
        """One request was answered.

        Args:
            route: The template of its address, never the address itself.
            method: One of the methods of the table.
            status: HTTP status.
            seconds: From the whole request to its answer, or to the first event of a stream.
        """
        place = next((n for n, bound in enumerate(BUCKETS_S) if seconds <= bound), len(BUCKETS_S))
        with self._lock:
            self._requests[route, method, status] += 1
            self._buckets.setdefault(route, [0] * (len(BUCKETS_S) + 1))[place] += 1
            self._seconds[route] = self._seconds.get(route, 0.0) + seconds

    def families(self) -> tuple[Family, ...]:
        """Counts by address, method and status; a histogram of the time by address."""
        with self._lock:
            requests = sorted(self._requests.items())
            buckets = sorted((route, tuple(counts)) for route, counts in self._buckets.items())
            seconds = dict(self._seconds)
        name = "otvet_request_seconds"
        counted = tuple(
            Sample("otvet_requests_total", count, {"route": route, "method": method, "status": str(status)})
            for (route, method, status), count in requests
        )
        timed = tuple(
            sample for route, counts in buckets for sample in _histogram(name, route, counts, seconds[route])
        )
        return (
            Family("otvet_requests_total", "counter", "Requests answered.", counted),
            Family(name, "histogram", "Time to the answer, or to the first event of a stream.", timed),
        )


def _histogram(name: str, route: str, counts: tuple[int, ...], seconds: float) -> Iterator[Sample]:
    bounds = (*(f"{bound:g}" for bound in BUCKETS_S), "+Inf")
    for bound, total in zip(bounds, accumulate(counts), strict=True):
        yield Sample(f"{name}_bucket", total, {"route": route, "le": bound})
    yield Sample(f"{name}_sum", seconds, {"route": route})
    yield Sample(f"{name}_count", sum(counts), {"route": route})


def job_families(held: Mapping[str, int]) -> tuple[Family, ...]:
    """What `pipeline.jobs.JobBook.status` says."""
    return (
        _one("otvet_jobs_active", "gauge", "Background questions not answered yet.", held["active"]),
        _one("otvet_jobs_kept", "gauge", "Background replies kept.", held["kept"]),
        _one("otvet_jobs_kept_bytes", "gauge", "Memory of the replies kept.", held["kept_bytes"]),
    )


_OF_THE_SERVICE: tuple[tuple[str, Literal["counter", "gauge"], str, tuple[str, ...]], ...] = (
    ("otvet_queue_waiting", "gauge", "Answers waiting for the language model.", ("generator", "waiting")),
    ("otvet_queue_size", "gauge", "Answers that may wait.", ("generator", "queue_size")),
    ("otvet_generator_running", "gauge", "1 while an answer is written.", ("generator", "running")),
    ("otvet_generator_stuck", "gauge", "1 when it has been silent too long.", ("generator", "stuck")),
    ("otvet_generator_restarts_total", "counter", "Engines replaced.", ("generator", "restarts")),
    ("otvet_generator_texts_total", "counter", "Texts written to their end.", ("generator", "finished")),
    ("otvet_generator_text_seconds", "gauge", "Running mean of a text.", ("generator", "mean_s")),
    ("otvet_index_chunks", "gauge", "Passages in the index.", ("index", "chunks")),
    ("otvet_index_files", "gauge", "Files in the index.", ("index", "files")),
    ("otvet_memory_resident_bytes", "gauge", "Memory of this process.", ("memory", "resident_bytes")),
    ("otvet_memory_available_bytes", "gauge", "Free memory of the machine.", ("memory", "available_bytes")),
)
_TOKENS = {"read": "read_tokens", "reused": "reused_tokens", "written": "written_tokens"}


def service_families(status: Mapping[str, object], *, ready: bool) -> tuple[Family, ...]:
    """What the service says of itself; whatever it does not say is left out."""
    found = [_one("otvet_ready", "gauge", "1 once a search can be answered.", ready)]
    for name, kind, about, path in _OF_THE_SERVICE:
        value = _number(status, *path)
        if value is not None:
            found.append(_one(name, kind, about, value))
    name = "otvet_generator_tokens_total"
    tokens = {kind: _number(status, "generator", key) for kind, key in _TOKENS.items()}
    samples = tuple(
        Sample(name, value, {"kind": kind}) for kind, value in tokens.items() if value is not None
    )
    return (*found, Family(name, "counter", "Tokens, those reused were not read again.", samples))


def _number(values: object, *path: str) -> float | None:
    for name in path:
        if not isinstance(values, Mapping):
            return None
        values = values.get(name)
    return float(values) if isinstance(values, int | float) else None


def _one(name: str, kind: Literal["counter", "gauge"], about: str, value: float) -> Family:
    return Family(name, kind, about, (Sample(name, value, {}),))
