"""``otvet doctor`` goes through all its checks, whatever each of them meets."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from pipeline import diagnosis
from pipeline.diagnosis import diagnose
from pipeline.errors import ModelMissingError
from pipeline.settings import Settings, load_settings


def found(home: Path, **environ: str) -> dict[str, diagnosis.Finding]:
    loaded = load_settings({}, {"OTVET_HOME": str(home), "OTVET_MODELS": str(home / "models"), **environ})
    return {finding.check: finding for finding in diagnose(loaded, "en")}


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Looking at the processor takes a second and is not the subject here."""
    monkeypatch.setattr(diagnosis, "_machine", lambda settings, say: [])


@pytest.mark.usefixtures("machine")
def test_an_empty_machine_is_told_each_next_step(tmp_path):
    findings = found(tmp_path)
    assert findings["Embedder"].state == "problem"
    assert findings["Embedder"].next_step == "otvet models install multilingual-e5-small"
    assert findings["Knowledge base"].state == "problem"
    assert "otvet index" in findings["Knowledge base"].next_step
    assert findings["Index"].state == "problem"
    assert findings["Index"].next_step == ModelMissingError(model="multilingual-e5-small").hint()


@pytest.mark.usefixtures("machine")
def test_what_the_system_refuses_is_a_finding(tmp_path, monkeypatch):
    def refused(settings: Settings, say: object) -> list[diagnosis.Finding]:
        raise PermissionError(13, "Permission denied", "models")

    monkeypatch.setattr(diagnosis, "_space", refused)
    findings = found(tmp_path)
    assert findings["Disk"].state == "problem"
    assert "Permission denied" in findings["Disk"].detail
    assert "Index" in findings


def test_a_models_folder_on_a_drive_that_is_not_there(tmp_path):
    """As ``Z:\\models`` on Windows: none of its parents is a folder."""
    nowhere = SimpleNamespace(is_dir=lambda: False, parents=())
    (finding,) = diagnosis._space(
        SimpleNamespace(models=nowhere, home=tmp_path), lambda key, **values: str(values.get("path", key))
    )
    assert finding.detail == str(tmp_path)
