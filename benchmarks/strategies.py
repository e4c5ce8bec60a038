"""Every strategy with every reranker over kb_bsl and XQuAD, with intervals: who finds, at what price.

    python benchmarks/strategies.py --data ../shared/data --models MODELS [--cross 200] [--record]

Search only; the first stage, the order, the refusal and the prompt are the product's own code with its
defaults. Every question is written down as soon as it is done by all ways, so an interrupted run goes on
where it stopped. ``--record`` writes ``strategies.json``, from which the tables of ``docs/strategies.md``
are made. The cross-encoder of the package index knows English only; it reads ``--cross`` questions of a set.
"""

from __future__ import annotations

import argparse
import json
import platform
import time
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from question_sets import CACHE, Question, QuestionSet, RememberingEmbedder, load_sets

from pipeline.answer.evidence import gather
from pipeline.answer.prompt import build_prompt
from pipeline.compare.figures import Summary, summaries
from pipeline.compare.trial import Journal, Trial
from pipeline.compare.ways import Way, default_way, every_way
from pipeline.embedders.onnx import OnnxEmbedder
from pipeline.evaluation.questions import KnownQuestion
from pipeline.evaluation.records import key_of
from pipeline.ports import Embedder, Reranker
from pipeline.retrieval.room import PROMPT_TOKENS, Room
from pipeline.retrieval.search import retrieve
from pipeline.settings import IndexSettings, SearchSettings
from pipeline.strategies import RERANKERS, STRATEGIES
from pipeline.text.language import detect_language
from pipeline.types import Evidence, Query

SETS = ("kb_bsl", "xquad-ru", "xquad-en")
TOP_K = 10
RECORD = Path(__file__).with_name("strategies.json")
CROSS_ENCODER = "ms-marco-minilm-l12"


