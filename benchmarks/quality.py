"""How good search, refusal and evidence are, as tables.

    python benchmarks/quality.py --data ../shared/data --models MODELS [--sets kb_bsl xquad-ru] [--cross 60]

Indexes and encodings of questions are kept in the temporary folder, so a second run takes a minute.
A rank counts files: XQuAD paragraphs are files of their own. Chunk sizes and search settings are the
defaults of the product, and what is measured is its own code, from the question to the evidence.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from fit_refusal import collect
from question_sets import CACHE, Question, QuestionSet, RememberingEmbedder, load_sets

from pipeline.answer.extractive import extractive_answer
from pipeline.answer.refusal import DEFAULT_THRESHOLD, refusal_model
from pipeline.answer.sentences import choose_sentences
from pipeline.embedders.onnx import OnnxEmbedder
from pipeline.evaluation.metrics import area_under_curve, first_rank, mean_reciprocal_rank, recall_at
from pipeline.ports import Embedder, Reranker
from pipeline.retrieval.search import retrieve
from pipeline.settings import IndexSettings, SearchSettings
from pipeline.types import Candidate, Evidence, Query, Retrieval

SENTENCE_COUNTS = (1, 2, 3, 4, 6, 8)


@dataclass(frozen=True, slots=True)
class Run:
    """All answerable questions of a set, searched one way."""

    questions: Sequence[Question]
    found: Sequence[Retrieval]

    def ranks(self, stage: str | None = None) -> list[int | None]:
        """Rank of the first right file, in the final order or in that of one stage."""
        return [
            first_rank([candidate.hit.chunk.file for candidate in _ordered(one, stage)], question.files)
            for question, one in zip(self.questions, self.found, strict=True)
        ]


def main() -> None:
    """Print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--embedder", default="multilingual-e5-small")
    parser.add_argument("--sets", nargs="*", help="only these: handbook kb_bsl xquad-ru xquad-en")
    parser.add_argument("--cross", type=int, default=60, help="questions for the cross-encoder, 0 for none")
    arguments = parser.parse_args()
    inner = OnnxEmbedder(arguments.models / arguments.embedder, threads=2)
    embedder = RememberingEmbedder(inner, CACHE / "questions")
    everything = load_sets(arguments.data, inner, IndexSettings())
    sets = [one for one in everything if not arguments.sets or one.name in arguments.sets]
    print(f"embedder {embedder.spec.id}; files ranked; R@1 / R@3 / MRR")
    for one in sets:
        ranking_table(one, embedder)
        cross_table(one, embedder, arguments.models, arguments.cross)
    print("\nrefusal: area under the curve / share refused (of the questions without an answer)")
    for one in sets:
        refusal_row(one, everything, embedder)
    print("\nevidence: share of questions whose answer is in the best sentences / their tokens")
    print(f"{'':<12}" + "".join(f"{f'{count} sent.':>14}" for count in SENTENCE_COUNTS) + f"{'extract':>10}")
    for one in sets:
        evidence_row(one, embedder)


def search(
    one: QuestionSet,
    embedder: Embedder,
    *,
    strategy: str = "",
    settings: SearchSettings | None = None,
    cross_encoder: Reranker | None = None,
    count: int | None = None,
) -> Run:
    """Search the answerable questions of a set; with ``count`` so many of them, evenly spaced."""
    questions = one.answerable
    if count is not None:
        places = np.linspace(0, len(questions) - 1, min(count, len(questions))).astype(int)
        questions = [questions[place] for place in places]
    found = [
        _light(
            retrieve(
                Query(q.text, q.text, strategy=strategy, reranker="cross-encoder" if cross_encoder else ""),
                one.index,
                embedder,
                settings or SearchSettings(),
                cross_encoder,
            )
        )
        for q in questions
    ]
    return Run(questions, found)


def _light(found: Retrieval) -> Retrieval:
    """Without the token vectors of candidates that no sentence is chosen from: 300 kB a candidate."""
    shown = len(found.hits)
    rest = (replace(candidate, tokens=None, similarity=None) for candidate in found.candidates[shown:])
    return replace(found, candidates=(*found.candidates[:shown], *rest))


def ranking_table(one: QuestionSet, embedder: Embedder) -> None:
    """One line a way of searching."""
    default = search(one, embedder)
    wide = SearchSettings(rerank=60)
    print(f"\n{one.name}: {len(one.index.chunks)} chunks, {len(default.questions)} answerable questions")
    line("dense alone", search(one, embedder, strategy="dense").ranks())
    line("BM25 alone", search(one, embedder, strategy="keyword").ranks())
    rrf = search(one, embedder, settings=SearchSettings(rerank=60, strategy="hybrid-rrf"))
    line("RRF 0.7 / 0.3", rrf.ranks("fusion"))
    all_stages = search(one, embedder, settings=wide)
    line("sum of z-scores", all_stages.ranks("fusion"))
    line("text alone (rerank)", default.ranks("text_only"))
    line("late interaction", default.ranks("late_interaction"))
    line("default", default.ranks())
    for half in (0, 1):
        line(f"  default, half {half + 1}", default.ranks()[half::2])
    shown = [
        any(hit.chunk.file in question.files for hit in found.hits)
        for question, found in zip(default.questions, default.found, strict=True)
    ]
    print(f"  right file among the 3 sources shown: {np.mean(shown):.3f}")
    stages = default.found[0].timings_ms
    medians = {name: np.median([found.timings_ms[name] for found in default.found]) for name in stages}
    print("  median ms: " + ", ".join(f"{name} {value:.1f}" for name, value in medians.items()))


