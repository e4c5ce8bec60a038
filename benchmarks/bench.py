"""The stages of the benchmark, each on both sides in turn; only one side works at a time."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from corpus import Subject
from measures import Measured
from protocol import Side

__all__ = ["Paths", "Plan", "answering", "indexing", "searching", "searching_many", "starting"]

_HERE = Path(__file__).resolve().parent
_WARM_UPS = 3
_TOGETHER = 3
"""Sources asked about before the first of them is asked about again; some five stay hot by default."""
_ALL_TOKENS = 230_000
_WARM_UP_QUESTION = "Как начать работу с программой?"
_WARM_UP_TEXT = "Чтобы начать работу, откройте программу и войдите под своим именем."


@dataclass(frozen=True, slots=True)
class Paths:
    """Where things lie.

    Attributes:
        work: Folder of everything that is made.
        models: The product's models folder.
        tokenizer: ``tokenizer.json`` of the XLM-R vocabulary.
        generator: The GGUF file both sides use.
        cross_encoder: The exported cross-encoder.
        ready: Home with the index for searches.
        sentences: Home of many small files.
        subjects: Home of the sources for answers.
        slices: Homes of the texts to index.
    """

    work: Path
    models: Path
    tokenizer: Path
    generator: Path
    cross_encoder: Path
    ready: Path
    sentences: Path
    subjects: Path
    slices: tuple[Path, ...] = ()

    @property
    def naive_index(self) -> Path:
        """The plain pipeline's index of the same passages as ``ready``."""
        return self.ready / "naive_index.json"


@dataclass(frozen=True, slots=True)
class Plan:
    """How much to measure."""

    starts: int
    searches: int
    reranks: int
    slices: int
    index_tokens: int
    subjects: int


@contextmanager
def _naive(
    paths: Paths, *, generator: bool = False, extra_buffers: bool = True, index: Path | None = None
) -> Iterator[Side]:
    arguments = ["--folder", str(paths.work / "naive"), "--tokenizer", str(paths.tokenizer)]
    arguments += ["--index", str(index or paths.work / "naive_slice.json")]
    if generator:
        arguments += ["--generator", str(paths.generator)]
        arguments += [] if extra_buffers else ["--no-extra-buffers"]
    yield from _running(Side(_HERE / "naive.py", arguments))


