"""pdfium in a process of its own: a file that crashes it, never ends or eats all memory is only skipped.

pdfium is C++ and takes files from anywhere; inside our process its end would be ours. The process
is started with the first PDF, serves all that follow, and ends when it has had nothing to do for a while.
"""

from __future__ import annotations

import atexit
import json
import queue
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Any, cast

import pipeline
from pipeline.errors import UnreadableFileError
from pipeline.ingest.reasons import reason

__all__ = ["PdfProcess", "read_pdf_file"]

_PAGE_SECONDS = 60.0
_FILE_SECONDS = 1800.0
_IDLE_SECONDS = 30.0
_ROOT = str(Path(pipeline.__file__).resolve().parents[1])
_START = (
    "import sys; sys.path.append(sys.argv[1]); from pipeline.ingest.readers.pdf_worker import main; main()"
)
_NO_WINDOW = getattr(subprocess, "CREATE_NO_WINDOW", 0)

Record = dict[str, Any]


class PdfProcess:
    """The process and the talk with it. One file at a time; safe to call from several threads.

    Args:
        page_seconds: The longest wait for one page.
        file_seconds: The longest wait for all of them.
    """

    def __init__(self, page_seconds: float = _PAGE_SECONDS, file_seconds: float = _FILE_SECONDS) -> None:
        self._page_seconds = page_seconds
        self._file_seconds = file_seconds
        self._lock = threading.Lock()
        self._process: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str] = queue.Queue()
        self._idle: threading.Timer | None = None

    def read(self, path: Path, file: str) -> list[Record]:
        """All records of a file (see `pdf_worker.records`), the end left out.

        Raises:
            UnreadableFileError: The file is locked or damaged, or too much for pdfium.
        """
        with self._lock:
            self._keep()
            try:
                return list(self._records(path, file))
            except BaseException:  # after Ctrl-C, too, what it would still say belongs to no later file
                self._stop()
                raise
            finally:
                self._leave()

    def close(self) -> None:
        """End the process, if there is one."""
        with self._lock:
            self._keep()
            self._stop()

    def _records(self, path: Path, file: str) -> Iterator[Record]:
        process = self._started()
        with suppress(BrokenPipeError):  # then there is no answer either
            _ask(process, path)
        deadline = time.monotonic() + self._file_seconds
        while True:
            wait = min(self._page_seconds, deadline - time.monotonic())
            try:
                line = self._answers.get(timeout=max(wait, 0.0))
            except queue.Empty:
                raise UnreadableFileError(file=file, reason=reason("too_heavy")) from None
            if not line:  # it crashed, or was out of memory
                raise UnreadableFileError(file=file, reason=reason("too_heavy"))
            record: Record = json.loads(line)
            if "end" in record:
                return
            if "error" in record:
                detail = "PDF" if record["error"] == "damaged" else record.get("detail", "")
                raise UnreadableFileError(file=file, reason=reason(record["error"], detail))
            yield record

    def _started(self) -> subprocess.Popen[str]:
        if self._process is not None and self._process.poll() is None:
            return self._process
        self._stop()
        self._answers = queue.Queue()
        self._process = subprocess.Popen(
            # -P: a json.py in the current folder must not run in place of the library's.
            [sys.executable, "-P", "-X", "utf8", "-c", _START, _ROOT],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            encoding="utf-8",
            creationflags=_NO_WINDOW,
        )
        threading.Thread(target=_listen, args=(self._process, self._answers), daemon=True).start()
        return self._process

    def _stop(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for pipe in (process.stdin, process.stdout):
                if pipe is not None:
                    with suppress(OSError):  # a request that was never taken
                        pipe.close()

    def _keep(self) -> None:
        if self._idle is not None:
            self._idle.cancel()
            self._idle = None

    def _leave(self) -> None:
        """End the process when it has been idle for a while."""
        if self._process is not None:
            self._idle = threading.Timer(_IDLE_SECONDS, self.close)
            self._idle.daemon = True
            self._idle.start()


def _ask(process: subprocess.Popen[str], path: Path) -> None:
    stdin = cast(IO[str], process.stdin)
    stdin.write(json.dumps(str(path)) + "\n")
    stdin.flush()


def _listen(process: subprocess.Popen[str], answers: queue.Queue[str]) -> None:
    """Pass lines on until the stream ends, then an empty one."""
    with suppress(ValueError):  # closed under our hands: the process was ended
        for line in cast(IO[str], process.stdout):
            answers.put(line)
    answers.put("")


_process = PdfProcess()
atexit.register(_process.close)


def read_pdf_file(path: Path, file: str) -> list[Record]:
    """All records of a file, from the process that all files share; see `PdfProcess.read`."""
    return _process.read(path, file)
