"""Precision and recall of the flags on numbers, dates, codes and «names» that a source does not hold.

    python benchmarks/flags.py

Answers made by hand (``tests/data/flags.jsonl``), each with its source and the facts of it that are wrong:
numbers with units, decimals, thousands, ranges, words, ordinals, dates in words, codes, declined names, in
Russian and English. A flag is right when it lies on a wrong fact.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pipeline.answer.fact_source import FactSource
from pipeline.answer.facts import find_facts

ANSWERS = Path(__file__).parents[1] / "tests/data/flags.jsonl"


@dataclass
class Score:
    """Counts of flags; ``mistakes`` tells each wrong or missing one."""

    right: int = 0
    false: int = 0
    missed: int = 0
    mistakes: list[str] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Share of flags that lie on a wrong fact."""
        return self.right / max(1, self.right + self.false)

    @property
    def recall(self) -> float:
        """Share of wrong facts that are flagged."""
        return self.right / max(1, self.right + self.missed)


def main() -> int:
    """Print the figures and the mistakes."""
    answers = [json.loads(line) for line in ANSWERS.read_text(encoding="utf-8").splitlines()]
    score = Score()
    for one in answers:
        add(score, one)
    print(
        f"{len(answers)} answers, {score.right + score.missed} wrong facts: "
        f"precision {score.precision:.3f}, recall {score.recall:.3f}"
    )
    print("\n".join(score.mistakes))
    return 0


def add(score: Score, one: dict[str, Any]) -> None:
    """Check one answer."""
    answer = one["answer"]
    flags = list(flagged(answer, one["source"]))
    wrong = [(start := answer.index(text), start + len(text), text) for text in one["wrong"]]
    for start, end in flags:
        if any(start < w_end and w_start < end for w_start, w_end, _ in wrong):
            continue
        score.false += 1
        score.mistakes.append(f"  false: {answer[start:end]!r} of {answer!r}; source: {one['source']!r}")
    for w_start, w_end, text in wrong:
        if any(start < w_end and w_start < end for start, end in flags):
            score.right += 1
        else:
            score.missed += 1
            score.mistakes.append(f"  missed: {text!r} of {answer!r}; source: {one['source']!r}")


def flagged(answer: str, source: str) -> Iterator[tuple[int, int]]:
    """Stretches of an answer that its source does not hold."""
    held = FactSource(source)
    for fact in find_facts(answer):
        if not held.holds(fact):
            yield fact.start, fact.end


if __name__ == "__main__":
    sys.exit(main())
