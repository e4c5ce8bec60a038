"""How well the product says that there is no answer: every figure of refusal, as tables and as JSON.

    python benchmarks/refusal.py --data ../shared/data --models MODELS [--signals] [--json FILE]

Each base is judged by a model fitted on bases of other texts, and by a calibration made of its own sentences
and of the foreign questions that ship with the product, as ``otvet index`` makes it: no question measured
here has set anything. Kinds of questions without an answer:

- far: questions of the other bases;
- near: on the subjects of the base (XQuAD: 108 questions of paragraphs it does not hold);
- near by hand: ``benchmarks/data/near_bsl.jsonl`` and ``tests/data/near_handbook.jsonl``: about this very
  product, plausible, not in its documents; nothing was fitted on them;
- taken out: questions with an answer, asked after its files have left the base.

``--signals`` prints what further signals tell alone and what they add, ``--yes-no`` the same of what the
language model says itself (``yes_no.py``). A second run takes two minutes.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from fit_refusal import Sample, collect, fit, log_odds, own_gap, sample, weights_of
from question_sets import CACHE, HANDBOOK, Question, QuestionSet, RememberingEmbedder, load_sets
from refusal_signals import SIGNALS, signals

from pipeline.answer.calibration import STRICTNESS_STEP
from pipeline.answer.refusal import FEATURES, is_abroad
from pipeline.answer.second_look import DOUBTFUL, LEAST_ODDS
from pipeline.calibrate import STEPS, Samples, ask_samples, fitted
from pipeline.embedders.onnx import OnnxEmbedder
from pipeline.evaluation.logistic import fit_logistic
from pipeline.evaluation.metrics import area_under_curve
from pipeline.index import Calibration
from pipeline.ports import Embedder
from pipeline.settings import IndexSettings

KINDS = ("far", "near", "near by hand", "taken out")
BY_HAND = {"kb_bsl": "benchmarks/data/near_bsl.jsonl", "handbook": "tests/data/near_handbook.jsonl"}
USED = tuple(name for name in FEATURES if name != "lead")


@dataclass(frozen=True, slots=True)
class Judged:
    """One base and what a model that never saw it says of its questions.

    Attributes:
        samples: The base's questions.
        odds: Log-odds of each, not calibrated.
        calibration: Of the base, with that model.
    """

    name: str
    samples: Sequence[Sample]
    odds: np.ndarray
    calibration: Calibration

    def of(self, kind: str, *, calibrated: bool = True) -> np.ndarray:
        """Log-odds above the threshold, of the questions of one kind."""
        shifts = (self.calibration.shift, self.calibration.shift_abroad) if calibrated else (0.0, 0.0)
        return np.array(
            [
                odds - shifts[is_abroad(one.features)]
                for one, odds in zip(self.samples, self.odds, strict=True)
                if one.kind == kind
            ]
        )


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True, help="folder with kb_bsl and xquad")
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--embedder", default="multilingual-e5-small")
    parser.add_argument("--signals", action="store_true", help="also what further signals add")
    parser.add_argument("--yes-no", type=Path, nargs="+", help="what yes_no.py wrote")
    parser.add_argument("--json", type=Path, help="write all figures here too")
    arguments = parser.parse_args()
    inner = OnnxEmbedder(arguments.models / arguments.embedder, threads=2)
    embedder = RememberingEmbedder(inner, CACHE / "questions")
    sets = load_sets(arguments.data, inner, IndexSettings())
    look = signals if arguments.signals else None
    samples = [
        found for one in sets for found in [*collect(one, sets, embedder, look), *by_hand(one, embedder)]
    ]
    asked = {one.name: ask_samples(one.index, embedder) for one in sets}
    judged = [judge(one.name, samples, asked) for one in sets]
    figures: dict[str, Any] = {one.name: record(one) for one in judged}
    print_working_points(judged)
    print_curves(judged)
    if arguments.signals:
        figures["signals"] = print_signals(samples)
    if arguments.yes_no:
        figures["yes_no"] = [print_yes_no(one, arguments.yes_no) for one in judged]
    if arguments.json:
        arguments.json.write_text(json.dumps(figures, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def by_hand(one: QuestionSet, embedder: Embedder) -> Iterator[Sample]:
    """The hand-written near questions over a base."""
    path = HANDBOOK / BY_HAND.get(one.name, "")
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            question = Question(json.loads(line)["question"], frozenset())
            yield from sample(one.name, "near by hand", question, one.index, embedder)


def judge(name: str, samples: Sequence[Sample], asked: Mapping[str, Samples]) -> Judged:
    """A base as a model fitted on other texts and its own calibration see it."""
    others = [one for one in samples if one.kind != "near by hand" and not same_texts(one.base, name)]
    model = fit(others, USED)
    gap = own_gap(model, others, {base: one for base, one in asked.items() if not same_texts(base, name)})
    own = [one for one in samples if one.base == name]
    return Judged(name, own, log_odds(model, own), fitted(asked[name], model, gap))


def same_texts(base: str, other: str) -> bool:
    """Whether two bases hold the same texts, in the same language."""
    return base.split("-")[-1:] == other.split("-")[-1:]


def record(one: Judged) -> dict[str, Any]:
    """The figures of one base."""
    right, plain = one.of("answerable"), one.of("answerable", calibrated=False)
    found: dict[str, Any] = {
        "shift": one.calibration.shift,
        "shift_abroad": one.calibration.shift_abroad,
        "answerable": len(right),
        "answerable_refused": share(right < 0),
        "answerable_refused_uncalibrated": share(plain < 0),
    }
    for kind in KINDS:
        wrong = one.of(kind)
        if len(wrong):
            found[kind] = {
                "questions": len(wrong),
                "auc": area_under_curve(right, wrong),
                "recall_uncalibrated": share(one.of(kind, calibrated=False) < 0),
                "curve": {step: point(right, wrong, STRICTNESS_STEP * step) for step in STEPS},
                "best": best_point(right, wrong),
                "at_3_percent": share(wrong < np.quantile(right, 0.03)),
            }
    return found


def point(right: np.ndarray, wrong: np.ndarray, threshold: float) -> dict[str, float]:
    """Precision and recall of refusal at a threshold, and the share of answerable questions it costs.

    ``precision_even`` is what precision would be, were there as many answerable questions as others.
    """
    caught, lost = share(wrong < threshold), share(right < threshold)
    refused = caught * len(wrong) + lost * len(right)
    return {
        "precision": caught * len(wrong) / refused if refused else 1.0,
        "precision_even": caught / (caught + lost) if caught + lost else 1.0,
        "recall": caught,
        "answerable_refused": lost,
    }


def best_point(right: np.ndarray, wrong: np.ndarray) -> dict[str, float]:
    """The point whose smaller one of precision (with even numbers) and recall is largest."""
    points = [point(right, wrong, threshold) for threshold in np.unique(np.concatenate([right, wrong]))]
    return max(points, key=lambda one: min(one["precision_even"], one["recall"]))


def print_working_points(judged: Sequence[Judged]) -> None:
    """What the product refuses as it comes, without and with the calibration."""
    print("\nshare refused, as fitted → calibrated (AUC), and where 3 % of answerable ones are refused")
    print(f"{'base':<12}{'shift':>7}{'answerable':>16}" + "".join(f"{kind:>32}" for kind in KINDS))
    for one in judged:
        right, plain = one.of("answerable"), one.of("answerable", calibrated=False)
        line = f"{one.name:<12}{one.calibration.shift:>+7.2f}"
        line += f"{share(plain < 0):>6.3f} → {share(right < 0):.3f}".rjust(16)
        for kind in KINDS:
            wrong, before = one.of(kind), one.of(kind, calibrated=False)
            cell = ""
            if len(wrong):
                auc, kept = area_under_curve(right, wrong), share(wrong < np.quantile(right, 0.03))
                cell = (
                    f"{share(before < 0):.2f} → {share(wrong < 0):.2f} ({auc:.3f}) {kept:.2f} of {len(wrong)}"
                )
            line += f"{cell:>32}"
        print(line)


def print_curves(judged: Sequence[Judged]) -> None:
    """Precision and recall at each strictness."""
    print("\nprecision / recall by strictness; precision in brackets: with as many questions on either side")
    for one in judged:
        right = one.of("answerable")
        lost = "  ".join(f"{step:+d}: {share(right < STRICTNESS_STEP * step):.3f}" for step in STEPS)
        print(f"{one.name}: answerable refused {lost}")
        for kind in KINDS:
            wrong = one.of(kind)
            if len(wrong):
                points = [point(right, wrong, STRICTNESS_STEP * step) for step in STEPS]
                best = best_point(right, wrong)
                cells = "  ".join(
                    f"{p['precision']:.2f} ({p['precision_even']:.2f}) / {p['recall']:.2f}" for p in points
                )
                print(f"  {kind:<14}{cells}   best ({best['precision_even']:.2f}) / {best['recall']:.2f}")


def print_signals(samples: Sequence[Sample]) -> dict[str, Any]:
    """What each signal tells alone, and what it adds to the model where that was fitted on other texts."""
    known = [one for one in samples if one.signals is not None and one.base.count("-") < 2]
    bases = list(dict.fromkeys(one.base for one in known))
    kinds = ("near", "taken out")
    plain = {base: added(known, base, None) for base in bases}
    print(f"\nAUC alone, near / taken out, and what is added to their mean\n{'signal':<40}", end="")
    print("".join(f"{base:>24}" for base in bases) + f"{'mean':>9}")
    figures: dict[str, Any] = {}
    for place, name in enumerate(SIGNALS):
        gains, cells = [], ""
        for base in bases:
            own = [one for one in known if one.base == base]
            alone = [auc_of(own, kind, column(own, place)) for kind in kinds]
            gains.append(added(known, base, place) - plain[base])
            cells += f"{alone[0]:.2f} / {alone[1]:.2f} {gains[-1]:+.3f}".rjust(24)
        figures[name] = {"added": dict(zip(bases, gains, strict=True))}
        print(f"{name:<40}{cells}{np.mean(gains):>+9.4f}")
    return figures


def added(samples: Sequence[Sample], base: str, place: int | None) -> float:
    """Mean AUC of near and taken out, of a model with one more signal that was fitted on other texts."""
    others = [one for one in samples if not same_texts(one.base, base)]
    own = [one for one in samples if one.base == base]
    rows = [np.array([one.features for one in part]) for part in (others, own)]
    if place is not None:
        rows = [
            np.column_stack([row, column(part, place)]) for row, part in zip(rows, (others, own), strict=True)
        ]
    middle, spread = np.nanmean(rows[0], axis=0), np.nanstd(rows[0], axis=0) + 1e-9
    train, test = (np.nan_to_num((row - middle) / spread) for row in rows)
    labels = np.array([one.kind == "answerable" for one in others], dtype=np.float64)
    coefficients, _ = fit_logistic(train, labels, weights_of(others))
    scores = test @ coefficients
    return float(np.mean([auc_of(own, kind, scores) for kind in ("near", "taken out")]))


def print_yes_no(one: Judged, files: Sequence[Path]) -> dict[str, Any]:
    """What the language model's own yes or no tells, alone and added to the relevance."""
    rows = [json.loads(line) for file in files for line in file.read_text(encoding="utf-8").splitlines()]
    said = {(row["kind"], row["question"]): row["odds"] for row in rows if row["base"] == one.name}
    known = [place for place, it in enumerate(one.samples) if (it.kind, it.question) in said]
    if not known:
        return {}
    kinds = np.array([one.samples[place].kind for place in known])
    model = one.odds[known]
    yes = np.array([said[one.samples[place].kind, one.samples[place].question] for place in known])
    figures: dict[str, Any] = {"base": one.name, "questions": len(known)}
    print(f"\n{one.name}: the language model's yes or no, {len(known)} questions; AUC, at 3 %, best point")
    for weight in (None, 0.0, 0.25, 0.5, 1.0):
        scores = yes if weight is None else model + weight * yes
        name = "yes or no alone" if weight is None else f"relevance + {weight} yes or no"
        right = scores[kinds == "answerable"]
        figures[name] = {}
        cells = ""
        for kind in (kind for kind in KINDS if (kinds == kind).any()):
            wrong = scores[kinds == kind]
            best = best_point(right, wrong)
            kept = share(wrong < np.quantile(right, 0.03))
            auc = area_under_curve(right, wrong)
            figures[name][kind] = {"questions": len(wrong), "auc": auc, "at_3_percent": kept, "best": best}
            cells += f"  {kind}: {auc:.3f}, {kept:.2f}, {best['precision_even']:.2f} / {best['recall']:.2f}"
        print(f"  {name:<28}{cells}")
    figures["second_look"] = print_second_look(one, known, kinds, yes)
    return figures


