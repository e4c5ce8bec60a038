"""Fit the refusal model and write ``pipeline/answer/refusal.json``.

    python benchmarks/fit_refusal.py --data ../shared/data --models MODELS [--write]

Four knowledge bases, each question asked where it has an answer and where it has none: with the right
files taken out of the base (near), hand-written near ones, and questions that belong to another base
(far). Every base and every kind of question counts the same, whatever their number. The report leaves
one base out at a time: fitted on bases of other texts, measured on it.
"""

from __future__ import annotations

import argparse
import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from question_sets import CACHE, Question, QuestionSet, RememberingEmbedder, load_sets, without

import pipeline.answer
from pipeline.answer.refusal import FEATURES, RefusalModel, is_abroad, refusal_features
from pipeline.calibrate import Samples, ask_samples
from pipeline.embedders.onnx import OnnxEmbedder
from pipeline.evaluation.logistic import fit_logistic
from pipeline.evaluation.metrics import area_under_curve
from pipeline.index import Index
from pipeline.ports import Embedder
from pipeline.retrieval.search import retrieve
from pipeline.settings import IndexSettings, SearchSettings
from pipeline.types import Query, Retrieval

Floats = NDArray[np.float64]

KIND_WEIGHT = {"far": 1.0, "near": 1.0, "taken out": 1.0, "answerable": 3.0}
"""The three kinds without an answer weigh together what the answerable ones do."""
FALSE_REFUSALS = 0.02
"""Share of answerable questions that may be refused, on the base where it is highest."""
FOREIGN_FALSE_REFUSALS = 0.1
"""The same where the texts are in another language than the question, and the evidence is weaker."""
FEWEST = 30
"""Fewer answerable questions than this set no working point."""
FAR_QUESTIONS = 300
ANY_EMBEDDER = ("coverage", "lead", "foreign")
"""Features that no embedder's range of cosines enters."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One question asked of one base."""

    base: str
    kind: str
    features: Floats
    question: str = ""
    signals: Floats | None = None


def main() -> None:
    """Collect, fit, report, write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--models", type=Path, required=True)
    parser.add_argument("--embedder", default="multilingual-e5-small")
    parser.add_argument("--write", action="store_true", help="write refusal.json, else only report")
    arguments = parser.parse_args()
    inner = OnnxEmbedder(arguments.models / arguments.embedder, threads=2)
    embedder = RememberingEmbedder(inner, CACHE / "questions")
    sets = load_sets(arguments.data, inner, IndexSettings())
    samples = [sample for one in sets for sample in collect(one, sets, embedder)]
    own = tuple(name for name in FEATURES if name != "lead")
    asked = {one.name: ask_samples(one.index, embedder) for one in sets if one.name.count("-") < 2}
    report(samples, own, f"{embedder.spec.id}: {', '.join(own)}")
    report(samples, ANY_EMBEDDER, f"any embedder: {', '.join(ANY_EMBEDDER)}")
    if arguments.write:
        write(samples, asked, own, embedder.spec.id)


Look = Callable[[Retrieval], Floats | None]


def collect(
    one: QuestionSet, sets: Sequence[QuestionSet], embedder: Embedder, look: Look | None = None
) -> Iterator[Sample]:
    """All samples of one base; ``look`` gives them their ``signals``."""
    for question in one.questions:
        kind = "answerable" if question.files else question.kind.removeprefix("unanswerable_")
        yield from sample(one.name, kind, question, one.index, embedder, look=look)
    by_files: dict[frozenset[str], list[Question]] = defaultdict(list)
    for question in one.answerable:
        by_files[question.files].append(question)
    for files, questions in by_files.items():
        rest = without(one.index, files)
        for question in questions:
            yield from sample(one.name, "taken out", question, rest, embedder, look=look)
    for question in foreign(one, sets):
        yield from sample(one.name, "far", question, one.index, embedder, look=look)


def foreign(one: QuestionSet, sets: Sequence[QuestionSet]) -> list[Question]:
    """Questions of bases about other things; XQuAD says the same in both languages."""
    subject = one.name.split("-")[0]
    others = [q for other in sets if other.name.split("-")[0] != subject for q in other.questions]
    chosen = np.random.default_rng(7).permutation(len(others))[:FAR_QUESTIONS]
    return [others[place] for place in sorted(chosen)]


def sample(
    base: str,
    kind: str,
    question: Question,
    index: Index,
    embedder: Embedder,
    *,
    look: Look | None = None,
) -> Iterator[Sample]:
    """The features of a question; nothing where nothing was found."""
    query = Query(text=question.text, search_text=question.text)
    found = retrieve(query, index, embedder, SearchSettings())
    features = refusal_features(found)
    if features is not None:
        yield Sample(base, kind, features, question.text, look(found) if look else None)


def fit(samples: Sequence[Sample], used: Sequence[str]) -> RefusalModel:
    """A model whose relevance is 0.5 where the accepted share of answerable questions is refused.

    The working point is set twice: where passage and question share a language, and where they don't.
    """
    features = np.array([sample.features for sample in samples])
    labels = np.array([sample.kind == "answerable" for sample in samples], dtype=np.float64)
    means, deviations = np.nanmean(features, axis=0), np.nanstd(features, axis=0)
    deviations[deviations == 0] = 1.0
    columns = [FEATURES.index(name) for name in used]
    standard = np.nan_to_num((features - means) / deviations)[:, columns]
    found, intercept = fit_logistic(standard, labels, weights_of(samples))
    coefficients = np.zeros(len(FEATURES))
    coefficients[columns] = found
    model = RefusalModel(means, deviations, coefficients, intercept)
    foreign = FEATURES.index("foreign")
    own_shift = min(
        float(np.quantile(log_odds(model, some), FALSE_REFUSALS))
        for base in sorted({sample.base for sample in samples})
        if len(some := answerable(samples, base, foreign=False)) >= FEWEST
    )
    abroad = [one for one in samples if one.kind == "answerable" and one.features[foreign]]
    if abroad:
        # Raising the coefficient lowers foreign passages and lifts the others; the intercept undoes that.
        change = own_shift - float(np.quantile(log_odds(model, abroad), FOREIGN_FALSE_REFUSALS))
        coefficients[foreign] += change * deviations[foreign]
        intercept += change * means[foreign]
    return RefusalModel(means, deviations, coefficients, intercept - own_shift + 1e-6)


def answerable(samples: Sequence[Sample], base: str, *, foreign: bool) -> list[Sample]:
    """Samples of a base that have an answer, in the question's language or in another one."""
    flag = FEATURES.index("foreign")
    return [
        one
        for one in samples
        if one.base == base and one.kind == "answerable" and bool(one.features[flag]) == foreign
    ]