def main() -> None:
    """Measure what is missing, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--embedder", default="multilingual-e5-small")
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--cross", type=int, default=200, help="questions of a set for the cross-encoder")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--record", action="store_true")
    parser.add_argument("--done", action="store_true", help="count what earlier runs did, search no more")
    arguments = parser.parse_args()
    inner = OnnxEmbedder(arguments.models / arguments.embedder, threads=arguments.threads)
    embedder = RememberingEmbedder(inner, CACHE / "questions")
    cross_encoder = _cross_encoder(arguments.models, arguments.threads)
    found: dict[str, Any] = {}
    for one in load_sets(arguments.data, inner, IndexSettings()):
        if one.name in arguments.sets:
            measured = _Measured(one, embedder, cross_encoder, arguments.cross)
            trials = measured.done() if arguments.done else measured.trials()
            found[one.name] = _record(one, trials)
            _print(one.name, found[one.name])
    if arguments.record:
        values = {"embedder": inner.spec.id, "processor": platform.processor() or platform.machine()}
        RECORD.write_text(_written(values, found), encoding="utf-8")


class _Remembering:
    """A cross-encoder that reads a passage once for a question: several strategies find it.

    Attributes:
        spared_ms: What reading again would have taken since this was last set to 0.
    """

    def __init__(self, inner: Reranker) -> None:
        self._inner = inner
        self._known: dict[tuple[str, str], tuple[float, float]] = {}
        self.spared_ms = 0.0

    @property
    def name(self) -> str:
        """As the inner one."""
        return self._inner.name

    def score(self, question: str, passages: Sequence[str]) -> NDArray[np.float32]:
        """As the inner one; the share of a batch that each passage took is remembered."""
        new = [text for text in dict.fromkeys(passages) if (question, text) not in self._known]
        self.spared_ms += sum(self._known.get((question, text), (0.0, 0.0))[1] for text in passages)
        if new:
            started = time.perf_counter()
            scores = self._inner.score(question, new).tolist()
            each = (time.perf_counter() - started) * 1000 / len(new)
            self._known |= {(question, text): (score, each) for text, score in zip(new, scores, strict=True)}
        return np.array([self._known[question, text][0] for text in passages], dtype=np.float32)


def _written(values: Mapping[str, Any], found: Mapping[str, Any]) -> str:
    """JSON with a line for each way, so that a change shows what has changed."""
    sets = {
        name: {**one, "ways": [f"@{place}" for place in range(len(one["ways"]))]}
        for name, one in found.items()
    }
    text = json.dumps({**values, "sets": sets}, ensure_ascii=False, indent=1) + "\n"
    for name, one in found.items():
        head, mark, rest = text.partition(f' "{name}": {{')
        for place, row in enumerate(one["ways"]):
            rest = rest.replace(f'"@{place}"', json.dumps(row, ensure_ascii=False), 1)
        text = head + mark + rest
    return text


def _cross_encoder(models: Path, threads: int) -> _Remembering | None:
    if not (models / CROSS_ENCODER).is_dir():
        return None
    from pipeline.rerankers.onnx_cross_encoder import OnnxCrossEncoder

    return _Remembering(OnnxCrossEncoder(models / CROSS_ENCODER, threads=threads))


class _Measured:
    """One set, searched by all ways.

    Args:
        one: The set.
        embedder: Made its index.
        cross_encoder: None where none is installed.
        crossed: How many questions it reads, evenly spaced.
    """

    def __init__(
        self, one: QuestionSet, embedder: Embedder, cross_encoder: _Remembering | None, crossed: int
    ) -> None:
        self._one = one
        self._embedder = embedder
        self._cross_encoder = cross_encoder
        count = len(one.questions)
        self._crossed = set(np.linspace(0, count - 1, min(crossed, count)).astype(int).tolist())
        self._count = lru_cache(maxsize=1 << 16)(Room.of(embedder).count)
        self._whole_tokens: dict[str, int] = {}

    def done(self) -> list[Trial]:
        """Those of earlier runs: of the cross-encoder the questions that it has read for every strategy."""
        done = self._journal().read()
        reading = [way for way in every_way() if RERANKERS[way.reranker].reads]
        keys = [_key(question) for question in self._one.questions]
        ways = {key: [way for way in every_way() if way not in reading] for key in keys}
        for key in keys:
            if all((key, way) in done for way in reading):
                ways[key] += reading
        return [done[key, way] for key in keys for way in ways[key] if (key, way) in done]

    def _journal(self) -> Journal:
        fingerprint = {
            "set": self._one.name,
            "kb": self._one.index.manifest.build_id,
            "search": SearchSettings().model_dump(),
            "top_k": TOP_K,
        }
        return Journal(CACHE / "strategies", fingerprint)

    def trials(self) -> list[Trial]:
        """All of them; those of earlier runs are read."""
        journal = self._journal()
        done = journal.read()
        trials: list[Trial] = []
        for number, question in enumerate(self._one.questions):
            for way in self._ways(number):
                key = _key(question)
                trial = done.get((key, way)) or self._tried(question, key, way)
                if (key, way) not in done:
                    journal.add(trial)
                trials.append(trial)
            if number % 100 == 0:
                print(f"\r{self._one.name}: {number} of {len(self._one.questions)}", end="", flush=True)
        print("\r", end="")
        return trials

    def _ways(self, number: int) -> list[Way]:
        may_read = self._cross_encoder is not None and number in self._crossed
        return [way for way in every_way() if may_read or not RERANKERS[way.reranker].reads]

    def _tried(self, question: Question, key: str, way: Way) -> Trial:
        query = Query(question.text, question.text, strategy=way.strategy, reranker=way.reranker, top_k=TOP_K)
        room = Room(PROMPT_TOKENS, self._count)
        if self._cross_encoder is not None:
            self._cross_encoder.spared_ms = 0.0
        found = retrieve(
            query, self._one.index, self._embedder, SearchSettings(), self._cross_encoder, room=room
        )
        timings = dict(found.timings_ms)
        encode_ms = timings.pop("encode", 0.0)
        evidence = gather(found)
        files = sorted(question.files)
        return Trial(
            key=key,
            way=way,
            right=tuple(
                files.index(hit.chunk.file) if hit.chunk.file in question.files else None
                for hit in found.hits
            ),
            places=len(files),
            refused=evidence.refused,
            tokens=self._tokens(way, key, found.query, evidence),
            ms=sum(timings.values()) + (self._cross_encoder.spared_ms if self._cross_encoder else 0.0),
            encode_ms=encode_ms,
        )

    def _tokens(self, way: Way, key: str, query: Query, evidence: Evidence) -> int:
        """Of the prompt as the product makes it, with its three sources where the strategy chooses."""
        whole = STRATEGIES[way.strategy].is_whole
        if whole and key in self._whole_tokens:
            return self._whole_tokens[key]  # the same sources in another order
        language = detect_language(query.text)
        tokens = build_prompt(query, evidence, language, self._count, PROMPT_TOKENS).tokens
        if whole:
            self._whole_tokens[key] = tokens
        return tokens


def _key(question: Question) -> str:
    files = tuple(sorted(question.files))
    return key_of(KnownQuestion(0, question.text, files, question.answers, kind=question.kind))


def _record(one: QuestionSet, trials: Sequence[Trial]) -> dict[str, Any]:
    """The figures as JSON values; ways of the cross-encoder are held against the default on its questions."""
    default = default_way(SearchSettings())
    crossed = {trial.key for trial in trials if RERANKERS[trial.way.reranker].reads}
    plain = summaries((t for t in trials if not RERANKERS[t.way.reranker].reads), default)
    reading = summaries((t for t in trials if t.key in crossed), default)
    rows = plain + [one for one in reading if RERANKERS[one.way.reranker].reads]
    return {
        "chunks": len(one.index.chunks),
        "questions": len(one.questions),
        "answerable": len(one.answerable),
        "crossed": len(crossed),
        "ways": [_row(summary, default, trials) for summary in rows],
        "default_crossed": next(
            (_row(summary, default, trials) for summary in reading if summary.way == default), None
        ),
    }


def _row(summary: Summary, default: Way, trials: Sequence[Trial]) -> dict[str, Any]:
    times = [trial.ms for trial in trials if trial.way == summary.way]
    return {
        "strategy": summary.way.strategy,
        "reranker": summary.way.reranker,
        "default": summary.way == default,
        "figures": {
            name: [round(f.value, 4), round(f.low, 4), round(f.high, 4)]
            for name, f in summary.figures.items()
        },
        "against": {
            name: {
                "difference": round(change.difference, 4),
                "low": round(change.low, 4),
                "high": round(change.high, 4),
                "p": round(change.p, 4),
            }
            for name, change in summary.against.items()
        },
        "saving": None if summary.saving is None else round(summary.saving, 4),
        "median_ms": round(float(np.median(times)), 2),
    }


def _print(name: str, found: Mapping[str, Any]) -> None:
    without = found["questions"] - found["answerable"]
    print(f"\n{name}: {found['chunks']} passages, {found['answerable']} questions with an answer, "
          f"{without} without; the cross-encoder reads {found['crossed']}")  # fmt: skip
    for row in found["ways"]:
        cells = []
        for measure in ("hit@1", "hit@3", "mrr", "recall", "refused_wrongly", "refused_rightly"):
            figure = row["figures"].get(measure)
            cells.append("–" if figure is None else f"{figure[0]:.3f} [{figure[1]:.3f}, {figure[2]:.3f}]")
        p = row["against"].get("mrr", {}).get("p")
        print(f"{row['strategy']:<11} {row['reranker']:<17} " + "  ".join(cells)
              + f"  {row['figures']['tokens'][0]:6.0f} tokens  {row['median_ms']:7.1f} ms"
              + (f"  p(mrr) {p:.4f}" if p is not None else ""))  # fmt: skip


if __name__ == "__main__":
    main()
