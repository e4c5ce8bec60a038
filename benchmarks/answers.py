"""How good the written answers are: the whole product, from the question to the checked reply.

    OTVET_MODELS=MODELS python benchmarks/answers.py --data ../shared/data [--count 150] [--limit 840]

Evenly spaced questions of XQuAD-ru and the answerable ones of kb_bsl, all with ``use_rag``. What the model
wrote to a prompt, and how long that took, is kept in the temporary folder: a run that is stopped goes on
where it was, and a change of the checks alone is measured within a minute. After ``--limit`` seconds the
model writes no more, and only questions whose texts are kept are counted. ``--fresh`` asks the model anew.
Results go to ``results/answers.json``.

An XQuAD answer is right when it holds at least 80 % of the stems of the gold answer, one about kb_bsl when
it holds any of the texts that show a right answer. A refused question counts as a wrong answer.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from question_sets import CACHE, Question, QuestionSet, load_sets

from pipeline.answer.tongue import in_another_language
from pipeline.bootstrap import create_embedder, create_generator
from pipeline.generators.worker import GeneratorWorker
from pipeline.index import Index
from pipeline.lazy import Lazy
from pipeline.messages import text
from pipeline.ports import ChatMessage, Embedder, Generator, GeneratorSpec, Reranker, Sampling
from pipeline.service import EXTRACTIVE, Parts, QAService
from pipeline.settings import Settings, load_settings
from pipeline.text.language import detect_language
from pipeline.text.normalise import fold
from pipeline.text.stems import keyword_terms
from pipeline.types import AskRequest, Reply

RESULTS = Path(__file__).parent / "results" / "answers.json"
SETS = ("xquad-ru", "kb_bsl")
RIGHT = 0.8
"""Share of the gold answer's stems that a right answer holds."""
_MARKER = re.compile(r"\[(\d+)\](?!\()")


@dataclass(frozen=True, slots=True)
class Record:
    """What was measured of one reply.

    Attributes:
        prose: Whether the checked prose is right; the quotation beneath it left out.
        text: Whether the whole ``answer`` is.
        shown: Whether ``answer`` or a quote among the sources is.
        language: The prose is in the language of the question, whatever identifiers it holds.
        present: There is a marker.
        valid: Every marker names a source of the reply and has a citation, whose quote is the source's own.
        seconds: From the question to the reply; None where the model's time for the text is not known.
    """

    set: str
    question: str
    answer: str
    outcome: str
    model: str
    prose: bool
    text: bool
    shown: bool
    language: bool
    present: bool
    valid: bool
    characters: int
    seconds: float | None


class RememberingGenerator:
    """A generator that keeps what it wrote to each prompt, and in how many seconds.

    Args:
        inner: Does the work.
        folder: Where texts are kept, one file a prompt.
        stop: A moment of ``time.monotonic`` after which nothing new is written.
        fresh: Forget what is there.

    Attributes:
        asked: How many texts were new.
        missing: True when the last prompt came too late and got an empty text.
        seconds: What the last text took; None where that is not known.
    """

    def __init__(self, inner: Generator, folder: Path, stop: float, *, fresh: bool) -> None:
        self._inner = inner
        self._folder = folder
        self._stop = stop
        self.missing = False
        self.asked = 0
        self.seconds: float | None = 0.0
        folder.mkdir(parents=True, exist_ok=True)
        if fresh:
            for path in folder.glob("*.json"):
                path.unlink()

    @property
    def spec(self) -> GeneratorSpec:
        """Who this is."""
        return self._inner.spec

    def count_tokens(self, text: str) -> int:
        """As the inner generator."""
        return self._inner.count_tokens(text)

    def generate(
        self, messages: Sequence[ChatMessage], sampling: Sampling, cancelled: Callable[[], bool]
    ) -> Iterator[str]:
        """As the inner generator, or what it wrote to the same prompt before; ``seconds`` says how long."""
        said = [self.spec.id, *(f"{m.role}\0{m.content}" for m in messages), repr(sampling)]
        path = self._folder / f"{hashlib.sha256(chr(0).join(said).encode()).hexdigest()[:24]}.json"
        self.missing = not path.exists() and time.monotonic() > self._stop
        if self.missing:
            return
        if not path.exists():
            self.asked += 1
            started = time.perf_counter()
            written = "".join(self._inner.generate(messages, sampling, cancelled))
            kept = {"text": written, "seconds": time.perf_counter() - started}
            path.write_text(json.dumps(kept, ensure_ascii=False), encoding="utf-8")
        kept = json.loads(path.read_text(encoding="utf-8"))
        self.seconds = kept["seconds"]
        yield kept["text"]


