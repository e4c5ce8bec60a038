"""Models from the hub, against a stand-in of its HTTP interface on this machine."""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from hub_stand_in import Hub, serving

from pipeline.errors import DownloadDamagedError, HubError
from pipeline.models import SilentReporter
from pipeline.models.catalog import Catalog, HubFile, ModelFile
from pipeline.models.hub import fetch_from_hub

REVISION = "1" * 40
REPO = "someone/reranker"
LARGE = bytes(range(256)) * 2000
SMALL = b'{"model_type": "xlm-roberta"}'


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch):
    """The stand-in with one large and one small file."""
    monkeypatch.setenv("NO_PROXY", "127.0.0.1,localhost")
    with serving() as running:
        running.put(REPO, REVISION, "onnx/model_int8.onnx", LARGE)
        running.put(REPO, REVISION, "config.json", SMALL)
        yield running


def wanted(path: str = "model.onnx", hub_path: str = "onnx/model_int8.onnx", **known: object) -> ModelFile:
    return ModelFile(path=path, hub=HubFile(repo=REPO, revision=REVISION, path=hub_path), **known)


def fetch(file: ModelFile, folder: Path, hub: Hub) -> Path:
    target = folder / "ready" / file.path
    fetch_from_hub(file, folder / "staging", target, SilentReporter(), endpoint=hub.address)
    return target


def test_a_large_file_comes_by_redirect_and_is_checked_by_the_hubs_sha256(hub, tmp_path):
    assert fetch(wanted(), tmp_path, hub).read_bytes() == LARGE
    assert hub.ranges() == [None]


def test_a_small_file_is_checked_by_its_git_hash(hub, tmp_path):
    assert fetch(wanted("config.json", "config.json"), tmp_path, hub).read_bytes() == SMALL


def test_a_transfer_that_breaks_goes_on_in_the_next_run(hub, tmp_path):
    # huggingface_hub hands over 10 MiB at a time; only whole stretches of that size are kept.
    stretch = 10 * 1024 * 1024
    large = LARGE * (1 + 2 * stretch // len(LARGE))
    hub.put(REPO, REVISION, "onnx/model_int8.onnx", large)
    hub.cut_after = stretch + 1000
    with pytest.raises(HubError):
        fetch(wanted(), tmp_path, hub)
    assert not (tmp_path / "ready").exists()
    (partial,) = (tmp_path / "staging" / "partial").iterdir()
    assert partial.stat().st_size == stretch
    hub.down, hub.cut_after = False, None
    hub.asked.clear()
    assert fetch(wanted(), tmp_path, hub).read_bytes() == large
    assert hub.ranges() == [f"bytes={stretch}-"]


def test_an_unfinished_file_of_another_version_is_not_continued(hub, tmp_path):
    hub.cut_after = 200_000
    with pytest.raises(HubError):
        fetch(wanted(), tmp_path, hub)
    other = LARGE[::-1]
    hub.put(REPO, REVISION, "onnx/model_int8.onnx", other)
    hub.down, hub.cut_after = False, None
    assert fetch(wanted(), tmp_path, hub).read_bytes() == other


@pytest.mark.parametrize(
    ("file", "path", "lie"),
    [
        (wanted(), "onnx/model_int8.onnx", b"x" * len(LARGE)),
        (wanted("config.json", "config.json"), "config.json", b"y" * len(SMALL)),
    ],
    ids=["sha256", "git hash"],
)
def test_other_bytes_than_the_checksum_says_are_kept_aside(hub, tmp_path, file, path, lie):
    hub.lies[f"/{REPO}/resolve/{REVISION}/{path}"] = lie
    with pytest.raises(DownloadDamagedError) as caught:
        fetch(file, tmp_path, hub)
    kept = Path(str(caught.value.values["path"]))
    assert kept.name.endswith(".damaged")
    assert kept.read_bytes() == lie
    hub.lies.clear()
    assert fetch(file, tmp_path, hub).is_file()


@pytest.mark.parametrize(
    "known", [{"sha256": "a" * 64}, {"size": 7}], ids=["another SHA-256", "another size"]
)
def test_a_file_other_than_the_catalogues_is_refused_before_the_download(hub, tmp_path, known):
    with pytest.raises(DownloadDamagedError):
        fetch(wanted(**known), tmp_path, hub)
    assert hub.ranges() == []


def test_a_server_without_checksums_will_do_only_where_the_catalogue_has_one(hub, tmp_path):
    hub.etags = False
    with pytest.raises(HubError, match="no checksum"):
        fetch(wanted(), tmp_path, hub)
    known = wanted(sha256=hashlib.sha256(LARGE).hexdigest())
    assert fetch(known, tmp_path, hub).read_bytes() == LARGE


def test_a_file_the_hub_does_not_have_and_a_hub_that_is_down(hub, tmp_path):
    with pytest.raises(HubError, match="404"):
        fetch(wanted(hub_path="nonesuch.onnx"), tmp_path, hub)
    hub.down = True
    with pytest.raises(HubError, match="503"):
        fetch(wanted(), tmp_path, hub)


def test_no_hub_at_all(tmp_path):
    with pytest.raises(HubError):
        fetch(wanted(), tmp_path, Hub(address="http://127.0.0.1:9"))


def test_the_users_token_goes_to_the_hub_and_not_to_its_storage(hub, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_TOKEN", "hf_secret")
    fetch(wanted(), tmp_path, hub)
    assert {token for path, token in hub.authorised if path.startswith("/cdn")} == {None}
    assert {token for path, token in hub.authorised if not path.startswith("/cdn")} == {"Bearer hf_secret"}


def test_the_command_installs_a_hub_model_from_hf_endpoint(hub, tmp_path):
    """The whole way: catalogue, consent, HF_ENDPOINT, download, record, verify."""
    jina = Catalog.load().entry("jina-reranker-v2-base-multilingual")
    for file in jina.files:
        data = LARGE if file.path == "model.onnx" else SMALL
        hub.put(file.hub.repo, file.hub.revision, file.hub.path, data)
    environment = os.environ | {
        "HF_ENDPOINT": hub.address,
        "HF_HOME": str(tmp_path / "hf"),
        "OTVET_MODELS": str(tmp_path / "models"),
        "OTVET_LANGUAGE": "en",
    }

    def otvet(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-c", "from pipeline.cli.main import main; main()", "models", *arguments]
        return subprocess.run(
            command,
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            encoding="utf-8",
            check=False,
        )

    refused = otvet("install", jina.name)
    assert refused.returncode == 5
    assert "CC-BY-NC-4.0" in refused.stderr
    assert hub.asked == []
    done = otvet("install", jina.name, "--accept-license")
    assert done.returncode == 0, done.stderr
    assert "CC-BY-NC-4.0" in done.stderr
    assert (tmp_path / "models" / jina.name / "model.onnx").read_bytes() == LARGE
    checked = otvet("verify", jina.name, "--json")
    assert checked.returncode == 0, checked.stderr
    assert json.loads(checked.stdout) == {jina.name: []}
    assert not (tmp_path / "hf").exists() or not any((tmp_path / "hf").rglob("*.onnx"))
