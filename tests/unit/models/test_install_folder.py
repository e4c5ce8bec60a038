"""Installing from a folder that somebody copied."""

from __future__ import annotations

import json
import sys
import types
from pathlib import Path

import pytest
from fake_packages import NAME, model, sha256, three_parts

from pipeline.errors import ModelError
from pipeline.models import install, installed, verify

SOURCE = b"source weights"


def hub_file(path: str, hub_path: str, data: bytes | None) -> dict[str, object]:
    known = {} if data is None else {"size": len(data), "sha256": sha256(data)}
    return {"path": path, "hub": {"repo": "a/b", "revision": "0" * 40, "path": hub_path}, **known}


@pytest.fixture
def convert(monkeypatch) -> list[tuple[Path, Path]]:
    """A conversion that writes two files; the calls it got."""
    calls: list[tuple[Path, Path]] = []

    def convert_e5(source, target, progress):
        calls.append((source, target))
        assert source.read_bytes() == SOURCE
        progress(1, 1)
        (target / "model.onnx").write_bytes(b"graph of " + SOURCE)
        (target / "tokenizer.json").write_bytes(b"{}")

    fake = types.ModuleType("pipeline.models.convert.e5")
    fake.convert_e5 = convert_e5
    monkeypatch.setitem(sys.modules, "pipeline.models.convert", types.ModuleType("pipeline.models.convert"))
    monkeypatch.setitem(sys.modules, "pipeline.models.convert.e5", fake)
    return calls


def converted_model():
    return model([hub_file("source.bin", "source.bin", SOURCE)], role="embedder", convert="e5")


@pytest.mark.parametrize(
    "place", ["weights.gguf", f"{NAME}/weights.gguf"], ids=["in the folder", "in a subfolder of its name"]
)
def test_a_fitting_file_is_copied_and_the_folder_left_alone(shelf, models, tmp_path, fetched, place):
    catalog, whole = three_parts(shelf)
    copied = tmp_path / "stick" / place
    copied.parent.mkdir(parents=True)
    copied.write_bytes(whole)
    folder = install(models, NAME, catalog=catalog, source=tmp_path / "stick")
    assert (folder / "weights.gguf").read_bytes() == whole
    assert copied.read_bytes() == whole
    assert fetched == []
    assert verify(models, NAME, catalog=catalog) == []


@pytest.mark.parametrize("data", [b"short", None], ids=["wrong bytes", "no file"])
def test_a_folder_without_a_fitting_file_is_an_error_that_names_both(shelf, models, tmp_path, data):
    catalog, _ = three_parts(shelf)
    stick = tmp_path / "stick"
    stick.mkdir()
    if data is not None:
        (stick / "weights.gguf").write_bytes(data)
    with pytest.raises(ModelError) as caught:
        install(models, NAME, catalog=catalog, source=stick)
    assert str(stick) in caught.value.message("ru")
    assert "weights.gguf" in caught.value.message("ru")
    assert installed(models, NAME, catalog) is None


def test_right_size_but_other_bytes_do_not_fit(shelf, models, tmp_path):
    catalog, whole = three_parts(shelf)
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "weights.gguf").write_bytes(whole[:-1] + b"!")
    with pytest.raises(ModelError):
        install(models, NAME, catalog=catalog, source=stick)


def test_a_clone_of_a_hub_repository_will_do(models, tmp_path):
    catalog = model(
        [
            hub_file("model.onnx", "onnx/model_int8.onnx", b"graph"),
            hub_file("config.json", "config.json", None),
        ]
    )
    clone = tmp_path / "clone"
    (clone / "onnx").mkdir(parents=True)
    (clone / "onnx" / "model_int8.onnx").write_bytes(b"graph")
    (clone / "config.json").write_bytes(b'{"a": 1}')
    folder = install(models, NAME, catalog=catalog, source=clone)
    assert (folder / "model.onnx").read_bytes() == b"graph"
    # The catalogue does not know this file: what was copied is what is checked from now on.
    (folder / "config.json").write_bytes(b'{"a": 2}')
    assert [problem.path.name for problem in verify(models, NAME, catalog=catalog)] == ["config.json"]