def main() -> None:
    """Ask everything, print the table, write the JSON."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--sets", nargs="*", default=SETS)
    parser.add_argument("--count", type=int, default=150, help="questions of XQuAD")
    parser.add_argument("--limit", type=float, default=float("inf"), help="seconds for new texts")
    parser.add_argument("--fresh", action="store_true", help="ask the model anew")
    parser.add_argument("--results", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    stop = time.monotonic() + arguments.limit
    settings = load_settings({"profile": "embedded"}).settings
    embedder, load = create_embedder(settings), create_generator(settings)
    assert load is not None
    generator = RememberingGenerator(load(), CACHE / "written", stop, fresh=arguments.fresh)
    worker = GeneratorWorker(lambda: generator, 1)
    records: list[Record] = []
    for one in load_sets(arguments.data, embedder, settings.index):
        if one.name in arguments.sets:
            service = _service(one.index, embedder, worker, settings)
            for question in _spaced(one, arguments.count):
                record = measured(one.name, question, service, generator)
                records += [record] if record else []
    worker.close()
    print(f"{generator.spec.id}; {generator.asked} texts were new")
    print(table(records))
    arguments.results.parent.mkdir(parents=True, exist_ok=True)
    found = {"figures": figures(records), "replies": [asdict(record) for record in records]}
    arguments.results.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def measured(
    name: str, question: Question, service: QAService, generator: RememberingGenerator
) -> Record | None:
    """Ask a question and look at the reply; None where the model came too late."""
    generator.seconds, generator.missing = 0.0, False
    started = time.perf_counter()
    asked = generator.asked
    request = AskRequest(question=question.text, use_rag=True, deadline_s=600)
    reply = service.ask(request, lambda: False)
    seconds = time.perf_counter() - started
    if generator.missing:
        return None
    prose = prose_of(reply)
    shown = "\n".join([reply.answer.text, *(source.quote for source in reply.sources)])
    return Record(
        set=name,
        question=question.text,
        answer=reply.answer.text,
        outcome=reply.answer.outcome,
        model=reply.model,
        prose=_answered(reply) and right(name, question, prose),
        text=_answered(reply) and right(name, question, reply.answer.text),
        shown=_answered(reply) and right(name, question, shown),
        language=not in_another_language(prose, detect_language(question.text)),
        present=bool(_MARKER.search(reply.answer.text)),
        valid=_valid(reply),
        characters=len(reply.answer.text),
        seconds=seconds if generator.asked > asked else _sum(seconds, generator.seconds),
    )


def prose_of(reply: Reply) -> str:
    """The answer without the quotation beneath it."""
    label = text("answers", "answer_quotation", detect_language(reply.question), quote="")
    return reply.answer.text.split(f"\n\n{label.strip()}")[0]


def right(name: str, question: Question, said: str) -> bool:
    """Whether a text holds a right answer; XQuAD gives whole answers, kb_bsl telling pieces of them."""
    if not name.startswith("xquad"):
        return any(fold(answer) in fold(said) for answer in question.answers)
    held = set(keyword_terms(said))
    return any(
        sum(term in held for term in terms) >= RIGHT * len(terms)
        for terms in map(keyword_terms, question.answers)
    )


def figures(records: Sequence[Record]) -> dict[str, dict[str, float]]:
    """Shares and means by set; those of markers and language are over the answers that are not refused."""
    found: dict[str, dict[str, float]] = {}
    for name in dict.fromkeys(record.set for record in records):
        own = [record for record in records if record.set == name]
        given = [record for record in own if record.outcome != "not_found"]
        shares = {
            measure: float(np.mean([getattr(record, measure) for record in own]))
            for measure in ("prose", "text", "shown")
        }
        shares |= {
            measure: float(np.mean([getattr(record, measure) for record in given]))
            for measure in ("language", "present", "valid", "characters")
        }
        timed = [record.seconds for record in given if record.seconds is not None]
        shares["seconds"] = float(np.mean(timed)) if timed else 0.0
        found[name] = {
            "questions": len(own),
            "refused": len(own) - len(given),
            "partial": sum(record.outcome == "partial" for record in given),
            "extract": sum(record.model == EXTRACTIVE for record in given),
            **{measure: round(value, 3) for measure, value in shares.items()},
        }
    return found


def table(records: Sequence[Record]) -> str:
    """The figures as a table, one line a set."""
    lines: list[str] = []
    for name, line in figures(records).items():
        lines = lines or [f"{'':<10}" + "".join(f"{measure:>11}" for measure in line)]
        lines.append(f"{name:<10}" + "".join(f"{value:>11g}" for value in line.values()))
    return "\n".join(lines)


def _service(index: Index, embedder: Embedder, worker: GeneratorWorker, settings: Settings) -> QAService:
    parts = Parts(
        index=lambda: index,
        embedder=Lazy(lambda: embedder),
        cross_encoder=Lazy[Reranker | None](lambda: None),
        worker=Lazy(lambda: worker),
    )
    return QAService(parts, settings)


def _spaced(one: QuestionSet, count: int) -> list[Question]:
    questions = one.answerable
    count = min(count, len(questions))
    if not one.name.startswith("xquad"):
        return list(questions)
    return [questions[number * len(questions) // count] for number in range(count)]


def _sum(seconds: float, more: float | None) -> float | None:
    return None if more is None else seconds + more


def _answered(reply: Reply) -> bool:
    return reply.answer.outcome != "not_found"


def _valid(reply: Reply) -> bool:
    marked = {int(number) for number in _MARKER.findall(reply.answer.text)}
    cited = {citation.n for citation in reply.answer.citations}
    return marked <= cited & {source.n for source in reply.sources}


if __name__ == "__main__":
    main()
