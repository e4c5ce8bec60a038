"""``otvet serve --token``: made where it is needed, shown once, kept out of what settings print."""

from __future__ import annotations

import re

import pytest
from click.testing import CliRunner

from pipeline.cli import console, serve

GIVEN = "a-token-of-enough-letters"


@pytest.fixture
def served(monkeypatch, tmp_path):
    """The settings with which the server would run, and what was printed."""
    monkeypatch.setattr(console, "_overrides", {"home": tmp_path})
    monkeypatch.setattr("server_fastapi.create_app", lambda settings: settings)
    ran = []
    monkeypatch.setattr("pipeline.web.serving.run_fastapi", lambda app, *_: ran.append(app))

    def run(*options):
        result = CliRunner().invoke(serve.serve, options)
        assert result.exit_code == 0, result.output
        return ran[-1].server.token.get_secret_value(), result.output

    return run


def test_on_this_machine_none_is_needed(served):
    token, said = served()
    assert token == ""
    assert "Ключ" not in said


@pytest.mark.parametrize("options", [("--token", "auto"), ("--host", "0.0.0.0"), ("--host", "192.168.1.7")])
def test_one_is_made_and_shown_once(served, options):
    token, said = served(*options)
    assert re.fullmatch(r"[\w-]{32}", token)
    assert said.count(token) == 1
    assert served(*options)[0] != token or "--host" in options


@pytest.mark.parametrize("options", [("--token", GIVEN), ("--token", GIVEN, "--host", "0.0.0.0")])
def test_a_given_one_is_taken_and_not_shown(served, options):
    token, said = served(*options)
    assert token == GIVEN
    assert GIVEN not in said
