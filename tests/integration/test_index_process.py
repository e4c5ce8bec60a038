"""``otvet index`` in a process of its own: Ctrl-C, and following a folder."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from indexing_process import SlowEmbedder, settings_for, source_of

from pipeline.errors import IndexUnusableError
from pipeline.indexing import update_index
from pipeline.settings import Settings
from pipeline.stores import json_store
from pipeline.stores.journal import JOURNAL, Journal

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")

COMMAND = """
import sys
from indexing_process import SlowEmbedder, source_of
from pipeline import bootstrap
from pipeline.cli.main import main
from pipeline.stores import encode
encode._SLICE = 1
bootstrap.embedder_source = lambda _: source_of(SlowEmbedder(float(sys.argv[1])))
main(sys.argv[2:])
"""


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    made = settings_for(tmp_path)
    made.knowledge_base.mkdir()
    return made


def write(settings: Settings, file: str, text: str) -> None:
    (settings.knowledge_base / file).write_text(text, "utf-8")


@contextmanager
def running(settings: Settings, delay: float, *command: str) -> Iterator[subprocess.Popen[str]]:
    path = os.pathsep.join([str(Path(__file__).parents[1]), *filter(None, sys.path)])
    arguments = [str(delay), "--home", str(settings.home), "--language", "en", *command]
    with subprocess.Popen(
        [sys.executable, "-c", COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": path},
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def until(condition: Callable[[], bool]) -> None:
    for _ in range(6000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError


def texts(settings: Settings) -> str:
    try:
        return " ".join(chunk.text for chunk in json_store.load(settings.embeddings).chunks)
    except IndexUnusableError:
        return ""


def test_ctrl_c_keeps_the_old_index_and_what_was_encoded(settings: Settings) -> None:
    write(settings, "a.md", "Старый текст.")
    update_index(settings, source_of(SlowEmbedder()))
    for number in range(40):
        write(settings, f"{number}.md", f"# Тема {number}\n\nНовый текст {number}.")
    journal = settings.embeddings / JOURNAL
    with running(settings, 0.05, "index") as process:
        until(lambda: journal.exists() and journal.stat().st_size > 1000)
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Traceback" not in said
    assert "goes on where it stopped" in said
    assert texts(settings) == "Старый текст."
    with Journal(journal) as kept:
        known = len(kept)
    assert known > 0
    embedder = SlowEmbedder()
    report = update_index(settings, source_of(embedder))
    assert report is not None
    assert embedder.texts + known == 80
    assert "Новый текст 39." in texts(settings)


def test_a_followed_folder_is_indexed_after_every_change(settings: Settings) -> None:
    write(settings, "a.md", "Первый текст.")
    with running(settings, 0.0, "index", "--watch") as process:
        until(lambda: "Первый" in texts(settings))
        write(settings, "b.md", "Второй текст.")
        until(lambda: "Второй" in texts(settings))
        (settings.knowledge_base / "a.md").unlink()
        until(lambda: texts(settings) == "Второй текст.")
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Following the folder" in said
    assert said.count("Files found") >= 2
    assert "No longer following." in said
    assert "Traceback" not in said
