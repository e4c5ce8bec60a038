"""``otvet map``: what it computes, prints and writes."""

import json
from dataclasses import replace

import pytest
from click.testing import CliRunner
from made_map import a_source
from word_embedder import WordEmbedder

from pipeline import bootstrap
from pipeline.cli.map import map as map_command
from pipeline.errors import IndexMissingError
from pipeline.ingest.build import build_index
from pipeline.settings import IndexSettings
from pipeline.stores import json_store
from pipeline.types import Answer, Reply

RULES = "Отпуск длится двадцать восемь дней, его делят на части по соглашению."


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A home with three passages indexed, two of them the same."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    monkeypatch.setenv("OTVET_LANGUAGE", "en")
    knowledge_base = tmp_path / "knowledge_base"
    knowledge_base.mkdir()
    for name, text in (("a.txt", RULES), ("b.txt", f"{RULES}\n"), ("c.txt", "Склад закрыт по выходным.")):
        (knowledge_base / name).write_text(text, encoding="utf-8")
    built = build_index(knowledge_base, WordEmbedder(), IndexSettings())
    json_store.save(built.index, tmp_path / "embeddings")
    return tmp_path


def otvet(*arguments):
    result = CliRunner().invoke(map_command, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result


def test_it_says_what_the_picture_shows(home):
    output = otvet().output
    assert "3 passages, 0 clusters" in output
    assert "Too few passages for neighbourhoods" in output
    assert "Doubled, groups: 1" in output
    assert "a.txt = b.txt" in output
    assert "Alone, passages: 0" in output
    assert (home / "embeddings" / "map.json").is_file()


def test_json_is_data(home):
    data = json.loads(CliRunner().invoke(map_command, ["--json"]).stdout)
    assert [point["file"] for point in data["points"]] == ["a.txt", "b.txt", "c.txt"]
    assert "question" not in data


def test_page_and_picture_are_written(home):
    output = otvet("--png", "map.png", "--html", "map.html").output
    assert (home / "map.png").read_bytes().startswith(b"\x89PNG")
    assert "<!doctype html>" in (home / "map.html").read_text(encoding="utf-8")
    assert "Written: map.png" in output
    assert "Written: map.html" in output


class FakeService:
    """Finds the first passage of the index."""

    def __init__(self, chunk_id):
        self.chunk_id, self.closed = chunk_id, False

    def start(self, *, wait, generator):
        assert wait
        assert not generator

    def ask(self, request, cancelled):
        source = replace(a_source(0, 0.9), chunk_id=self.chunk_id, file="a.txt")
        return Reply(request.question, (), Answer("", "sources"), (source,), {}, "m", "k", "r")

    def close(self):
        self.closed = True


def test_a_question_is_placed(home, monkeypatch):
    chunk = json_store.load(home / "embeddings").chunks[0]
    service = FakeService(chunk.id)
    monkeypatch.setattr(bootstrap, "create_service", lambda settings: service)
    output = otvet("--question", "Сколько длится отпуск?").output
    assert 'Nearest to the question "Сколько длится отпуск?"' in output
    assert "Тема 0  a.txt  [between clusters]" in output
    assert service.closed
    data = json.loads(CliRunner().invoke(map_command, ["--json", "--question", "отпуск"]).stdout)
    assert data["question"]["flat"] == data["points"][0]["flat"]


def test_without_an_index(tmp_path, monkeypatch):
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    result = CliRunner().invoke(map_command, [])
    assert isinstance(result.exception, IndexMissingError)


def test_an_empty_index_is_no_error(home):
    """Case 24."""
    (home / "nothing").mkdir()
    empty = build_index(home / "nothing", WordEmbedder(), IndexSettings())
    json_store.save(empty.index, home / "embeddings")
    assert "the map is empty" in otvet("--png", "map.png").output
    assert (home / "map.png").is_file()