def defaults_run(paths: Paths) -> bool:
    """Whether llama-cpp-python's defaults survive on this processor; some with AMX they crash.

    See https://github.com/ggml-org/llama.cpp/pull/26954.
    """
    command = [sys.executable, str(_HERE / "naive.py"), "--probe", "--generator", str(paths.generator)]
    command += ["--folder", str(paths.work / "naive"), "--tokenizer", str(paths.tokenizer)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@contextmanager
def _ours(paths: Paths, home: Path, *more: str) -> Iterator[Side]:
    arguments = ["--home", str(home), "--models", str(paths.models), *more]
    yield from _running(Side(_HERE / "ours.py", arguments))


def _running(side: Side) -> Iterator[Side]:
    try:
        yield side
    finally:
        side.close()


def starting(paths: Paths, plan: Plan) -> list[Measured]:
    """From the start of the process to the first search answered, without a generator on either side."""
    naive, ours = [], []
    for _ in range(plan.starts + 1):
        with _naive(paths, index=paths.naive_index) as side:
            side.call("search", question=_WARM_UP_QUESTION)
            naive.append(side.seconds_alive())
        with _ours(paths, paths.ready, "--profile", "search") as side:
            side.call("load")
            side.call("search", question=_WARM_UP_QUESTION)
            ours.append(side.seconds_alive())
    # The first start of either reads its files from the disk.
    return [Measured("start", "process start to first search", naive[1:], ours[1:], 5, 1.0)]


def searching(
    paths: Paths, plan: Plan, questions: list[str], passages: list[str]
) -> tuple[list[Measured], float]:
    """Search, search with reranking, and the cross-encoder on the same three candidates.

    Returns:
        The figures, and the largest difference between the scores of both cross-encoders.
    """
    chooser = random.Random(3)
    times: dict[str, list[float]] = {name: [] for name in ("n", "o", "n3", "o3", "nc", "oc")}
    difference = 0.0
    cross = ("--profile", "search", "--cross-encoder", str(paths.cross_encoder))
    with (
        _naive(paths, index=paths.naive_index) as naive,
        _ours(paths, paths.ready, "--profile", "search") as ours,
    ):
        ours.call("load")
        for question in questions[:_WARM_UPS]:
            naive.call("search", question=question)
            ours.call("search", question=question)
        for question in questions[_WARM_UPS : _WARM_UPS + plan.searches]:
            times["n"].append(naive.call("search", question=question)["seconds"])
            times["o"].append(ours.call("search", question=question)["seconds"])
        searched = naive.peak_mb, ours.peak_mb
        with _ours(paths, paths.ready, *cross) as crossed:
            for count, question in enumerate(questions[-plan.reranks - 1 :]):
                three = chooser.sample(passages, 3)
                search = naive.call("search", question=question)["seconds"]
                theirs = naive.call("rerank", question=question, passages=three)
                both = ours.call("rerank", question=question)["seconds"]
                same = crossed.call("cross_encoder", question=question, passages=three)
                if count:  # the first one warms all up
                    times["n3"].append(search + theirs["seconds"])
                    times["o3"].append(both)
                    times["nc"].append(theirs["seconds"])
                    times["oc"].append(same["seconds"])
                pairs = zip(_logits(theirs["scores"]), same["scores"], strict=True)
                difference = max(difference, *(abs(one - other) for one, other in pairs))
    rows = [
        Measured("search", "search, p50", times["n"], times["o"], 4, 0.008),
        Measured("search_p99", "search, p99", times["n"], times["o"], 4, 0.015, part=0.99),
        Measured("rerank", "search + rerank", times["n3"], times["o3"], 50, 0.015),
        Measured("cross_encoder", "cross-encoder, 3 candidates", times["nc"], times["oc"], 2),
        Measured(
            "memory_search", "peak memory, search only", [searched[0]], [searched[1]], 0, 450, unit="MB"
        ),
    ]
    return rows, difference


def searching_many(home: Path, models: Path, questions: list[str], searches: int) -> list[Measured]:
    """Search in the large made-up index of ``large.py``; the plain pipeline has no answer to that size."""
    side = Side(_HERE / "ours.py", ["--home", str(home), "--models", str(models), "--profile", "search"])
    for running in _running(side):
        running.call("load")
        for question in questions[:_WARM_UPS]:
            running.call("search", question=question)
        asked = questions[_WARM_UPS : _WARM_UPS + searches]
        told = [running.call("search", question=question) for question in asked]
    times, memory = [one["seconds"] for one in told], [told[-1]["private_mb"]]
    return [
        Measured("search_many", "search in 100,000 passages, p50", [], times, 0, 0.040),
        Measured("memory_many", "memory of that, files left out", [], memory, 0, 1000, unit="MB"),
    ]


def indexing(paths: Paths, plan: Plan) -> list[Measured]:
    """Slices of the texts, ours first because it cuts the passages that both sides embed."""
    naive_s, ours_s, tokens = [], [], 0
    scaled: dict[str, list[float]] = {"n": [], "o": []}
    with (
        _naive(paths) as naive,
        _ours(paths, paths.sentences, "--profile", "search") as ours,
    ):
        ours.call("index", home=str(paths.sentences))
        naive.call("index", chunks=[{"topic": "", "text": _WARM_UP_TEXT}])
        for home in paths.slices[: plan.slices]:
            made = ours.call("index", home=str(home))
            chunks = json.loads((home / "embeddings" / "chunks.json").read_text(encoding="utf-8"))
            passages = [{"topic": chunk["topic"], "text": chunk["text"]} for chunk in chunks]
            naive_s.append(naive.call("index", chunks=passages)["seconds"])
            ours_s.append(made["seconds"])
            tokens += made["tokens"]
            scaled["n"].append(naive_s[-1] / made["tokens"] * _ALL_TOKENS)
            scaled["o"].append(ours_s[-1] / made["tokens"] * _ALL_TOKENS)
        changed = []
        for number in range(2):
            file = paths.sentences / "knowledge_base" / f"{number:04d}.txt"
            file.write_text(f"Изменено {number}. {_WARM_UP_TEXT}\n", encoding="utf-8")
            changed.append(ours.call("index", home=str(paths.sentences), rebuild=False)["seconds"])
        memory = [naive.peak_mb], [ours.peak_mb]
    remark = f"scaled up from {tokens:,} tokens in {len(ours_s)} slices"
    return [
        Measured("index", "index of 230,000 tokens", scaled["n"], scaled["o"], 5, 55, remark=remark),
        Measured("reindex", "index again after 1 file of 500", [], changed, 0, 2.0),
        Measured("memory_index", "peak memory, indexing", *memory, unit="MB"),
    ]


def chosen_subjects(
    paths: Paths, plan: Plan, subjects: list[Subject]
) -> list[tuple[Subject, list[list[str]]]]:
    """Subjects whose two first questions both find them first, and the two source texts of each question."""
    found = []
    with _ours(paths, paths.subjects, "--profile", "search", "--chunk-tokens", "480") as ours:
        ours.call("index", home=str(paths.subjects), rebuild=False)
        ours.call("load")
        for subject in subjects:
            told = [ours.call("sources", question=question) for question in subject.questions[:2]]
            if all(one["outcome"] == "sources" and one["titles"][0] == subject.title for one in told):
                found.append((subject, [one["texts"] for one in told]))
            if len(found) == plan.subjects:
                break
    return found


def answering(
    paths: Paths, plan: Plan, subjects: list[Subject]
) -> tuple[list[Measured], list[dict[str, object]]]:
    """Generated answers from the same two sources, then a second question to each, others in between.

    Returns:
        The figures, and all the answers.
    """
    chosen = chosen_subjects(paths, plan, subjects)
    first: dict[str, list[float]] = {name: [] for name in ("n", "o", "n2", "o2")}
    whole: dict[str, list[float]] = {name: [] for name in first}
    told: list[dict[str, object]] = []
    survives = defaults_run(paths)
    with (
        _naive(paths, generator=True, extra_buffers=survives) as naive,
        _ours(paths, paths.subjects, "--chunk-tokens", "480") as ours,
    ):
        ours.call("load", generator=True)
        ours.call("answer", question=_WARM_UP_QUESTION)
        ours.call("settle")
        naive.call("answer", question=_WARM_UP_QUESTION, passages=[_WARM_UP_TEXT])
        # Some first questions, then the second ones: at once, the plain pipeline would have the source, too.
        groups = [chosen[start : start + _TOGETHER] for start in range(0, len(chosen), _TOGETHER)]
        for again, group in ((again, group) for group in groups for again in (0, 1)):
            for subject, sources in group:
                question, passages = subject.questions[again], sources[again]
                mine = ours.call("answer", question=question)
                ours.call("settle")
                theirs = naive.call("answer", question=question, passages=passages)
                told.append({"question": question, "again": bool(again), "ours": mine, "naive": theirs})
                if mine["first_token"] is None or theirs["first_token"] is None:
                    continue  # nothing was generated: there is nothing to compare
                for name, side in (("n", theirs), ("o", mine)):
                    first[name + "2" * again].append(side["first_token"])
                    whole[name + "2" * again].append(side["seconds"])
        memory = [naive.peak_mb], [ours.peak_mb]
    remark = "" if survives else "plain without llama.cpp's AMX default, which crashes here"
    title = "first token, 2 sources of 450 tokens"
    rows = [
        Measured("first_token", title, first["n"], first["o"], 4, 2.5, remark=remark),
        Measured("answer", "whole answer", whole["n"], whole["o"], 3, 5.0),
        Measured("first_token_again", "first token, same source again", first["n2"], first["o2"], 10, 0.8),
        Measured("answer_again", "whole answer, same source again", whole["n2"], whole["o2"]),
        Measured("memory_generator", "peak memory with the generator", *memory, 0, 1600, unit="MB"),
    ]
    return [row for row in rows if row.ours], told


def _logits(probabilities: list[float]) -> Iterator[float]:
    """What a sigmoid made of logits; sentence-transformers applies one where there is a single label."""
    import math

    for value in probabilities:
        yield math.log(value / (1 - value)) if 0 < value < 1 else value
