"""What the encoders cost: loading, memory, tokens a second, milliseconds a query and a pair.

``python benchmarks/encoders.py [--models FOLDER] [--threads N]``. Wall time depends on what else the
machine does, so processor seconds stand beside it.
"""

from __future__ import annotations

import argparse
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from pipeline.embedders.onnx import OnnxEmbedder
from pipeline.hardware import cpu_features, physical_cores, resident_bytes
from pipeline.rerankers.late_interaction import late_interaction_scores
from pipeline.rerankers.onnx_cross_encoder import OnnxCrossEncoder
from pipeline.settings import load_settings

SENTENCES = (
    "Ежегодный оплачиваемый отпуск кладовщика длится двадцать восемь календарных дней.",
    "Счёт-фактура № 5 от 12.03.2024 проводится документом «Поступление товаров и услуг».",
    "The annual paid leave of a storekeeper lasts 28 calendar days, see the handbook.",
    "Если программа сообщает ошибку ERR_42, проверьте права доступа к общей папке обмена.",
)
QUESTION = "Сколько дней длится ежегодный отпуск у кладовщика?"


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--models", type=Path, default=load_settings().settings.models)
    parser.add_argument("--threads", type=int, default=physical_cores())
    options = parser.parse_args()
    print(f"threads {options.threads}, processor {' '.join(cpu_features())}")
    measure_embedder(options.models / "multilingual-e5-small", options.threads)
    measure_late_interaction()
    cross_encoder = options.models / "ms-marco-minilm-l12"
    if cross_encoder.is_dir():
        measure_cross_encoder(cross_encoder, options.threads)


def measure_embedder(folder: Path, threads: int) -> None:
    """Loading, memory, indexing speed with and without token vectors, query time."""
    before = resident_bytes()
    wall, cpu = time.perf_counter(), time.process_time()
    embedder = OnnxEmbedder(folder, threads=threads)
    print(
        f"load                  {time.perf_counter() - wall:8.2f} s  ({time.process_time() - cpu:.2f} s CPU)"
    )
    print(f"memory                {(resident_bytes() - before) / 1e6:8.0f} MB more")
    passages = [
        " ".join(SENTENCES[(row + shift) % 4] + f" {row}." for shift in range(8)) for row in range(60)
    ]
    tokens = sum(len(embedder.token_spans(passage)) + 4 for passage in passages)
    for with_tokens in (False, True):
        wall, cpu = _best(lambda: embedder.encode(passages, "passage", with_tokens=with_tokens), 3)  # noqa: B023
        what = "with token vectors" if with_tokens else "vectors only"
        print(f"passages, {what:18s}{tokens / wall:8.0f} tokens/s  ({tokens / cpu:.0f} a CPU second)")
    _print_milliseconds("query", lambda: embedder.encode([QUESTION], "query", with_tokens=True))
    _print_milliseconds("tokenising a passage", lambda: embedder.token_spans(passages[0]))
    print(f"peak memory           {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:8.0f} MB")


def measure_late_interaction() -> None:
    """20 passages of 200 tokens against 14 question tokens, as float32 and as int8."""
    random = np.random.default_rng(0)
    vectors = random.normal(size=(21, 200, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
    question, passages = vectors[0, :14], list(vectors[1:])
    quantised = [np.rint(passage * 400).astype(np.int8) for passage in passages]
    _print_milliseconds("late interaction, f32", lambda: late_interaction_scores(question, passages))
    _print_milliseconds("late interaction, int8", lambda: late_interaction_scores(question, quantised))


def measure_cross_encoder(folder: Path, threads: int) -> None:
    """Ten English passages of some 200 tokens."""
    reranker = OnnxCrossEncoder(folder, threads=threads)
    passage = " ".join([SENTENCES[2]] * 11)
    wall, cpu = _best(lambda: reranker.score("How long is the annual leave?", [passage] * 10), 3)
    print(f"cross-encoder         {wall * 100:8.1f} ms a pair  ({cpu * 100:.1f} ms CPU)")


def _best(work: Callable[[], object], times: int) -> tuple[float, float]:
    """The shortest wall time and the shortest processor time of several runs, in seconds."""
    walls, cpus = [], []
    for _ in range(times):
        wall, cpu = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        cpus.append(time.process_time() - cpu)
    return min(walls), min(cpus)


def _print_milliseconds(what: str, work: Callable[[], object]) -> None:
    times = [_best(work, 1)[0] * 1e3 for _ in range(40)]
    print(f"{what:22s}{statistics.median(times):8.2f} ms  (best {min(times):.2f})")


if __name__ == "__main__":
    main()
