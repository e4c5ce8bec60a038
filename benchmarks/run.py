"""The plain pipeline and ours in one run, alternating, on the same texts and questions.

``python benchmarks/run.py`` (about a quarter of an hour on two quiet cores), ``--quick`` (under 5 minutes).
Prints the ratio of medians of every stage beside its target, writes everything to ``benchmarks/results/``
and names the stages that fell by more than a tenth against ``benchmarks/recorded.json``; ``--record`` writes
that file and the pages made of it anew. A stage is written down as soon as it is done: ``--resume`` goes on
from there.
Seconds of different runs or machines are never compared, ratios are. The first run also makes the random
models, a few minutes and 4 GB in ``benchmarks/results/work``.
"""

from __future__ import annotations

import argparse
import json
import platform
import re
import shutil
import subprocess
import sys
import time
import traceback
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import corpus
from bench import Paths, Plan, answering, indexing, searching, searching_many, starting
from measures import Measured, from_json, recorded, regressions, table
from report import write_pages
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
_STAGES = ("start", "search", "index", "answer", "large")

QUICK = Plan(starts=2, searches=40, reranks=8, slices=2, index_tokens=6000, subjects=2)
FULL = Plan(starts=5, searches=200, reranks=30, slices=4, index_tokens=24_000, subjects=6)

RANDOM = """\
Random weights: both models of the plain pipeline (e5-base and the cross-encoder, XLM-R base size), and our
int8 copy of that cross-encoder. Their time is real, their choice of passages is not; the passages in the
prompts are those that our side found. Real weights: our e5-small and the language model of both sides.
The 2,000 passages of the searches have random vectors and real words."""


def main() -> None:
    """Prepare, measure, report; exit code 1 when a stage failed."""
    options = _options()
    mode = "quick" if options.quick else "full"
    plan = QUICK if options.quick else FULL
    if options.index_tokens:
        plan = replace(plan, index_tokens=options.index_tokens)
    done = _RESULTS / f"stages-{mode}"
    if not options.resume:
        shutil.rmtree(done, ignore_errors=True)
    waiting = [stage for stage in options.stages if not (done / f"{stage}.json").is_file()]
    failed = measure(waiting, done, plan, options) if waiting else []
    stored = [
        json.loads((done / f"{s}.json").read_text("utf-8")) for s in _STAGES if (done / f"{s}.json").is_file()
    ]
    rows = [from_json(row) for stage in stored for row in stage["rows"]]
    print("\n".join(("", _machine(), RANDOM, "", table(rows), "")))
    for line in regressions(rows, recorded(_RECORDED, mode)):
        print(f"SLOWER by more than a tenth: {line}")
    _write(rows, {stage["stage"]: stage["extra"] for stage in stored}, mode, record=options.record)
    if failed:
        sys.exit(f"failed: {', '.join(failed)}; the same command with --resume goes on")


def measure(stages: list[str], done: Path, plan: Plan, options: argparse.Namespace) -> list[str]:
    """Run stages, write each down; returns those that failed."""
    done.mkdir(parents=True, exist_ok=True)
    _tell("preparing")
    paths, subjects = prepare(options.data, options.work, options.models, plan)
    failed = []
    for stage in stages:
        started = time.perf_counter()
        _tell(stage)
        try:
            rows, extra = run_stage(stage, paths, plan, subjects, options)
        except Exception:  # noqa: BLE001 - told, and made up for by --resume; the other stages still count
            traceback.print_exc()
            failed.append(stage)
            continue
        seconds = round(time.perf_counter() - started, 1)
        content = {
            "stage": stage,
            "seconds": seconds,
            "rows": [row.as_json() for row in rows],
            "extra": extra,
        }
        text = json.dumps(content, ensure_ascii=False, indent=1)
        (done / f"{stage}.json").write_text(text + "\n", encoding="utf-8")
        print(table(rows), flush=True)
    return failed


def run_stage(
    stage: str, paths: Paths, plan: Plan, subjects: list[corpus.Subject], options: argparse.Namespace
) -> tuple[list[Measured], object]:
    """The figures of one stage, and what else is worth keeping of it."""
    if stage == "start":
        return starting(paths, plan), None
    if stage == "search":
        passages = [text for name, text in corpus.texts(options.data) if name.startswith("ru_")]
        found, difference = searching(paths, plan, corpus.questions(options.data), passages)
        return found, {"cross_encoder_difference": difference}
    if stage == "index":
        return indexing(paths, plan), None
    if stage == "answer":
        return answering(paths, plan, subjects)
    questions = json.loads((options.large / "questions.json").read_text(encoding="utf-8"))
    return searching_many(options.large, options.models, questions, plan.searches), None


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


def _write_naive_index(chunks: Sequence[Chunk], file: Path) -> None:
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
        "extra": extra,
    }
    file.write_text(json.dumps(content, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"written: {file}")
    if record:
        kept = json.loads(_RECORDED.read_text(encoding="utf-8")) if _RECORDED.is_file() else {}
        ratios = {row.stage: round(row.ratio, 2) for row in rows if row.ratio is not None}
        figures = {row.stage: row.as_json() for row in rows}
        kept[mode] = {
            "machine": _machine(),
            "measured": time.strftime("%Y-%m-%d"),
            "ratios": {**kept.get(mode, {}).get("ratios", {}), **ratios},
            "stages": {**kept.get(mode, {}).get("stages", {}), **figures},
        }
        _RECORDED.write_text(json.dumps(kept, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
        write_pages(_RECORDED)


def _machine() -> str:
    return f"{physical_cores()} cores, {' '.join(cpu_features())}, Python {platform.python_version()}"


def _tell(what: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {what}", flush=True)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?", default=_HERE.parents[1] / "shared" / "data")
    parser.add_argument("--quick", action="store_true", help="under 5 minutes")
    parser.add_argument(
        "--index-tokens", type=int, help="tokens to index in all; 230000 takes a quarter hour"
    )
    parser.add_argument("--stages", nargs="+", choices=_STAGES, help="by default all that can be run")
    parser.add_argument("--resume", action="store_true", help="keep the stages that were finished")
    parser.add_argument(
        "--large", type=Path, default=_RESULTS / "large" / "100000", help="home made by large.py, if there"
    )
    parser.add_argument("--work", type=Path, default=_RESULTS / "work")
    parser.add_argument("--models", type=Path, default=load_settings().settings.models)
    parser.add_argument("--record", action="store_true", help="keep the ratios as those to compare with")
    options = parser.parse_args()
    if not (options.data / "xquad").is_dir():
        parser.error(f"{options.data}: no folder kb_bsl and xquad here")
    options.work, options.large = options.work.resolve(), options.large.resolve()
    if not options.stages:
        ready = (options.large / "questions.json").is_file()
        options.stages = [stage for stage in _STAGES if stage != "large" or ready]
    return options


if __name__ == "__main__":
    main()
