"""What both sides of a benchmark read: texts and questions of the data folder, cut to measured sizes.

The folder holds ``kb_bsl/`` (Markdown), ``kb_bsl.questions.jsonl`` and ``xquad/`` (paragraphs and
questions in Russian and English, as JSON lines).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = [
    "CountTokens",
    "Subject",
    "questions",
    "subjects",
    "texts",
    "write_sentences",
    "write_slices",
    "write_subjects",
]

CountTokens = Callable[[str], int]
_SENTENCE_END = ". "


@dataclass(frozen=True, slots=True)
class Subject:
    """A source of a given size and questions that it answers."""

    title: str
    text: str
    questions: tuple[str, ...]


def texts(data: Path) -> Iterator[tuple[str, str]]:
    """(file name, text) of everything there is to index: Markdown first, then the paragraphs."""
    for path in sorted((data / "kb_bsl").rglob("*.md")):
        yield path.relative_to(data).as_posix().replace("/", "_"), path.read_text(encoding="utf-8")
    for language in ("ru", "en"):
        for paragraph in _lines(data / "xquad" / f"{language}.paragraphs.jsonl"):
            yield f"{language}_{paragraph['id']}.txt", paragraph["text"]


def questions(data: Path) -> list[str]:
    """All questions, those over the Markdown first."""
    files = [data / "kb_bsl.questions.jsonl"]
    files += [data / "xquad" / f"{language}.questions.jsonl" for language in ("ru", "en")]
    return [line["question"] for file in files for line in _lines(file)]


def write_slices(data: Path, folder: Path, count: int, tokens: int, count_tokens: CountTokens) -> list[Path]:
    """Knowledge bases of about ``tokens`` tokens each; fewer than ``count`` when the texts run out."""
    homes: list[Path] = []
    files = texts(data)
    for number in range(count):
        home = folder / f"slice-{number}"
        base = _emptied(home / "knowledge_base")
        written = 0
        while written < tokens:
            found = next(files, None)
            if found is None:
                return homes
            (base / found[0]).write_text(found[1], encoding="utf-8")
            written += count_tokens(found[1])
        homes.append(home)
    return homes


def write_sentences(data: Path, folder: Path, count: int) -> Path:
    """A knowledge base of ``count`` files of one sentence each; returns one of the files."""
    base = _emptied(folder / "knowledge_base")
    sentences = [
        sentence.strip()
        for _, text in texts(data)
        for sentence in text.split(_SENTENCE_END)
        if 40 < len(sentence.strip()) < 200
    ]
    for number, sentence in enumerate(dict.fromkeys(sentences)):
        if number == count:
            break
        (base / f"{number:04d}.txt").write_text(sentence + ".\n", encoding="utf-8")
    return base / "0000.txt"


def subjects(data: Path, tokens: int, count_tokens: CountTokens) -> list[Subject]:
    """Neighbouring Russian paragraphs joined to about ``tokens`` tokens, whole sentences only.

    Each has at least two questions whose answers stand in what was kept.
    """
    asked: dict[str, list[dict[str, Any]]] = {}
    for line in _lines(data / "xquad" / "ru.questions.jsonl"):
        asked.setdefault(line["paragraph"], []).append(line)
    paragraphs = list(_lines(data / "xquad" / "ru.paragraphs.jsonl"))
    found = []
    for first, second in zip(paragraphs[::2], paragraphs[1::2], strict=False):
        text = _cut(f"{first['text']} {second['text']}".replace("\ufeff", ""), tokens, count_tokens)
        kept = tuple(line["question"] for line in asked.get(first["id"], []) if line["answer"] in text)
        if first["title"] == second["title"] and len(kept) > 1 and count_tokens(text) > tokens * 0.85:
            found.append(Subject(f"{first['title']} {first['id']}".replace("_", " "), text, kept))
    return found


def write_subjects(chosen: list[Subject], home: Path) -> None:
    """A knowledge base with one block a subject."""
    base = _emptied(home / "knowledge_base")
    for number, subject in enumerate(chosen):
        text = " ".join(subject.text.split())
        (base / f"{number:03d}.txt").write_text(f"[Тема] {subject.title}\n{text}\n", encoding="utf-8")


def _cut(text: str, tokens: int, count_tokens: CountTokens) -> str:
    kept = ""
    for sentence in text.split(_SENTENCE_END):
        longer = f"{kept}{sentence.rstrip('.')}{_SENTENCE_END}"
        if count_tokens(longer) > tokens:
            break
        kept = longer
    return kept.strip()


def _emptied(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.iterdir():
        file.unlink()
    return folder


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as stream:
        for line in stream:
            if line.strip():
                yield json.loads(line)
