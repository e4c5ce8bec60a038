"""``otvet up`` runs its steps as processes of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from pipeline.cli import console, up


@pytest.fixture(autouse=True)
def empty_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home with nothing in it, which is the current folder too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    monkeypatch.setattr(console, "_overrides", {})
    return tmp_path


def test_a_folder_named_as_our_package_is_no_part_of_the_program(empty_home):
    (empty_home / "pipeline").mkdir()
    (empty_home / "pipeline" / "__init__.py").write_text("raise SystemExit(9)", encoding="utf-8")
    up._run("settings")


def test_a_step_that_fails_ends_the_whole_with_its_code(empty_home):
    (empty_home / "otvet.toml").write_text("colour = 1", encoding="utf-8")
    with pytest.raises(SystemExit) as stop:
        up._run("settings")
    assert stop.value.code == 3


def test_options_before_the_command_hold_for_its_steps(empty_home, capfd):
    console.override({"language": "en", "profile": "search"})
    up._run("settings")
    shown = capfd.readouterr().out
    assert "search" in shown
    assert "command line" in shown