def cross_table(one: QuestionSet, embedder: Embedder, models: Path, count: int) -> None:
    """The English cross-encoder and the default on the same part of the questions."""
    folder = models / "ms-marco-minilm-l12"
    if one.name != "xquad-en" or not count or not folder.is_dir():
        return
    from pipeline.rerankers.onnx_cross_encoder import OnnxCrossEncoder

    crossed = search(one, embedder, cross_encoder=OnnxCrossEncoder(folder, threads=2), count=count)
    plain = search(one, embedder, count=count)
    line(f"MiniLM-L12, n={len(crossed.questions)}", crossed.ranks())
    line(f"default, n={len(plain.questions)}", plain.ranks())
    times = [found.timings_ms["cross_encoder"] for found in crossed.found]
    print(f"  median ms of the cross-encoder: {np.median(times):.0f}")


def refusal_row(one: QuestionSet, everything: Sequence[QuestionSet], embedder: Embedder) -> None:
    """How well relevance tells questions with an answer from others, by kind of the others."""
    model = refusal_model(embedder.spec.id)
    relevance: dict[str, list[float]] = {}
    for sample in collect(one, everything, embedder):
        relevance.setdefault(sample.kind, []).append(model.probability(sample.features))
    right = relevance.pop("answerable")
    refused = np.mean(np.array(right) < DEFAULT_THRESHOLD)
    cells = [f"answerable refused {refused:.3f} of {len(right)}"]
    for kind, wrong in sorted(relevance.items()):
        share = np.mean(np.array(wrong) < DEFAULT_THRESHOLD)
        cells.append(f"{kind} {area_under_curve(right, wrong):.3f} / {share:.2f} of {len(wrong)}")
    own_far = [q for q in one.questions if q.kind == "unanswerable_far"]
    if own_far:
        refused_far = sum(_refused(q, one, embedder) for q in own_far)
        cells.append(f"hand-written far refused {refused_far} of {len(own_far)}")
    print(f"{one.name:<12}" + "; ".join(cells))


def evidence_row(one: QuestionSet, embedder: Embedder) -> None:
    """Whether the answer is in the chosen sentences, by how many are chosen."""
    run = search(one, embedder)
    cells = []
    for count in SENTENCE_COUNTS:
        held, tokens = [], []
        for question, found in zip(run.questions, run.found, strict=True):
            chosen = choose_sentences(found, sources=3, count=count, tokens=10_000)[:count]
            held.append(any(_holds(question, s.chunk.file, s.chunk.start + s.start, s.text) for s in chosen))
            tokens.append(sum(len(embedder.token_spans(sentence.text)) for sentence in chosen))
        cells.append(f"{np.mean(held):.3f} / {np.mean(tokens):.0f}")
    extracts = [_right(question, found) for question, found in zip(run.questions, run.found, strict=True)]
    print(f"{one.name:<12}" + "".join(f"{cell:>14}" for cell in cells) + f"{np.mean(extracts):>10.3f}")


def line(name: str, ranks: Sequence[int | None]) -> None:
    """One line of a ranking table."""
    measures: list[Callable[[], float]] = [
        lambda: recall_at(ranks, 1),
        lambda: recall_at(ranks, 3),
        lambda: mean_reciprocal_rank(ranks),
    ]
    print(f"  {name:<22}" + " / ".join(f"{measure():.3f}" for measure in measures))


def _ordered(found: Retrieval, stage: str | None) -> Sequence[Candidate]:
    if stage is None:
        return found.candidates
    return sorted(found.candidates, key=lambda candidate: _rank(candidate, stage))


def _rank(candidate: Candidate, stage: str) -> int:
    return next(item.rank for item in candidate.hit.stages if item.name == stage)


def _holds(question: Question, file: str, start: int, text: str) -> bool:
    """The answer's own place where it is known, else a text that shows a right answer in a right file."""
    if question.place is not None:
        return file == question.place[0] and start <= question.place[1] < start + len(text)
    return file in question.files and any(answer.lower() in text.lower() for answer in question.answers)


def _evidence(found: Retrieval) -> Evidence:
    return Evidence(found.hits, choose_sentences(found, sources=3), 1.0, refused=False)


def _right(question: Question, found: Retrieval) -> bool:
    """Whether the answer without a language model shows a right answer; no question is refused here."""
    said = extractive_answer(_evidence(found), "ru").text.lower()
    return any(answer.lower() in said for answer in question.answers)


def _refused(question: Question, one: QuestionSet, embedder: Embedder) -> bool:
    from pipeline.answer.evidence import gather

    query = Query(question.text, question.text)
    return gather(retrieve(query, one.index, embedder, SearchSettings())).refused


if __name__ == "__main__":
    main()
