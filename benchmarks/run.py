"""The plain pipeline and ours in one run, alternating, on the same texts and questions.

``python benchmarks/run.py`` (about 20 minutes on two quiet cores), ``--quick`` (under 5). Prints the
ratio of medians of every stage, writes everything to ``benchmarks/results/`` and names the stages that
fell by more than a tenth against ``benchmarks/recorded.json``; ``--record`` writes that file anew.
Seconds of different runs or machines are never compared, ratios are. The first run also makes the random
models, a few minutes and 4 GB in ``benchmarks/results/work``.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import corpus
from bench import Paths, Plan, answering, indexing, searching, starting
from measures import Measured, recorded, regressions, table
from synthetic import store

from pipeline import bootstrap
from pipeline.hardware import cpu_features, physical_cores
from pipeline.models.layout import gguf_file
from pipeline.settings import load_settings
from pipeline.types import Chunk

_HERE = Path(__file__).resolve().parent
_RECORDED = _HERE / "recorded.json"
_RESULTS = _HERE / "results"
_CHUNKS = 2000
_SUBJECT_TOKENS = 450
_FILES = 500
_STAGES = ("start", "search", "index", "answer")

QUICK = Plan(starts=2, searches=40, reranks=8, slices=2, index_tokens=6000, subjects=1)
FULL = Plan(starts=5, searches=200, reranks=30, slices=4, index_tokens=48_000, subjects=6)

RANDOM = """\
Random weights: both models of the plain pipeline (e5-base and the cross-encoder, XLM-R base size), and our
int8 copy of that cross-encoder. Their time is real, their choice of passages is not; the passages in the
prompts are those that our side found. Real weights: our e5-small and the language model of both sides.
The 2,000 passages of the searches have random vectors and real words."""


def main() -> None:
    """Prepare, measure, report."""
    options = _options()
    plan = QUICK if options.quick else FULL
    if options.index_tokens:
        plan = Plan(**{**_fields(plan), "index_tokens": options.index_tokens})
    started = time.perf_counter()
    paths, subjects = prepare(options.data, options.work, options.models, plan)
    prepared = time.perf_counter()
    rows, extra = measure(paths, plan, options.data, subjects, options.stages)
    print(_machine() + "\n" + RANDOM + "\n\n" + table(rows))
    print(f"\nprepared in {prepared - started:.0f} s, measured in {time.perf_counter() - prepared:.0f} s")
    mode = "quick" if options.quick else "full"
    for line in regressions(rows, recorded(_RECORDED, mode)):
        print(f"SLOWER by more than a tenth: {line}")
    _write(rows, extra, mode, record=options.record)


def measure(
    paths: Paths, plan: Plan, data: Path, subjects: list[corpus.Subject], stages: list[str]
) -> tuple[list[Measured], dict[str, object]]:
    """Run the stages asked for."""
    rows: list[Measured] = []
    extra: dict[str, object] = {}
    questions = corpus.questions(data)
    if "start" in stages:
        rows += starting(paths, plan)
    if "search" in stages:
        passages = [text for name, text in corpus.texts(data) if name.startswith("ru_")]
        found, extra["cross_encoder_difference"] = searching(paths, plan, questions, passages)
        rows += found
    if "index" in stages:
        rows += indexing(paths, plan)
    if "answer" in stages:
        found, extra["answers"] = answering(paths, plan, subjects)
        rows += found
    return rows, extra


def prepare(data: Path, work: Path, models: Path, plan: Plan) -> tuple[Paths, list[corpus.Subject]]:
    """Make what the stages need and is not there yet."""
    settings = load_settings({"models": models, "profile": "embedded", "home": work / "ready"}).settings
    chosen = bootstrap.models_in_force(settings)
    embedder = bootstrap.create_embedder(settings)
    paths = Paths(
        work=work,
        models=settings.models,
        tokenizer=settings.models / chosen.embedder / "tokenizer.json",
        generator=gguf_file(settings.models / str(chosen.generator)),
        cross_encoder=work / "cross-int8",
        ready=settings.home,
        sentences=work / "sentences",
        subjects=work / "subjects",
        slices=tuple(
            corpus.write_slices(
                data,
                work,
                plan.slices,
                plan.index_tokens // plan.slices,
                lambda text: len(embedder.token_spans(text)),
            )
        ),
    )
    subjects = corpus.subjects(data, _SUBJECT_TOKENS, lambda text: len(embedder.token_spans(text)))
    corpus.write_subjects(subjects, paths.subjects)
    corpus.write_sentences(data, paths.sentences, _FILES)
    words = Counter(word for _, text in corpus.texts(data) for word in re.findall(r"\w+", text.lower()))
    index = store(_CHUNKS, embedder.spec, settings.embeddings, [word for word, _ in words.most_common()])
    _write_naive_index(index.chunks, paths.naive_index)
    exported = [sys.executable, str(_HERE / "cross.py"), str(work / "naive"), str(paths.tokenizer)]
    subprocess.run([*exported, str(paths.cross_encoder)], check=True)
    return paths, subjects


def _write_naive_index(chunks: tuple[Chunk, ...], file: Path) -> None:
    import numpy as np

    rng = np.random.default_rng(11)
    rows = []
    for chunk in chunks:
        pair = rng.standard_normal((2, 768))
        pair /= np.linalg.norm(pair, axis=1, keepdims=True)
        embedding, text_embedding = pair.astype(np.float32).tolist()
        rows.append(
            {
                "topic": chunk.topic,
                "text": chunk.text,
                "embedding": embedding,
                "text_embedding": text_embedding,
            }
        )
    file.write_text(json.dumps(rows, ensure_ascii=False), encoding="utf-8")


def _write(rows: list[Measured], extra: dict[str, object], mode: str, *, record: bool) -> None:
    _RESULTS.mkdir(exist_ok=True)
    file = _RESULTS / time.strftime(f"%Y%m%d-%H%M%S-{mode}.json")
    content = {
        "mode": mode,
        "machine": _machine(),
        "random_weights": RANDOM,
        "stages": [row.as_json() for row in rows],
        **extra,
    }
    file.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"written: {file}")
    if record:
        kept = json.loads(_RECORDED.read_text(encoding="utf-8")) if _RECORDED.is_file() else {}
        ratios = {row.stage: round(row.ratio, 2) for row in rows if row.ratio is not None}
        kept[mode] = {
            "machine": _machine(),
            "ratios": {**kept.get(mode, {}).get("ratios", {}), **ratios},
        }
        _RECORDED.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _machine() -> str:
    return f"{physical_cores()} cores, {' '.join(cpu_features())}, Python {platform.python_version()}"


def _fields(plan: Plan) -> dict[str, int]:
    return {name: getattr(plan, name) for name in Plan.__dataclass_fields__}


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?", default=_HERE.parents[1] / "shared" / "data")
    parser.add_argument("--quick", action="store_true", help="under 5 minutes")
    parser.add_argument(
        "--index-tokens", type=int, help="tokens to index in all; 230000 takes a quarter hour"
    )
    parser.add_argument("--stages", nargs="+", choices=_STAGES, default=list(_STAGES))
    parser.add_argument("--work", type=Path, default=_RESULTS / "work")
    parser.add_argument("--models", type=Path, default=load_settings().settings.models)
    parser.add_argument("--record", action="store_true", help="keep the ratios as those to compare with")
    options = parser.parse_args()
    if not (options.data / "xquad").is_dir():
        parser.error(f"{options.data}: no folder kb_bsl and xquad here")
    options.work = options.work.resolve()
    return options


if __name__ == "__main__":
    main()
