"""Time from a key press to the sources on the screen, measured in the browser.

``python benchmarks/keypress.py HOME QUESTIONS`` serves the index of a home folder without a language model
on a free port of 127.0.0.1 and drives a headless Chromium: questions of the file are typed key by key, each
key after a pause as a person makes one. A time begins with the browser's own ``keydown`` and ends with the
frame in which the cards of that very text were drawn. Prints p50 and p95 over all keys, and what of it is
the page before it asks, the wait for the reply, and the server's own time.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "browser"))

WATCH = """
window.taken = [];
let pressed = 0, wanted = "";
const box = document.getElementById("question");
box.addEventListener("keydown", (event) => { pressed = event.timeStamp; }, true);
box.addEventListener("input", () => { wanted = box.value; }, true);
const fetched = window.fetch;
window.fetch = async (address, options) => {
  const mine = wanted, begun = performance.now(), key = pressed;
  const reply = await fetched(address, options);
  if (!String(address).startsWith("/search")) return reply;
  const answered = performance.now();
  const body = await reply.clone().json();
  // The page draws in the turn after its own reading of the body; the frame after that shows it.
  setTimeout(() => requestAnimationFrame(() => setTimeout(() => {
    if (mine === box.value) window.taken.push({ whole: performance.now() - key, asked: begun - key,
      waited: answered - begun, server: body.timings_ms.total });
  })));
  return reply;
};
"""


@contextmanager
def served(home: Path) -> Iterator[str]:
    """``otvet serve`` over a home folder, without a language model; yields its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    environment = {**os.environ, "OTVET_HOME": str(home), "OTVET_PROFILE": "search"}
    command = [sys.executable, "-P", "-m", "pipeline.cli", "serve", "--port", str(port)]
    process = subprocess.Popen(command, env=environment, cwd=ROOT, stderr=subprocess.DEVNULL)
    try:
        _wait_ready(f"http://127.0.0.1:{port}/ready")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(20)


def _wait_ready(address: str) -> None:
    until = time.monotonic() + 120
    while True:
        try:
            urllib.request.urlopen(address, timeout=5).close()
        except OSError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
        else:
            return


def typed(address: str, questions: list[str], keys: int, pause_s: float) -> list[dict[str, float]]:
    """The times of all keys whose sources were drawn before the next key."""
    from page_driver import Page, chromium  # type: ignore[import-not-found]

    with tempfile.TemporaryDirectory() as folder, chromium(Path(folder) / "profile") as driver:
        page = Page(driver, address, patience_s=60).open()
        page.js(WATCH)
        for question in questions:
            page.js("const box = document.getElementById('question'); box.value = ''; box.focus();")
            for letter in question[:keys]:
                page.cdp("Input.dispatchKeyEvent", type="keyDown", text=letter, key=letter)
                page.cdp("Input.dispatchKeyEvent", type="keyUp", key=letter)
                time.sleep(pause_s)
        found: list[dict[str, float]] = page.js("return window.taken")
        return found


def summary(taken: list[dict[str, float]]) -> dict[str, Any]:
    """Median and 95th percentile of each part, in milliseconds."""
    found: dict[str, Any] = {"keys": len(taken)}
    for name in ("whole", "asked", "waited", "server"):
        values = sorted(one[name] for one in taken)
        cuts = statistics.quantiles(values, n=20, method="inclusive")
        found[name] = {"p50": round(statistics.median(values), 1), "p95": round(cuts[-1], 1)}
    return found


def main() -> None:
    """Read the arguments, measure, print JSON."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("home", type=Path, help="a home folder with an index")
    parser.add_argument("questions", type=Path, help="JSONL with the field question")
    parser.add_argument("--count", type=int, default=10, help="questions to type")
    parser.add_argument("--keys", type=int, default=30, help="letters of each")
    parser.add_argument("--pause", type=float, default=0.25, help="seconds between two keys")
    given = parser.parse_args()
    lines = given.questions.read_text(encoding="utf-8").splitlines()
    questions = [json.loads(line)["question"] for line in lines[: given.count]]
    with served(given.home.resolve()) as address:
        taken = typed(address, questions, given.keys, given.pause)
    sys.stdout.write(json.dumps(summary(taken), indent=1) + "\n")


if __name__ == "__main__":
    main()
