"""How far the check of faithfulness agrees with a person.

    OTVET_MODELS=MODELS python benchmarks/faithfulness.py [--labels FILE] [--fit] [--misses]

``data/faithfulness.jsonl`` holds 100 sentences over our own handbook, each with the passage it cites and a
label given by reading both: 84 written by the embedded language model (on the right passages, and on others
when the right files were taken away from it), 16 written by hand (right in other words; or a number, a
subject or a «не» exchanged).

Weights are never judged by sentences they were fitted to: the first table is made by ten-fold
cross-validation in which the sentences of one passage stay together, the weights fitted anew in
every fold. With ``--labels`` the weights of the product are judged by other sentences, none of which they
have seen. ``--fit`` prints the weights of all sentences, for `pipeline.evaluation.faithfulness`. Intervals
are 95 % bootstraps.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pipeline.bootstrap import create_embedder
from pipeline.evaluation import faithfulness
from pipeline.evaluation.faithfulness import SIGNS, Faithfulness, chance
from pipeline.evaluation.logistic import fit_logistic
from pipeline.evaluation.metrics import area_under_curve
from pipeline.settings import load_settings
from pipeline.types import Chunk

LABELS = Path(__file__).parent / "data" / "faithfulness.jsonl"
FOLDS = 10
RESAMPLES = 2000
RIDGE = 3.0
SEED = 7

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judged:
    """Sentences with their labels and what the check says of them, one entry each."""

    labels: Floats
    chances: Floats
    supported: NDArray[np.bool_]


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--labels", type=Path, help="other labelled sentences, for the product's weights")
    parser.add_argument("--fit", action="store_true", help="print weights fitted to all sentences")
    parser.add_argument("--misses", action="store_true", help="print the sentences that are judged otherwise")
    arguments = parser.parse_args()
    judge = Faithfulness(create_embedder(load_settings({"profile": "embedded"}).settings))
    lines = [json.loads(line) for line in (arguments.labels or LABELS).open(encoding="utf-8")]
    rows, labels = signs_of(lines, judge), np.array([float(line["supported"]) for line in lines])
    print(f"{len(lines)} sentences, {int(labels.sum())} of them supported")
    for place, name in enumerate(SIGNS):
        up = area_under_curve(rows[labels == 1, place], rows[labels == 0, place])
        print(f"  AUC of {name}: {up:.3f}")
    print(f"always the commoner label: accuracy {max(labels.mean(), 1 - labels.mean()):.3f}, kappa 0")
    if arguments.labels is None:
        folds = folds_of([line["passage"] for line in lines])
        show("fitted in ten folds", validated(rows, labels, folds), lines, misses=arguments.misses)
    shipped = np.array([chance(faithfulness.Signs.of_row(row.tolist())) for row in rows])
    said = Judged(labels, shipped, shipped >= faithfulness.THRESHOLD)
    kind = "never seen" if arguments.labels else "fitted to these very sentences: no evidence"
    show(f"weights of the product ({kind})", said, lines, misses=arguments.misses)
    if arguments.fit:
        weights, intercept = fitted(rows, labels)
        print("WEIGHTS =", tuple(round(float(weight), 3) for weight in weights))
        print("INTERCEPT =", round(float(intercept), 3))


def signs_of(lines: Sequence[dict[str, Any]], judge: Faithfulness) -> Floats:
    """What the check looks at, (sentences, signs)."""
    return np.array([judge.signs(line["claim"], [chunk_of(line)]).row() for line in lines])


def chunk_of(line: dict[str, Any]) -> Chunk:
    """The passage of a labelled sentence."""
    text = line["passage"]
    headings = tuple(line["headings"])
    return Chunk("id", "d", 0, line["topic"], text, 0, len(text), headings, file=line["file"])


def folds_of(passages: Sequence[str]) -> list[int]:
    """A fold for each sentence; those of one passage share it."""
    names = sorted(set(passages))
    order = np.random.default_rng(SEED).permutation(len(names))
    fold = {name: int(order[place]) % FOLDS for place, name in enumerate(names)}
    return [fold[passage] for passage in passages]


def fitted(rows: Floats, labels: Floats) -> tuple[Floats, float]:
    """Weights and intercept for raw signs."""
    middle, width = rows.mean(axis=0), rows.std(axis=0)
    width[width == 0] = 1.0
    weights, intercept = fit_logistic((rows - middle) / width, labels, np.ones(len(labels)), RIDGE)
    return weights / width, intercept - float(weights @ (middle / width))


def validated(rows: Floats, labels: Floats, folds: Sequence[int]) -> Judged:
    """Every sentence judged by weights that have not seen its passage."""
    chances = np.zeros(len(labels))
    for fold in range(FOLDS):
        out = np.array(folds) == fold
        weights, intercept = fitted(rows[~out], labels[~out])

        chances[out] = 1 / (1 + np.exp(-(rows[out] @ weights + intercept)))
    return Judged(labels, chances, chances >= faithfulness.THRESHOLD)


def show(title: str, judged: Judged, lines: Sequence[dict[str, Any]], *, misses: bool) -> None:
    """Agreement with its intervals, and the confusion."""
    print(f"{title}:")
    for name, measure in (("accuracy", accuracy), ("kappa", kappa), ("AUC", auc)):
        low, high = interval(judged, measure)
        print(f"  {name} {measure(judged):.3f} [{low:.3f}, {high:.3f}]")
    yes, said = judged.labels == 1, judged.supported
    print(f"  supported: {int((yes & said).sum())} taken as such, {int((yes & ~said).sum())} not")
    print(f"  unsupported: {int((~yes & ~said).sum())} taken as such, {int((~yes & said).sum())} not")
    share, true = judged.supported.mean(), judged.labels.mean()
    print(f"  faithfulness told {share:.3f}, by the labels {true:.3f}")
    for line, wrong, likely in zip(lines, yes != said, judged.chances, strict=True):
        if misses and wrong:
            print(f"    {line['id']} {likely:.2f} {'+' if line['supported'] else '-'} {line['claim'][:150]}")


def interval(judged: Judged, measure: Callable[[Judged], float]) -> tuple[float, float]:
    """95 % bootstrap over sentences."""
    rng = np.random.default_rng(SEED)
    found = []
    for _ in range(RESAMPLES):
        rows = rng.integers(0, len(judged.labels), len(judged.labels))
        found.append(measure(Judged(judged.labels[rows], judged.chances[rows], judged.supported[rows])))
    low, high = np.nanquantile(found, [0.025, 0.975])
    return float(low), float(high)


def accuracy(judged: Judged) -> float:
    """Share of equal judgements."""
    return float((judged.supported == judged.labels).mean())


def kappa(judged: Judged) -> float:
    """Cohen (1960): agreement beyond chance."""
    said, true = judged.supported.mean(), judged.labels.mean()
    luck = said * true + (1 - said) * (1 - true)
    return float((accuracy(judged) - luck) / (1 - luck)) if luck < 1 else float("nan")


def auc(judged: Judged) -> float:
    """Chance that a supported sentence is thought likelier than one that is not."""
    return area_under_curve(judged.chances[judged.labels == 1], judged.chances[judged.labels == 0])


if __name__ == "__main__":
    main()