def weights_of(samples: Sequence[Sample]) -> Floats:
    """Each kind in each base counts by its weight, shared among its samples; 100 to a base."""
    counts: dict[tuple[str, str], int] = defaultdict(int)
    for one in samples:
        counts[one.base, one.kind] += 1
    return np.array([100 * KIND_WEIGHT[one.kind] / counts[one.base, one.kind] / 6 for one in samples])


def log_odds(model: RefusalModel, samples: Sequence[Sample]) -> Floats:
    """Log-odds of the samples' relevance."""
    return np.array([model.log_odds(one.features) for one in samples])


def report(samples: Sequence[Sample], used: Sequence[str], title: str) -> None:
    """Measure each base with a model fitted on the others."""
    print(f"\n{title}\nfitted on other texts: area under the curve / share refused at 0.5")
    kinds = ("far", "near", "taken out")
    print(f"{'base':<12}{'answerable refused':>20}" + "".join(f"{kind:>22}" for kind in kinds))
    for base in dict.fromkeys(sample.base for sample in samples):
        # The same texts in the other pairing of languages would tell the answer.
        model = fit([one for one in samples if one.base.split("-")[-1:] != base.split("-")[-1:]], used)
        own = [one for one in samples if one.base == base]
        right = log_odds(model, [one for one in own if one.kind == "answerable"])
        line = f"{base:<12}{f'{(right < 0).mean():.3f} of {len(right)}':>20}"
        for kind in kinds:
            wrong = log_odds(model, [one for one in own if one.kind == kind])
            cell = f"{area_under_curve(right, wrong):.3f} / {(wrong < 0).mean():.2f} of {len(wrong)}"
            line += f"{cell if len(wrong) else '':>22}"
        print(line)


def own_gap(model: RefusalModel, samples: Sequence[Sample], asked: Mapping[str, Samples]) -> float:
    """Log-odds from the middle of a base's own questions down to its worst real ones, mean over bases."""
    gaps = []
    for name, sample in asked.items():
        own = [model.log_odds(one) for one in sample.own if not is_abroad(one)]
        real = log_odds(model, answerable(samples, name, foreign=False))
        if len(real) >= FEWEST:
            gaps.append(float(np.median(own) - np.quantile(real, FALSE_REFUSALS)))
    return float(np.mean(gaps))


def write(
    samples: Sequence[Sample], asked: Mapping[str, Samples], used: Sequence[str], embedder_id: str
) -> None:
    """Write the models fitted on everything."""
    path = Path(pipeline.answer.__file__).with_name("refusal.json")
    models = {name: fit(samples, columns) for name, columns in (("own", used), ("any", ANY_EMBEDDER))}
    entries = {
        name: entry(model) | {"own_gap": round(own_gap(model, samples, asked), 6)}
        for name, model in models.items()
    }
    record = {
        "version": 1,
        "made_by": "benchmarks/fit_refusal.py",
        "data": "handbook, kb_bsl, XQuAD ru and en; see docs of the script",
        "embedders": {embedder_id: entries["own"]},
        "any": entries["any"],
    }
    path.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8", newline="\n")
    print(f"\nwritten: {path.name}")


def entry(model: RefusalModel) -> dict[str, Any]:
    """A model as it is stored."""

    def column(values: Floats) -> dict[str, float]:
        return {name: round(float(value), 6) for name, value in zip(FEATURES, values, strict=True)}

    return {
        "means": column(model.means),
        "deviations": column(model.deviations),
        "coefficients": column(model.coefficients),
        "intercept": round(model.intercept, 6),
    }


if __name__ == "__main__":
    main()
