"""Fixtures of all tests: the real models, installed by the product itself, and the shared data."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest
from postgres_server import Server, start_server, wheel_folder

from pipeline.models import gguf_file, installed
from pipeline.settings import load_settings

SMALL = ("multilingual-e5-small", "smollm2-135m-instruct", "ms-marco-minilm-l12")
QWEN = "qwen2.5-coder-1.5b-instruct-q4_k_m"


# A busy machine is no mistake of the code.
hypothesis.settings.register_profile("otvet", deadline=None)
hypothesis.settings.load_profile("otvet")


def _ensure_installed(folder: Path, *names: str) -> None:
    missing = [name for name in names if installed(folder, name) is None]
    if not missing:
        return
    # In a process of its own: sockets are blocked in this one.
    command = [sys.executable, "-c", "from pipeline.cli.main import main; main()"]
    command += ["--models", str(folder), "models", "install", "--no-tune", *missing]
    done = subprocess.run(command, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode:
        pytest.fail(f"otvet models install {' '.join(missing)} failed:\n{done.stdout}\n{done.stderr}")


@pytest.fixture(scope="session")
def models_folder() -> Path:
    """The models folder with the small package models in it."""
    folder = load_settings().settings.models
    _ensure_installed(folder, *SMALL)
    return folder


@pytest.fixture(scope="session")
def qwen_path(models_folder: Path) -> Path:
    """The GGUF file of the embedded profile's generator (1.1 GB on first use)."""
    _ensure_installed(models_folder, QWEN)
    return gguf_file(models_folder / QWEN)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """Data beside the checkout that is no part of the repository."""
    folder = Path(__file__).resolve().parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("needs ../shared/data")
    return folder


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[Server]:
    """A real PostgreSQL 16 with pgvector on loopback; ``OTVET_TEST_POSTGRES=url`` names another one."""
    given = os.environ.get("OTVET_TEST_POSTGRES")
    if given:
        yield Server(given)
        return
    if wheel_folder() is None and "CI" not in os.environ and sys.platform not in ("linux", "darwin"):
        pytest.skip("no wheel of PostgreSQL for this platform; OTVET_TEST_POSTGRES names a server")
    with start_server() as server:
        yield server


@pytest.fixture
def postgres_url(postgres_server: Server) -> Iterator[str]:
    """The URL of an empty database of that server, made for one test, its user a superuser."""
    with postgres_server.database() as url:
        yield url
