"""A folder is followed: bursts make one run, changes during a run another, errors do not end it."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import watchfiles._rust_notify

from pipeline.errors import IndexLockedError, IndexNotWrittenError, OtvetError
from pipeline.ingest.watch import Patience, folder_stamp, follow

QUICK = Patience(quiet_ms=50, burst_ms=1000, look_s=0.2)
EVENTS_ONLY = Patience(quiet_ms=50, burst_ms=1000, look_s=30)
LOOKS_ONLY = Patience(quiet_ms=50, burst_ms=1000, look_s=0.05)


class Follower:
    """Follows a folder in a thread and remembers what it held at each run."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runs: list[list[str]] = []
        self.errors: list[OtvetError] = []
        self.fail: list[OtvetError] = []
        self.during: Callable[[], object] = lambda: None
        self._stop = threading.Event()
        self._changed = threading.Condition()
        self._thread: threading.Thread | None = None

    def start(self, patience: Patience = QUICK) -> None:
        arguments = (self.folder, self._update, self._failed, self._stop, patience)
        self._thread = threading.Thread(target=follow, args=arguments)
        self._thread.start()

    def stop(self) -> None:
        self._stop.set()
        if self._thread is not None:
            self._thread.join()

    def wait(self, condition: Callable[[], bool]) -> None:
        with self._changed:
            assert self._changed.wait_for(condition, timeout=60)

    def _update(self) -> None:
        found = sorted(path.name for path in self.folder.rglob("*") if path.is_file())
        during, self.during = self.during, lambda: None
        during()
        if self.fail:
            raise self.fail.pop(0)
        with self._changed:
            self.runs.append(found)
            self._changed.notify_all()

    def _failed(self, error: OtvetError) -> None:
        with self._changed:
            self.errors.append(error)
            self._changed.notify_all()


@pytest.fixture
def follower(tmp_path: Path) -> Iterator[Follower]:
    folder = tmp_path / "kb"
    folder.mkdir()
    made = Follower(folder)
    yield made
    made.stop()


def test_the_first_run_is_at_once_and_every_change_makes_another(follower: Follower) -> None:
    (follower.folder / "a.md").write_text("1", "utf-8")
    follower.start(EVENTS_ONLY)
    follower.wait(lambda: follower.runs == [["a.md"]])
    (follower.folder / "b.md").write_text("1", "utf-8")
    follower.wait(lambda: follower.runs[-1] == ["a.md", "b.md"])
    (follower.folder / "sub").mkdir()
    (follower.folder / "sub" / "c.md").write_text("1", "utf-8")
    follower.wait(lambda: follower.runs[-1] == ["a.md", "b.md", "c.md"])
    (follower.folder / "a.md").unlink()
    follower.wait(lambda: follower.runs[-1] == ["b.md", "c.md"])


def test_a_burst_makes_few_runs(follower: Follower) -> None:
    follower.start()
    follower.wait(lambda: len(follower.runs) == 1)
    for number in range(200):
        (follower.folder / f"{number}.md").write_text("1", "utf-8")
    follower.wait(lambda: len(follower.runs[-1]) == 200)
    assert len(follower.runs) < 50


def test_a_change_during_a_run_makes_another(follower: Follower) -> None:
    follower.during = lambda: (follower.folder / "late.md").write_text("1", "utf-8")
    follower.start()
    follower.wait(lambda: follower.runs[-1:] == [["late.md"]])
    assert follower.runs[0] == []


def test_errors_are_told_once_and_the_run_is_repeated(follower: Follower) -> None:
    locked = IndexLockedError(path="x", pid=1)
    full = IndexNotWrittenError(path="x", reason="y")
    follower.fail = [locked, locked, locked, full, locked]
    follower.start(LOOKS_ONLY)
    follower.wait(lambda: len(follower.runs) == 1)
    assert follower.errors == [locked, full, locked]


def test_nothing_is_done_while_nothing_changes(follower: Follower) -> None:
    follower.start(LOOKS_ONLY)
    follower.wait(lambda: len(follower.runs) == 1)
    threading.Event().wait(0.5)
    assert len(follower.runs) == 1


def test_where_the_system_reports_nothing_a_look_finds_the_change(
    follower: Follower, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise OSError(28, "inotify watch limit reached")

    monkeypatch.setattr(watchfiles._rust_notify, "RustNotify", refused)
    follower.start(LOOKS_ONLY)
    follower.wait(lambda: len(follower.runs) == 1)
    (follower.folder / "a.md").write_text("1", "utf-8")
    follower.wait(lambda: follower.runs[-1] == ["a.md"])


def test_a_folder_that_goes_away_and_comes_back_is_followed_on(follower: Follower) -> None:
    (follower.folder / "a.md").write_text("1", "utf-8")
    follower.start()
    follower.wait(lambda: len(follower.runs) == 1)
    away = follower.folder.with_name("away")
    follower.folder.rename(away)
    follower.wait(lambda: follower.runs[-1] == [])
    (away / "b.md").write_text("1", "utf-8")
    away.rename(follower.folder)
    follower.wait(lambda: follower.runs[-1] == ["a.md", "b.md"])
    (follower.folder / "c.md").write_text("1", "utf-8")
    follower.wait(lambda: follower.runs[-1] == ["a.md", "b.md", "c.md"])


def test_a_folder_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    follower = Follower(tmp_path / "later")
    follower.start()
    follower.wait(lambda: len(follower.runs) == 1)
    follower.folder.mkdir()
    (follower.folder / "a.md").write_text("1", "utf-8")
    follower.wait(lambda: follower.runs[-1] == ["a.md"])
    follower.stop()


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_text("zwei", "utf-8"),
        lambda path: os.utime(path, ns=(1, 1)),
        lambda path: path.unlink(),
        lambda path: path.rename(path.with_name("c.md")),
        lambda path: (path.parent / ".origins.json").write_text("{}", "utf-8"),
        lambda path: (path.parent / "b.md").symlink_to("nowhere"),
    ],
)
def test_the_stamp_of_a_folder_tells_changes(tmp_path: Path, change: Callable[[Path], object]) -> None:
    path = tmp_path / "sub" / "a.md"
    path.parent.mkdir()
    path.write_text("eins", "utf-8")
    before = folder_stamp(tmp_path)
    assert folder_stamp(tmp_path) == before
    change(path)
    assert folder_stamp(tmp_path) != before
