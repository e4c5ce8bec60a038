"""The generated parts of the documentation are those of the code."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
GENERATE = ROOT / "docs" / "generate.py"


def test_pages_are_up_to_date():
    run = subprocess.run(
        [sys.executable, str(GENERATE), "--check"],
        check=False,
        capture_output=True,
        text=True,
        encoding="utf-8",
        cwd=ROOT,
    )
    assert run.returncode == 0, f"run python docs/generate.py\n{run.stdout}{run.stderr}"


def test_check_finds_a_page_that_is_out_of_date(tmp_path):
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "generate.py").write_text(GENERATE.read_text(encoding="utf-8"), encoding="utf-8")
    page = docs / "page.md"
    page.write_text("before\n<!-- generated: exit-codes -->\nold\n<!-- end -->\nafter\n", encoding="utf-8")

    def run(*arguments):
        command = [sys.executable, str(docs / "generate.py"), *arguments]
        return subprocess.run(command, check=False, capture_output=True, cwd=ROOT).returncode

    assert run("--check") == 1
    assert "old" in page.read_text(encoding="utf-8")
    assert run() == 0
    filled = page.read_text(encoding="utf-8")
    assert "old" not in filled
    assert "| 130 | `KeyboardInterrupt` |" in filled
    assert filled.startswith("before\n")
    assert filled.endswith("after\n")
    assert run("--check") == 0
