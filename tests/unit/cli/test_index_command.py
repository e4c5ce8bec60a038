"""``otvet index`` and ``otvet index --status`` as a person meets them."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from indexing_process import source_of
from word_embedder import WordEmbedder

from pipeline import bootstrap
from pipeline.cli.main import main
from pipeline.errors import IndexLockedError, OtvetError, UnreadableFileError
from pipeline.ingest.reasons import reason
from pipeline.ingest.sources.download import Download


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(bootstrap, "embedder_source", lambda _: source_of(WordEmbedder()))
    monkeypatch.setattr("pipeline.cli.console._overrides", {})
    base = tmp_path / "knowledge_base"
    base.mkdir()
    (base / "a.md").write_text("# Отпуск\n\nОтпуск — 28 дней.\n", "utf-8")
    (base / "b.txt").write_bytes("Приказ о приёме на работу".encode("cp1251"))
    (base / "c.png").write_bytes(b"1")
    return tmp_path


def run(home: Path, *command: str) -> None:
    main(["--home", str(home), *command])


def said(home: Path, capsys: pytest.CaptureFixture[str], *command: str) -> str:
    capsys.readouterr()
    run(home, *command)
    return capsys.readouterr().out


def test_the_report_says_what_was_done(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(home, capsys, "index")
    assert "Файлов найдено: 3, в индексе: 2. Фрагментов: 2" in out
    assert "Прочитано файлов: 2. Фрагментов закодировано: 2, взято готовых: 0, убрано: 0." in out
    assert "b.txt: кодировка определена как cp1251" in out
    assert "пропущен c.png: формат не поддерживается (.png)" in out
    assert "актуален" in said(home, capsys, "index")
    (home / "knowledge_base" / "a.md").write_text("# Отпуск\n\nОтпуск — 31 день.\n", "utf-8")
    out = said(home, capsys, "--language", "en", "index")
    assert "Files read: 1. Chunks encoded: 1, taken over: 1, removed: 1." in out


def test_the_report_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    report = json.loads(said(home, capsys, "index", "--json"))
    assert (report["current"], report["read"], report["embedded"], report["reused"]) == (False, 2, 2, 0)
    assert json.loads(said(home, capsys, "index", "--json")) == {"current": True}


def test_a_changed_embedder_is_said(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case 21."""
    run(home, "index")
    monkeypatch.setattr(bootstrap, "embedder_source", lambda _: source_of(WordEmbedder(name="other")))
    expected = "Прежний индекс построен иначе: модель эмбеддингов другая: была words, теперь other."
    assert expected in said(home, capsys, "index", "--status")
    assert expected in said(home, capsys, "index")
    assert expected not in said(home, capsys, "index")


def test_the_status_names_every_file(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = said(home, capsys, "index", "--status")
    assert "новый      a.md" in out
    assert not (home / "embeddings").exists()
    run(home, "index")
    (home / "knowledge_base" / "a.md").unlink()
    (home / "knowledge_base" / "d.md").write_text("Новый.", "utf-8")
    out = said(home, capsys, "index", "--status")
    assert "исчез      a.md (фрагментов: 1)" in out
    assert "в индексе  b.txt (фрагментов: 1; cp1251)" in out
    assert "пропущен   c.png (формат не поддерживается (.png))" in out
    assert "новый      d.md" in out
    assert "Файлов найдено: 3. В индексе: 1, пропущено: 1, новых: 1, изменено: 0. Исчезло: 1." in out
    assert "otvet index" in out


def test_the_status_as_json(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(home, "index")
    status = json.loads(said(home, capsys, "index", "--status", "--json"))
    assert (status["current"], status["found"], status["indexed"], status["skipped"]) == (True, 3, 2, 1)
    assert [file["file"] for file in status["files"]] == ["a.md", "b.txt", "c.png"]
    assert status["files"][1]["encoding"] == "cp1251"


def test_rebuild_and_status_do_not_go_together(home: Path) -> None:
    with pytest.raises(SystemExit) as caught:
        run(home, "index", "--status", "--rebuild")
    assert caught.value.code == 2


def test_watching_reports_every_run_and_ends_with_ctrl_c(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def follow(
        folder: Path,
        update: Callable[[], object],
        failed: Callable[[OtvetError], None],
        stop: object,
    ) -> None:
        update()
        update()
        (folder / "a.md").write_text("# Отпуск\n\nОтпуск — 31 день.\n", "utf-8")
        update()
        failed(IndexLockedError(path="x", pid=1))
        raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.ingest.watch.follow", follow)
    run(home, "index", "--watch")
    out, err = capsys.readouterr()
    assert out.count("Файлов найдено: 3") == 2
    assert "закодировано: 1, взято готовых: 1" in out
    assert "актуален" not in out
    assert "Слежу за папкой" in err
    assert "PID 1" in err
    assert "Слежение закончено" in err


def test_fetching_comes_first_and_only_when_asked_for(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(url: str, _: object) -> Download:
        asked.append(url)
        if "bad" in url:
            raise UnreadableFileError(file=url, reason=reason("fetch", "404"))
        return Download(b"<h1>Rules</h1><p>Be on time.</p>", "text/html", "")

    monkeypatch.setattr("pipeline.ingest.sources.fetch.download", answer)
    declared = '[[url]]\nurl = "https://example.org/rules.html"\n[[url]]\nurl = "https://example.org/bad"\n'
    (home / "knowledge_base" / "sources.toml").write_text(declared, "utf-8")
    run(home, "index")
    assert asked == []
    out = said(home, capsys, "index", "--fetch")
    assert "новых и изменённых 1, прежних 0, не загружено 1, убрано 0" in out
    assert "не загружен https://example.org/bad: адрес не загрузился (404)" in out
    assert "загружен fetched/example_org_rules.html" in out
    assert "Прочитано файлов: 1." in out
    report = json.loads(said(home, capsys, "index", "--fetch", "--json"))
    assert report["current"] is True
    assert report["fetched"]["unchanged"] == ["fetched/example_org_rules.html"]
    assert list(report["fetched"]["failed"]) == ["https://example.org/bad"]
    (home / "knowledge_base" / "sources.toml").write_text("", "utf-8")
    out = said(home, capsys, "index", "--fetch")
    assert "убран fetched/example_org_rules.html: его источника больше нет в sources.toml" in out
