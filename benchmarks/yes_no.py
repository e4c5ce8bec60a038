"""Asks the language model itself whether the best passage holds the answer: yes or no, by its probabilities.

    python benchmarks/yes_no.py --data ../shared/data --models MODELS --base kb_bsl --out FILE [--shared]

One line of JSON a question, with the log-odds of "Yes". A run that was ended goes on where it was.
``refusal.py --yes-no FILE`` tells what they add. About 4 seconds a question on one thread.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from question_sets import CACHE, HANDBOOK, Question, RememberingEmbedder, load_sets, without
from refusal import BY_HAND
from refusal_signals import best_first

from pipeline.answer.prompt import build_prompt
from pipeline.answer.second_look import ANSWERS, second_look
from pipeline.embedders.onnx import OnnxEmbedder
from pipeline.generators.llama_cpp import LlamaCppGenerator
from pipeline.models.layout import gguf_file, locate
from pipeline.ports import ChatMessage
from pipeline.retrieval.search import retrieve
from pipeline.settings import IndexSettings, SearchSettings
from pipeline.text.language import detect_language
from pipeline.types import Evidence, Hit, Query

BUDGET = 3000
MOST = {"answerable": 60, "near": 60, "near by hand": 60, "taken out": 60}

_CHECK = "Does the source state the answer to this question? Reply Yes or No only."


def main() -> None:
    """Ask until all is asked or the time is over."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--base", required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seconds", type=float, default=800)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--shared", action="store_true", help="after the prompt of the answer, read already")
    parser.add_argument("--model", default="qwen2.5-coder-1.5b-instruct-q4_k_m")
    arguments = parser.parse_args()
    until = time.monotonic() + arguments.seconds
    lines = arguments.out.read_text(encoding="utf-8").splitlines() if arguments.out.is_file() else []
    done = {(row["kind"], row["question"]) for row in map(json.loads, lines)}
    inner = OnnxEmbedder(arguments.models / "multilingual-e5-small", threads=arguments.threads)
    file = gguf_file(locate(arguments.models, arguments.model))
    generator = LlamaCppGenerator(file, threads=arguments.threads)
    with arguments.out.open("a", encoding="utf-8") as out:
        for kind, question, hit in questions(arguments.data, inner, arguments.base):
            if time.monotonic() > until:
                return
            if (kind, question) not in done:
                started = time.perf_counter()
                asked = shared(hit, question, generator) if arguments.shared else judge(hit, question)
                yes, no = generator.score(asked, ANSWERS, lambda: False)
                row = {"base": arguments.base, "kind": kind, "question": question, "odds": round(yes - no, 4)}
                row["seconds"] = round(time.perf_counter() - started, 2)
                out.write(json.dumps(row, ensure_ascii=False) + "\n")
                out.flush()


def shared(hit: Hit, question: str, generator: LlamaCppGenerator) -> tuple[ChatMessage, ...]:
    """The product's own prompt with one more line: where an answer is written anyway, only that is read."""
    query = Query(question, question)
    language = detect_language(question)
    prompt = build_prompt(query, _evidence(hit), language, generator.count_tokens, BUDGET)
    *before, last = prompt.messages
    return (*before, replace(last, content=f"{last.content}\n\n{_CHECK}"))


def judge(hit: Hit, question: str) -> tuple[ChatMessage, ...]:
    """The product's second look: a prompt of its own, with examples."""
    return second_look(Query(question, question), _evidence(hit))


def questions(data: Path, inner: OnnxEmbedder, name: str) -> Iterator[tuple[str, str, Hit]]:
    """Kind, question and best passage, the kinds in turn, so that a run cut short has some of each."""
    embedder = RememberingEmbedder(inner, CACHE / "questions")
    one = next(each for each in load_sets(data, inner, IndexSettings()) if each.name == name)
    kinds: dict[str, list[Question]] = {kind: [] for kind in MOST}
    for question in one.questions:
        if not question.files:
            kinds.setdefault(question.kind.removeprefix("unanswerable_"), []).append(question)
    path = HANDBOOK / BY_HAND.get(name, "")
    if path.is_file():
        rows = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        kinds["near by hand"] = [Question(row["question"], frozenset()) for row in rows]
    order = np.random.default_rng(3).permutation(len(one.answerable))
    kinds["answerable"] = kinds["taken out"] = [one.answerable[place] for place in order]
    for place in range(max(MOST.values())):
        for kind, most in MOST.items():
            if place < min(most, len(kinds[kind])):
                question = kinds[kind][place]
                index = without(one.index, question.files) if kind == "taken out" else one.index
                query = Query(question.text, question.text)
                found = best_first(retrieve(query, index, embedder, SearchSettings()))
                if found:
                    yield kind, question.text, found[0].hit


def _evidence(hit: Hit) -> Evidence:
    return Evidence((hit,), (), relevance=0.5, refused=False)


if __name__ == "__main__":
    main()
