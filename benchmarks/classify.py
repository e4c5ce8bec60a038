"""How well and how fast letters are put under labels by the language model.

    python benchmarks/classify.py --models MODELS [--model NAME] [--examples 2] [--threads 1] [--minutes 12]

100 short letters to an accountant's office, eight labels and none (`benchmarks/data/letters.jsonl`, written
for this purpose). Scores of letters that were read go into a file, so that a run that was stopped can go on
later; what is printed comes from the product's own decision. The first half of the letters may have served
to choose prompt and calibration, the second half never. With examples only the second half is asked about.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from pipeline.classify.decision import Calibration, Chances, chances, chosen
from pipeline.classify.prompt import Task
from pipeline.embedders.onnx import OnnxEmbedder
from pipeline.generators.llama_cpp import LlamaCppGenerator
from pipeline.models import gguf_file
from pipeline.types import ClassifyRequest, Role

DATA = Path(__file__).parent / "data" / "letters.jsonl"
ROUND = 10
"""In the file stands, again and again, a letter of each of the eight labels and two of none."""

BINS = (0.0, 0.5, 0.7, 0.9, 1.0)


@dataclass(frozen=True, slots=True)
class Letter:
    """A letter and its right label; None where none fits."""

    n: int
    label: str | None
    text: str


@dataclass(frozen=True, slots=True)
class Scored:
    """What the model said of a letter: logarithms for all labels and, at the end, for none."""

    letter: Letter
    scores: tuple[float, ...]
    seconds: float
    tokens: int


def main() -> None:
    """Read what was not read yet, print all tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--model", default="qwen2.5-coder-1.5b-instruct-q4_k_m")
    parser.add_argument("--scores", type=Path, help="where scores are kept; none: a file of this model here")
    parser.add_argument("--examples", type=int, default=0, help="letters of each label shown, up to 5")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=12, help="stop reading then; run again to go on")
    parser.add_argument("--fit", action="store_true", help="also fit the calibration to the first half")
    parser.add_argument("--similarity", action="store_true", help="only the nearest label by the embedder")
    arguments = parser.parse_args()
    if arguments.similarity:
        similarity_rows(arguments.models, read_letters())
        return
    letters = read_letters()
    labels, half = labels_of(letters), len(letters) // 2
    shown = letters[: arguments.examples * ROUND]
    wanted = letters[half:] if shown else letters
    kept = arguments.scores or Path(f"classify-{arguments.model}-{len(shown)}.jsonl")
    scored = load(kept, letters)
    missing = [letter for letter in wanted if letter.n not in {one.letter.n for one in scored}]
    if missing:
        path = gguf_file(arguments.models / arguments.model)
        generator = LlamaCppGenerator(path, context_tokens=4096, threads=arguments.threads)
        examples = tuple((letter.text, letter.label) for letter in shown)
        task = Task(ClassifyRequest(labels, ("",), examples=examples))
        scored += score(generator, task, missing, kept, time.monotonic() + 60 * arguments.minutes)
    print(f"{arguments.model}: {len(scored)} of {len(wanted)} letters")
    print(f"{len(labels)} labels, {len(shown)} examples")
    speed_row(scored)
    for name, part in (
        ("first half", [one for one in scored if one.letter.n <= half]),
        ("second half", [one for one in scored if one.letter.n > half]),
    ):
        if part:
            quality_table(name, part, labels)
    if arguments.fit:
        print(f"\n{fit([one for one in scored if one.letter.n <= half], labels)}")


def similarity_rows(models: Path, letters: Sequence[Letter]) -> None:
    """How often the label nearest to a letter, by the embedder alone, is its own."""
    embedder = OnnxEmbedder(models / "multilingual-e5-small", threads=1)
    labels = labels_of(letters)
    own = [letter for letter in letters if letter.label is not None]
    roles: tuple[Role, ...] = ("query", "passage")
    for role in roles:
        texts = embedder.encode([letter.text for letter in own], role).vectors
        nearest = (texts @ embedder.encode(labels, role).vectors.T).argmax(axis=1)
        hits = sum(labels[place] == letter.label for place, letter in zip(nearest, own, strict=True))
        print(f"nearest label, both as {role}: right {hits}/{len(own)} ({hits / len(own):.0%})")


def fit(scored: Sequence[Scored], labels: tuple[str, ...]) -> Calibration:
    """The calibration of least mean log loss, on a grid."""

    def loss(calibration: Calibration) -> float:
        total = 0.0
        for one in scored:
            found = chances(one.scores[:-1], one.scores[-1], calibration)
            label = one.letter.label
            told = found.none if label is None else found.labels[labels.index(label)]
            total -= math.log(max(told, 1e-12))
        return total / len(scored)

    grid = [
        Calibration(temperature / 10, none / 4) for temperature in range(5, 41) for none in range(-16, 17)
    ]
    return min(grid, key=loss)


def read_letters() -> list[Letter]:
    """All letters of the file."""
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    return [Letter(row["n"], row["label"], row["text"]) for row in rows]


def labels_of(letters: Sequence[Letter]) -> tuple[str, ...]:
    """The labels in the order of their first letter."""
    return tuple(dict.fromkeys(letter.label for letter in letters if letter.label))