def print_second_look(
    one: Judged, known: Sequence[int], kinds: np.ndarray, yes: np.ndarray
) -> dict[str, tuple[int, int, int]]:
    """How many of each kind the gate refuses, how many with ``search.second_look``, of how many."""
    shifts = (one.calibration.shift, one.calibration.shift_abroad)
    above = np.array([one.odds[at] - shifts[is_abroad(one.samples[at].features)] for at in known])
    doubtful = above < np.log(DOUBTFUL / (1 - DOUBTFUL))
    refused = (above < 0) | (doubtful & (yes < LEAST_ODDS))
    counts = {
        str(kind): (
            int((above < 0)[kinds == kind].sum()),
            int(refused[kinds == kind].sum()),
            int((kinds == kind).sum()),
        )
        for kind in dict.fromkeys(kinds)
    }
    for kind, (gate, second, total) in counts.items():
        print(f"  refused of {total} {kind}: {gate}, with a second look {second}")
    return counts


def column(samples: Sequence[Sample], place: int) -> np.ndarray:
    """One signal of all samples."""
    return np.array([np.nan if one.signals is None else one.signals[place] for one in samples])


def auc_of(samples: Sequence[Sample], kind: str, scores: np.ndarray) -> float:
    """AUC of scores, answerable against one kind; what cannot be told counts as the mean."""
    scores = np.nan_to_num(scores, nan=float(np.nanmean(scores)))
    kinds = np.array([one.kind for one in samples])
    return area_under_curve(scores[kinds == "answerable"], scores[kinds == kind])


def share(values: np.ndarray) -> float:
    """Share that is true."""
    return float(np.mean(values)) if len(values) else 0.0


if __name__ == "__main__":
    main()
