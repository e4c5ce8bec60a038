"""Serving starts at once: what only indexing, installing or other front ends need is not imported."""

from __future__ import annotations

import subprocess
import sys

NOT_AT_START = {
    "fastapi",
    "flask",
    "huggingface_hub",
    "llama_cpp",
    "onnx",
    "onnxruntime",
    "openpyxl",
    "pipeline.ingest.readers",
    "pypdfium2",
    "rich",
    "selectolax",
    "snowballstemmer",
    "sqlite3",
    "tokenizers",
    "torch",
    "transformers",
}

CODE = "import sys, pipeline.bootstrap; print(*sorted(sys.modules))"


def test_the_composition_root_imports_nothing_that_can_wait():
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    assert NOT_AT_START.isdisjoint(done.stdout.split())