def load(path: Path, letters: Sequence[Letter]) -> list[Scored]:
    """What an earlier run has kept."""
    by_number = {letter.n: letter for letter in letters}
    lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines]
    return [Scored(by_number[row["n"]], tuple(row["scores"]), row["seconds"], row["tokens"]) for row in rows]


def score(
    generator: LlamaCppGenerator, task: Task, letters: Sequence[Letter], kept: Path, until: float
) -> list[Scored]:
    """Have the model read letters until a moment; each is kept at once."""
    found = list[Scored]()
    # What all letters have in common is read once a batch; it is no part of a letter's time.
    generator.score(task.conversation("-"), task.answers, lambda: False)
    with kept.open("a", encoding="utf-8") as file:
        for letter in letters:
            if time.monotonic() > until:
                break
            started = time.perf_counter()
            scores = generator.score(task.conversation(letter.text), task.answers, lambda: False)
            seconds = time.perf_counter() - started
            tokens = generator.stats.prompt_tokens - generator.stats.reused_tokens
            found.append(Scored(letter, scores, seconds, tokens))
            row = {"n": letter.n, "scores": scores, "seconds": seconds, "tokens": tokens}
            file.write(json.dumps(row) + "\n")
            file.flush()
    return found


def speed_row(scored: Sequence[Scored]) -> None:
    """Texts a second."""
    seconds = sum(one.seconds for one in scored)
    tokens = sum(one.tokens for one in scored)
    print(
        f"{len(scored) / seconds:.2f} texts/s ({seconds / len(scored):.2f} s a text, "
        f"{tokens / len(scored):.0f} tokens read a text)"
    )


def quality_table(name: str, scored: Sequence[Scored], labels: tuple[str, ...]) -> None:
    """Accuracy, errors, calibration."""
    request = ClassifyRequest(labels, ("",))
    decided = [(one, chances(one.scores[:-1], one.scores[-1])) for one in scored]
    own = [pair for pair in decided if pair[0].letter.label is not None]
    foreign = [pair for pair in decided if pair[0].letter.label is None]
    print(f"\n{name}: {len(own)} letters of a label, {len(foreign)} of none")
    forced = ClassifyRequest(labels, ("",), none=False)
    print(f"  a label must come out: right {share(own, lambda one, found: right(one, found, forced))}")
    print(f"  none allowed:          right {share(own, lambda one, found: right(one, found, request))}")
    silent = share(own, lambda _, found: chosen(found, request) is None)
    refused = share(foreign, lambda _, found: chosen(found, request) is None)
    print(f"  taken for none wrongly {silent}, rightly {refused}")
    everything = share(decided, lambda one, found: right(one, found, request))
    print(f"  all letters right      {everything}")
    print(f"  Brier score {brier(decided, labels):.3f}, calibration error {error(decided, request):.3f}")
    for low, high, count, mean, hit in reliability(decided, request):
        print(
            f"    said {low:.1f}-{high:.1f}: {count:3} letters, said {mean:.2f} on average, right {hit:.2f}"
        )
    wrong = Counter(
        (one.letter.label or "-", labels[place] if (place := chosen(found, request)) is not None else "-")
        for one, found in decided
        if not right(one, found, request)
    )
    for (meant, said), count in wrong.most_common(8):
        print(f"    {count} x {meant} -> {said}")


Pair = tuple[Scored, Chances]


def right(one: Scored, found: Chances, request: ClassifyRequest) -> bool:
    """Whether the label that comes out is the letter's own."""
    place = chosen(found, request)
    return (None if place is None else request.labels[place]) == one.letter.label


def share(pairs: Sequence[Pair], holds: Callable[[Scored, Chances], bool]) -> str:
    """Count and percentage."""
    count = sum(holds(*pair) for pair in pairs)
    return f"{count}/{len(pairs)} ({count / max(1, len(pairs)):.0%})"


def said(found: Chances, request: ClassifyRequest) -> float:
    """The probability that is told with the outcome."""
    place = chosen(found, request)
    return found.none if place is None else found.labels[place]


def brier(pairs: Sequence[Pair], labels: tuple[str, ...]) -> float:
    """Mean squared distance of all probabilities from what was right (Brier, 1950); 0 is perfect."""
    total = 0.0
    for one, found in pairs:
        truth = [float(label == one.letter.label) for label in labels] + [float(one.letter.label is None)]
        told = (*found.labels, found.none)
        total += sum((a - b) ** 2 for a, b in zip(told, truth, strict=True))
    return total / len(pairs)


def reliability(
    pairs: Sequence[Pair], request: ClassifyRequest
) -> list[tuple[float, float, int, float, float]]:
    """By what was said: low, high, how many, said on average, right."""
    rows = []
    for low, high in pairwise(BINS):
        inside = [
            pair
            for pair in pairs
            if low <= said(pair[1], request) < high or (high == BINS[-1] == said(pair[1], request))
        ]
        if inside:
            mean = math.fsum(said(found, request) for _, found in inside) / len(inside)
            hits = sum(right(one, found, request) for one, found in inside) / len(inside)
            rows.append((low, high, len(inside), mean, hits))
    return rows


def error(pairs: Sequence[Pair], request: ClassifyRequest) -> float:
    """Expected calibration error: how far what is said lies from what is right, over the bins."""
    return sum(count * abs(mean - hit) for _, _, count, mean, hit in reliability(pairs, request)) / len(pairs)


if __name__ == "__main__":
    main()
