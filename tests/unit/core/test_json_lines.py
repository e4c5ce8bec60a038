"""Files of JSON lines: what is damaged is told of once and hides nothing."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from pipeline.compare.history import read
from pipeline.compare.trial import Journal
from pipeline.json_lines import read_json_lines


def test_a_damaged_line_is_told_of_once_with_file_and_number(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "some.jsonl"
    path.write_bytes(b'{"n": 1}\n\n{"n": "x"}\n[]\n{"n": 2}\r\n{"n": 3, "cut sho')
    with caplog.at_level(logging.WARNING):
        for _ in range(2):
            assert list(read_json_lines(path, lambda values: int(values["n"]))) == [1, 2]
    assert [record.getMessage() for record in caplog.records] == [
        f"{path}, line 3 is damaged and passed over (ValueError)",
        f"{path}, line 4 is damaged and passed over (TypeError)",
        f"{path}, line 6 is damaged and passed over (JSONDecodeError)",
    ]


def test_another_damaged_line_at_the_same_place_is_told_of_anew(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "some.jsonl"
    for line in ("{", "["):
        path.write_text(line, "utf-8")
        assert list(read_json_lines(path, str)) == []
    assert len(caplog.records) == 2


def test_no_file_has_no_lines(tmp_path: Path) -> None:
    assert list(read_json_lines(tmp_path / "none.jsonl", str)) == []


def test_histories_and_journals_tell_of_theirs(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    history, journal = tmp_path / "history.jsonl", Journal(tmp_path, {})
    for path in (history, journal.path):
        path.write_bytes(b'\n{"when": 3}\n')
    assert (read(history), journal.read()) == ([], {})
    told = [record.getMessage() for record in caplog.records]
    assert [message.split(" is ")[0] for message in told] == [f"{history}, line 2", f"{journal.path}, line 2"]
