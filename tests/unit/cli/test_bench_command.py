"""``otvet bench`` over a fake service: what it prints and in which language."""

from __future__ import annotations

import json

import pytest
from click.testing import CliRunner
from word_embedder import WordEmbedder

from pipeline import bootstrap
from pipeline.cli.bench import bench
from pipeline.errors import IndexMissingError
from pipeline.ingest.build import build_index
from pipeline.settings import IndexSettings
from pipeline.stores import json_store
from pipeline.types import Answer, Finished, Reply, Token

REPLY = Reply(
    "", (), Answer("", "sources"), (), {"late_interaction": 1.25, "total": 5.0}, "extractive", "", ""
)


class FakeService:
    closed = False

    def start(self, *, wait, generator):
        assert wait
        assert not generator

    def ask(self, request, cancelled):
        return REPLY

    def stream(self, request, cancelled):
        yield Token("Да")
        yield Finished(REPLY)

    def status(self):
        return {"generator": {"prefill_tokens_per_s": 70.0, "decode_tokens_per_s": 11.0}}

    def close(self):
        self.closed = True


@pytest.fixture
def service(tmp_path, monkeypatch):
    """A home with an index and the service that it would be served with."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    (tmp_path / "knowledge_base").mkdir()
    (tmp_path / "knowledge_base" / "a.txt").write_text(
        "Отпуск длится двадцать восемь дней.", encoding="utf-8"
    )
    built = build_index(tmp_path / "knowledge_base", WordEmbedder(), IndexSettings())
    json_store.save(built.index, tmp_path / "embeddings")
    fake = FakeService()
    monkeypatch.setattr(bootstrap, "create_service", lambda settings: fake)
    monkeypatch.setattr(bootstrap, "create_generator", lambda settings: lambda: None)
    return fake


def run(*arguments):
    result = CliRunner().invoke(bench, arguments, catch_exceptions=False)
    assert result.exit_code == 0
    return result.stdout


def test_json_holds_every_figure(service):
    told = json.loads(run("--json", "--searches", "4", "--answers", "1"))
    assert told["chunks"] == 1
    assert told["search"]["questions"] == 1
    assert told["search"]["stages_ms"]["late_interaction"] == 1.25
    assert told["answer"]["answers"] == 2
    assert told["answer"]["written_tokens_per_s"] == 11.0
    assert service.closed


@pytest.mark.parametrize(("language", "words"), [("ru", "Первое слово через"), ("en", "First word after")])
def test_figures_are_said_in_words(service, monkeypatch, language, words):
    monkeypatch.setenv("OTVET_LANGUAGE", language)
    assert words in run()


def test_without_a_generator_searches_are_measured_alone(service, monkeypatch):
    monkeypatch.setattr(bootstrap, "create_generator", lambda settings: None)
    told = json.loads(run("--json"))
    assert told["answer"] is None
    assert told["search"]["questions"] == 1


def test_without_an_index_it_says_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    with pytest.raises(IndexMissingError):
        CliRunner().invoke(bench, [], catch_exceptions=False)
