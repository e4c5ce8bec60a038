"""How well contradictions between sources are told from other differences.

    python benchmarks/contradictions.py --models MODELS [--data ../shared/data]

Pairs of sentences made by hand (``tests/data/contradictions.jsonl``), compared with and without token
vectors. The rules were made on the first part and mended once on the second; the third was written
afterwards and only measured. With ``--data`` the questions of kb_bsl
and XQuAD are asked too: their sources do not contradict each other, so whatever is told there is false.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from question_sets import CACHE, QuestionSet, RememberingEmbedder, load_sets

from pipeline.answer.contradictions import contradictions
from pipeline.answer.difference import Claim, differ
from pipeline.answer.evidence import gather
from pipeline.answer.support import content_terms
from pipeline.embedders.onnx import OnnxEmbedder
from pipeline.ports import Embedder
from pipeline.retrieval.search import retrieve
from pipeline.settings import IndexSettings, SearchSettings
from pipeline.text.embedded import embedded_text
from pipeline.types import Chunk, Query, QuestionTerm

PAIRS = Path(__file__).parents[1] / "tests/data/contradictions.jsonl"


def main() -> None:
    """Print precision and recall over the pairs, and the false alarms."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--data", type=Path, help="a folder with kb_bsl and xquad")
    parser.add_argument("--sets", nargs="*", default=["kb_bsl", "xquad-ru", "xquad-en"])
    arguments = parser.parse_args()
    inner = OnnxEmbedder(arguments.models / "multilingual-e5-small", threads=2)
    pairs = [json.loads(line) for line in PAIRS.read_text(encoding="utf-8").splitlines()]
    for name, embedder in (("with token vectors", inner), ("words alone", None)):
        verdicts = [_differ(pair, embedder) for pair in pairs]
        for part in ("first", "second", "third"):
            chosen = [(p, v) for p, v in zip(pairs, verdicts, strict=True) if p["part"] == part]
            print(f"{name:<20} {part:<10} {_scores(chosen)}")
        for pair, verdict in zip(pairs, verdicts, strict=True):
            if verdict != pair["contradict"]:
                mistake = "false" if verdict else "missed"
                print(f"    {mistake} ({pair['kind']}): {pair['one']} | {pair['other']}")
    if arguments.data:
        remembering = RememberingEmbedder(inner, CACHE / "questions")
        for one in load_sets(arguments.data, inner, IndexSettings()):
            if one.name in arguments.sets:
                _false_alarms(one, remembering)


def _scores(chosen: Sequence[tuple[dict[str, Any], bool]]) -> str:
    right = sum(verdict and pair["contradict"] for pair, verdict in chosen)
    told = sum(verdict for _, verdict in chosen)
    real = sum(pair["contradict"] for pair, _ in chosen)
    return (
        f"precision {right}/{told} = {right / max(1, told):.2f}, recall {right}/{real} = {right / real:.2f}"
    )


def _differ(pair: dict[str, Any], embedder: Embedder | None) -> bool:
    claims = [_claim(pair, name, embedder) for name in ("one", "other")]
    terms = [QuestionTerm(word, 1.0, ((word, 1.0),)) for word in content_terms(pair["question"])]
    return differ(claims[0], claims[1], terms) is not None


def _claim(pair: dict[str, Any], name: str, embedder: Embedder | None) -> Claim:
    text, title = pair[name], pair[f"title_{name}"]
    claim = Claim(text, title)
    if embedder is None:
        return claim
    whole = embedded_text(Chunk("c", "d", 0, title, text, 0, len(text)))
    tokens = (embedder.encode([whole], "passage", with_tokens=True).tokens or ())[0]
    before = len(whole) - len(text)
    inside = np.flatnonzero(tokens.spans[:, 0] >= before)
    spans = tuple((int(a) - before, int(b) - before) for a, b in tokens.spans[inside])
    return replace(claim, tokens=tokens.vectors[inside], spans=spans)


def _false_alarms(one: QuestionSet, embedder: Embedder) -> None:
    """Every question asked as a person would; what is told is printed."""
    alarms, seconds = [], []
    for question in one.questions:
        retrieval = retrieve(Query(question.text, question.text), one.index, embedder, SearchSettings())
        evidence = replace(gather(retrieval), refused=False)
        started = time.perf_counter()
        found = contradictions(retrieval, evidence)
        seconds.append(time.perf_counter() - started)
        alarms += [(question.text, each) for each in found[:1]]
    rate = len(alarms) / len(one.questions)
    print(
        f"{one.name}: told in {len(alarms)} of {len(one.questions)} questions ({rate:.4f}), "
        f"median {np.median(seconds) * 1000:.2f} ms, 99 % {np.quantile(seconds, 0.99) * 1000:.1f} ms"
    )
    for text, each in alarms:
        print(f"    {text}")
        for claim in (each.one, each.other):
            print(f"        {claim.title!r}: {claim.text}")


if __name__ == "__main__":
    main()
