"""The command line as a whole: exit codes, the language of its help, terminals of old code pages."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest

from pipeline.cli import ask, console, main
from pipeline.types import Answer, Reply


@pytest.fixture(autouse=True)
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with nothing on it, whose settings no earlier test has touched."""
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    monkeypatch.setenv("OTVET_MODELS", str(tmp_path / "models"))
    monkeypatch.delenv("OTVET_LANGUAGE", raising=False)
    monkeypatch.setattr(console, "_overrides", {})
    return tmp_path


def exit_code(*arguments: str) -> int:
    try:
        main.main(list(arguments))
    except SystemExit as stop:
        return int(stop.code or 0)
    return 0


def test_a_doctor_who_finds_a_problem_says_so_with_the_exit_code(capsys):
    assert exit_code("--language", "en", "doctor") == 1
    assert "otvet models install" in capsys.readouterr().out


def test_help_and_version_are_no_failures(capsys):
    assert exit_code("--help") == 0
    assert exit_code("--version") == 0
    assert exit_code("settings") == 0


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("no-such-command",), 2), (("ask",), 2), (("index",), 5), (("models", "path", "no-such-model"), 5)],
)
def test_errors_end_with_their_documented_codes(arguments, code, capsys):
    assert exit_code(*arguments) == code
    assert capsys.readouterr().err


def test_settings_shows_what_single_formats_are_set_to(empty_home, capsys):
    exit_code("settings")
    assert "index.chunking_by_format " in capsys.readouterr().out
    (empty_home / "otvet.toml").write_text('[index.chunking_by_format]\nmd = "headings"\n', "utf-8")
    exit_code("settings")
    line = next(one for one in capsys.readouterr().out.splitlines() if "chunking_by_format" in one)
    assert line.split()[:2] == ["index.chunking_by_format.md", "headings"]


def test_a_wrong_setting_ends_with_code_3(empty_home, capsys):
    (empty_home / "otvet.toml").write_text("colour = 1", encoding="utf-8")
    assert exit_code("index") == 3
    assert "colour" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [("--help",), ("tokens", "--help"), ("models", "list", "--help")])
def test_help_speaks_the_language_asked_for_on_the_same_line(arguments, capsys):
    exit_code("--language", "en", *arguments)
    english = capsys.readouterr().out
    # Modules keep the texts they were imported with; a new process would import them anew.
    for name in [name for name in sys.modules if name.startswith("pipeline.cli.")]:
        if name not in ("pipeline.cli.main", "pipeline.cli.console"):
            del sys.modules[name]
    exit_code("--language", "ru", *arguments)
    russian = capsys.readouterr().out
    assert not any("а" <= letter <= "я" for letter in english.lower())
    assert any("а" <= letter <= "я" for letter in russian.lower())


def test_an_old_code_page_costs_a_sign_not_the_output(monkeypatch):
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="cp1251", errors="strict"))
    assert exit_code("doctor") == 1
    sys.stdout.flush()
    assert "? База знаний" in written.getvalue().decode("cp1251")


def test_the_flag_for_timings_shows_them(capsys):
    reply = Reply(
        "Вопрос?", ("-t",), Answer("Да.", "answered"), (), {"encode": 3.25, "total": 7.0}, "m", "", ""
    )
    ask._print_end(reply, streamed=True)
    shown = capsys.readouterr().out
    assert "encode: 3.2 ms" in shown
    assert "total: 7.0 ms" in shown


def test_what_the_system_refuses_is_said_without_a_stack(monkeypatch, capsys):
    def refused() -> None:
        raise OSError(28, "No space left on device", "embeddings/chunks.json.new")

    monkeypatch.setattr(console, "loaded_settings", refused)
    monkeypatch.setattr(console, "language", lambda: "en")
    assert exit_code("settings") == 1
    said = capsys.readouterr().err
    assert "No space left on device embeddings/chunks.json.new" in said
    assert "run the command again" in said