def test_a_source_file_is_converted_and_only_the_product_stays(models, tmp_path, convert):
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "source.bin").write_bytes(SOURCE)
    catalog = converted_model()
    folder = install(models, NAME, catalog=catalog, source=stick)
    assert sorted(path.name for path in folder.iterdir()) == [
        "installed.json",
        "model.onnx",
        "tokenizer.json",
    ]
    assert verify(models, NAME, catalog=catalog) == []
    (folder / "model.onnx").write_bytes(b"graph of someone weight")
    assert [problem.path.name for problem in verify(models, NAME, catalog=catalog)] == ["model.onnx"]


def test_an_interrupted_conversion_starts_anew_from_the_kept_source(models, tmp_path, convert, monkeypatch):
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "source.bin").write_bytes(SOURCE)
    catalog = converted_model()
    module = sys.modules["pipeline.models.convert.e5"]
    good = module.convert_e5

    def interrupted(source, target, progress):
        (target / "model.onnx").write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "convert_e5", interrupted)
    with pytest.raises(KeyboardInterrupt):
        install(models, NAME, catalog=catalog, source=stick)
    assert installed(models, NAME, catalog) is None
    (stick / "source.bin").unlink()
    monkeypatch.setattr(module, "convert_e5", good)
    folder = install(models, NAME, catalog=catalog, source=stick)
    assert (folder / "model.onnx").read_bytes() == b"graph of " + SOURCE


def test_a_converted_model_is_copied_from_another_machine(models, tmp_path, convert):
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "source.bin").write_bytes(SOURCE)
    catalog = converted_model()
    install(models, NAME, catalog=catalog, source=stick)
    other = tmp_path / "other machine"
    folder = install(other, NAME, catalog=catalog, source=models)
    assert len(convert) == 1
    assert verify(other, NAME, catalog=catalog) == []
    assert folder == other / NAME


def test_a_damaged_converted_model_is_not_copied(models, tmp_path, convert):
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "source.bin").write_bytes(SOURCE)
    catalog = converted_model()
    folder = install(models, NAME, catalog=catalog, source=stick)
    (folder / "model.onnx").write_bytes(b"graph of source weighs!")
    with pytest.raises(ModelError):
        install(tmp_path / "other", NAME, catalog=catalog, source=models)


def test_a_new_conversion_makes_the_old_product_out_of_date(models, tmp_path, convert):
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "source.bin").write_bytes(SOURCE)
    install(models, NAME, catalog=converted_model(), source=stick)
    plain = model([hub_file("source.bin", "source.bin", SOURCE)], role="embedder")
    assert installed(models, NAME, plain) is None


def test_a_copy_that_was_cut_off_leaves_nothing_in_the_model(shelf, models, tmp_path, monkeypatch):
    catalog, whole = three_parts(shelf)
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "weights.gguf").write_bytes(whole)
    module = sys.modules["pipeline.models.folder"]

    def interrupted(source, target, reporter):
        target.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(module, "_copy", interrupted)
    with pytest.raises(KeyboardInterrupt):
        install(models, NAME, catalog=catalog, source=stick)
    folder = install(models, NAME, catalog=catalog)
    assert sorted(path.name for path in folder.iterdir()) == ["installed.json", "weights.gguf"]


def test_a_record_that_leads_out_of_its_folder_is_not_followed(models, tmp_path, convert):
    stick = tmp_path / "stick"
    stick.mkdir()
    (stick / "secret").write_bytes(b"s")
    evil = stick / NAME
    evil.mkdir()
    record = {
        "name": NAME,
        "source": "folder",
        "license": "MIT",
        "convert": "e5",
        "files": {"../secret": {"size": 1, "sha256": sha256(b"s")}},
    }
    (evil / "installed.json").write_text(json.dumps(record), encoding="utf-8")
    with pytest.raises(ModelError):
        install(models, NAME, catalog=converted_model(), source=stick)
    assert not (models / ".staging" / NAME / "secret").exists()
