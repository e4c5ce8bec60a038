"""Filters on the command line."""

from __future__ import annotations

import pytest

from pipeline.cli.main import main
from pipeline.types import AskRequest, Filter


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[AskRequest]:
    requests: list[AskRequest] = []
    for name in ("pipeline.cli.ask.run", "pipeline.cli.search.run"):
        monkeypatch.setattr(name, lambda request, as_json: requests.append(request))
    return requests


@pytest.mark.parametrize("command", ["ask", "search"])
def test_what_is_given_becomes_a_filter(asked: list[AskRequest], command: str) -> None:
    options = ["--type", "md", "--type", "txt", "--tag", "кадры", "--path", "docs/", "--meta", "owner=Анна"]
    options += ["--meta", "owner=Б=В", "--meta", "year=2024", "--since", "2024", "--until", "2024-03-05"]
    main([command, *options, "отпуск"])
    main([command, "отпуск", "-s"])
    metadata = {"owner": ("Анна", "Б=В"), "year": ("2024",)}
    assert asked[0].filter == Filter(("md", "txt"), ("кадры",), "docs/", metadata, "2024", "2024-03-05")
    assert asked[0].question == "отпуск"
    assert asked[1].filter is None
    assert asked[1].question == "отпуск -s"


@pytest.mark.parametrize("wrong", [["--meta", "owner"], ["--meta", "=x"], ["--since", "вчера"]])
def test_what_cannot_be_used_is_a_wrong_command_line(
    asked: list[AskRequest], wrong: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as left:
        main(["search", *wrong, "отпуск"])
    assert left.value.code == 2
    assert wrong[1] in capsys.readouterr().err
    assert asked == []
