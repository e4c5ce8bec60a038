"""The handbook, the questions over it and the settings agree with each other."""

import json
import re
from pathlib import Path

import pytest
from pydantic import BaseModel

from pipeline.settings import Settings

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "knowledge_base"
TEXTS = {
    path.relative_to(FOLDER).as_posix(): path.read_text(encoding="utf-8")
    for path in sorted(FOLDER.rglob("*"))
    if path.is_file()
}
QUESTIONS = [
    json.loads(line)
    for line in (ROOT / "tests" / "data" / "handbook.questions.jsonl")
    .read_text(encoding="utf-8")
    .splitlines()
]


def topics():
    for file, text in TEXTS.items():
        if file.endswith(".txt"):
            for block in re.split(r"^\[(?:Тема|Topic)\] ", text, flags=re.MULTILINE)[1:]:
                topic, _, body = block.partition("\n")
                yield file, topic, re.sub(r"^\[(?:Ссылка|Link)\].*\n", "", body)
        elif file.endswith(".md"):
            for section in re.split(r"^## ", text, flags=re.MULTILINE)[1:]:
                topic, _, body = section.partition("\n")
                yield file, topic, body
        else:
            yield from ((file, item["topic"], item["text"]) for item in json.loads(text))


TOPICS = list(topics())


def test_every_format_and_both_languages_are_there():
    kinds = {(file.split("/")[0], file.rpartition(".")[2]) for file in TEXTS}
    assert kinds == {(language, kind) for language in ("ru", "en") for kind in ("txt", "md", "json")}
    assert len(TOPICS) >= 40
    assert len({(file, topic) for file, topic, _ in TOPICS}) == len(TOPICS)


@pytest.mark.parametrize(
    ("file", "topic", "body"), TOPICS, ids=[f"{file}: {topic}" for file, topic, _ in TOPICS]
)
def test_a_topic_is_one_short_text(file, topic, body):
    assert 35 <= len(body.split()) <= 200


def defaults(model=Settings, prefix=""):
    for name, field in model.model_fields.items():
        if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
            yield from defaults(field.annotation, f"{name}.")
        else:
            yield prefix + name, field.default


@pytest.mark.parametrize(("name", "default"), list(defaults()), ids=[name for name, _ in defaults()])
def test_every_setting_is_described_with_its_default(name, default):
    described = [item for item in json.loads(TEXTS["ru/nastroyki.json"]) if name in item.get("tags", ())]
    assert len(described) == 1
    if isinstance(default, str | int | float) and default != "":
        value = f"{default:g}" if isinstance(default, float) else str(default)
        if isinstance(default, bool):
            value = value.lower()  # as in otvet.toml
        assert re.search(rf"(?<![\w.]){re.escape(value)}(?![\w])", described[0]["text"])


def test_questions_have_the_shape_of_an_evaluation_file():
    assert all(set(question) == {"id", "question", "files", "answer_any", "kind"} for question in QUESTIONS)
    assert len({question["id"] for question in QUESTIONS}) == len(QUESTIONS)
    kinds = [question["kind"] for question in QUESTIONS]
    assert kinds.count("unanswerable_near") == kinds.count("unanswerable_far") == 10
    assert len(kinds) == 60


@pytest.mark.parametrize("question", QUESTIONS, ids=[question["id"] for question in QUESTIONS])
def test_a_question_names_files_that_hold_its_answer(question):
    unanswerable = question["kind"].startswith("unanswerable")
    assert bool(question["files"]) != unanswerable
    for file in question["files"]:
        text = TEXTS[file].casefold()
        assert any(answer.casefold() in text for answer in question["answer_any"]), file
