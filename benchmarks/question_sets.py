"""Questions with known answers, the indexes they are asked of, and encodings kept between runs."""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pipeline.errors import IndexUnusableError
from pipeline.index import Index, TokenStore
from pipeline.ingest.build import build_index
from pipeline.ports import Embedder, EmbedderSpec, Progress
from pipeline.settings import IndexSettings
from pipeline.stores import json_store
from pipeline.text.normalise import clean_question, clean_text
from pipeline.text.postings import chunk_postings
from pipeline.types import Encoded, IntMatrix, Role, TokenVectors

__all__ = ["CACHE", "Question", "QuestionSet", "RememberingEmbedder", "load_sets", "without"]

CACHE = Path(tempfile.gettempdir()) / "otvet-quality"
HANDBOOK = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Question:
    """A question and what is known of its answer.

    Attributes:
        files: Files that hold an answer; none for a question without one.
        answers: Texts that show a right answer.
        place: File and offset of the answer, where it is known exactly; holds for texts in the
            question's own language.
        kind: ``unanswerable_far``, ``unanswerable_near``, or the kind of an answerable one.
    """

    text: str
    files: frozenset[str]
    answers: tuple[str, ...] = ()
    place: tuple[str, int] | None = None
    kind: str = ""


@dataclass(frozen=True, slots=True)
class QuestionSet:
    """Questions over one knowledge base, and its index."""

    name: str
    questions: tuple[Question, ...]
    index: Index

    @property
    def answerable(self) -> list[Question]:
        """Questions that have an answer."""
        return [question for question in self.questions if question.files]


class RememberingEmbedder:
    """An embedder that keeps the encodings of questions on disk, so that a second run is quick.

    Args:
        inner: Does the work.
        folder: Where encodings are kept, one file a question.
    """

    def __init__(self, inner: Embedder, folder: Path) -> None:
        self._inner = inner
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    @property
    def spec(self) -> EmbedderSpec:
        """Who this is."""
        return self._inner.spec

    def encode(
        self,
        texts: Sequence[str],
        role: Role,
        *,
        with_tokens: bool = False,
        progress: Progress | None = None,
    ) -> Encoded:
        """As the inner embedder; single questions are remembered."""
        if role != "query" or len(texts) != 1:
            return self._inner.encode(texts, role, with_tokens=with_tokens, progress=progress)
        digest = hashlib.sha256(f"{self.spec.id}\0{texts[0]}".encode()).hexdigest()[:24]
        path = self._folder / f"{digest}.npz"
        if not path.exists():
            fresh = self._inner.encode(texts, role, with_tokens=True)
            tokens = (fresh.tokens or ())[0]
            np.savez(path, vector=fresh.vectors, tokens=tokens.vectors, spans=tokens.spans)
        with np.load(path) as kept:
            tokens = TokenVectors(kept["tokens"], kept["spans"])
            return Encoded(kept["vector"], (tokens,))

    def token_spans(self, text: str) -> IntMatrix:
        """As the inner embedder."""
        return self._inner.token_spans(text)


def load_sets(data: Path, embedder: Embedder, settings: IndexSettings) -> list[QuestionSet]:
    """The handbook of this repository and, where their data is there, kb_bsl and XQuAD.

    XQuAD comes in Russian, in English, and with the questions of one asked of the texts of the other
    (``xquad-ru-en``: Russian questions, English texts).
    """
    sets = [
        QuestionSet(
            "handbook",
            _questions(HANDBOOK / "tests/data/handbook.questions.jsonl"),
            _index("handbook", HANDBOOK / "knowledge_base", embedder, settings),
        )
    ]
    if (data / "kb_bsl").is_dir():
        questions = _questions(data / "kb_bsl.questions.jsonl")
        sets.append(QuestionSet("kb_bsl", questions, _index("kb_bsl", data / "kb_bsl", embedder, settings)))
    for language in ("ru", "en"):
        if (data / "xquad" / f"{language}.paragraphs.jsonl").is_file():
            sets.append(_xquad(data / "xquad", language, embedder, settings))
    by_name = {one.name: one for one in sets}
    for asked, told in (("ru", "en"), ("en", "ru")):
        if f"xquad-{asked}" in by_name and f"xquad-{told}" in by_name:
            # Paragraphs have the same names in both languages. Half of the questions is plenty.
            questions = by_name[f"xquad-{asked}"].questions[::2]
            sets.append(QuestionSet(f"xquad-{asked}-{told}", questions, by_name[f"xquad-{told}"].index))
    return sets


def without(index: Index, files: Collection[str]) -> Index:
    """The index of the same knowledge base had it never held these files."""
    kept = [row for row, chunk in enumerate(index.chunks) if chunk.file not in files]
    chunks = tuple(index.chunks[row] for row in kept)
    return replace(
        index,
        chunks=chunks,
        documents={d.id: d for d in index.documents.values() if d.file not in files},
        vectors=index.vectors[kept],
        text_vectors=index.text_vectors[kept],
        tokens=_SomeTokens(index.tokens, kept),
        postings=chunk_postings(chunks),
    )


@dataclass(frozen=True, slots=True)
class _SomeTokens:
    """A token store over some rows of another."""

    inner: TokenStore
    rows: Sequence[int]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, row: int) -> TokenVectors:
        return self.inner[self.rows[row]]


def _questions(path: Path) -> tuple[Question, ...]:
    return tuple(
        Question(
            text=clean_question(record["question"]),
            files=frozenset(record["files"]),
            answers=tuple(record["answer_any"]),
            kind=record["kind"],
        )
        for record in _records(path)
    )


def _xquad(folder: Path, language: str, embedder: Embedder, settings: IndexSettings) -> QuestionSet:
    """Every paragraph a file of its own; questions without a paragraph are on the articles' subjects."""
    name = f"xquad-{language}"
    texts = {record["id"]: record["text"] for record in _records(folder / f"{language}.paragraphs.jsonl")}
    base = CACHE / name / "knowledge_base"
    base.mkdir(parents=True, exist_ok=True)
    for number, text in texts.items():
        (base / f"{number}.txt").write_text(text, encoding="utf-8", newline="\n")
    questions = []
    for record in _records(folder / f"{language}.questions.jsonl"):
        number = record["paragraph"]
        if number is None:
            question = Question(clean_question(record["question"]), frozenset(), kind="unanswerable_near")
        else:
            # Cleaning takes characters out, so the offset is counted in what is left before the answer.
            before = len(clean_text(texts[number][: record["answer_start"]] + "x")) - 1
            file = f"{number}.txt"
            question = Question(
                clean_question(record["question"]),
                frozenset({file}),
                (record["answer"],),
                (file, before),
                "lookup",
            )
        questions.append(question)
    return QuestionSet(name, tuple(questions), _index(name, base, embedder, settings))


def _records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def _index(name: str, base: Path, embedder: Embedder, settings: IndexSettings) -> Index:
    """The index of a knowledge base, kept under a name that says all it was made from."""
    content = hashlib.sha256(f"{embedder.spec.id}\0{settings.model_dump_json()}".encode())
    for path in sorted(base.rglob("*")):
        if path.is_file():
            content.update(f"\0{path.relative_to(base).as_posix()}\0".encode() + path.read_bytes())
    folder = CACHE / f"{name}-{content.hexdigest()[:12]}"
    try:
        return json_store.load(folder, embedder.spec)
    except IndexUnusableError as error:
        print(f"{name}: building the index ({error.code})")
    json_store.save(build_index(base, embedder, settings).index, folder)
    return json_store.load(folder, embedder.spec)
