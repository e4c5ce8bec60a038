from __future__ import annotations

import json

import pytest
from encoder_models import tiny_xlm_roberta

from pipeline.embedders.onnx import OnnxEmbedder
from pipeline.embedders.sentence_transformers import SentenceTransformersEmbedder
from pipeline.errors import ModelDamagedError, ModelMissingError
from pipeline.models.onnx_folder import OnnxFolder, find_onnx, usable_positions


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tokenizer.json").write_text("{}")
    (tmp_path / "model.onnx").write_bytes(b"no protobuf")
    return tmp_path


def test_a_usual_name_comes_first(tmp_path):
    (tmp_path / "onnx").mkdir()
    for name in ("onnx/model.onnx", "onnx/a.onnx"):
        (tmp_path / name).touch()
    assert find_onnx(tmp_path) == tmp_path / "onnx" / "model.onnx"
    (tmp_path / "z.onnx").touch()
    assert find_onnx(tmp_path) == tmp_path / "z.onnx"
    (tmp_path / "model_quantized.onnx").touch()
    assert find_onnx(tmp_path) == tmp_path / "model_quantized.onnx"
    assert find_onnx(tmp_path / "nowhere") is None


@pytest.mark.parametrize(
    ("config", "positions"),
    [
        ({"model_type": "bert", "max_position_embeddings": 512}, 512),
        ({"model_type": "xlm-roberta", "max_position_embeddings": 514}, 512),
        ({"model_type": "xlm-roberta", "max_position_embeddings": 1026}, 1024),
        ({}, 512),
    ],
)
def test_positions_that_can_be_used(config, positions):
    assert usable_positions(config) == positions


@pytest.mark.parametrize("missing", ["tokenizer.json", "model.onnx"])
def test_an_incomplete_folder_is_a_missing_model(folder, missing):
    (folder / missing).unlink()
    with pytest.raises(ModelMissingError):
        OnnxFolder.read(folder)


def test_a_broken_tokenizer_is_named(folder):
    with pytest.raises(ModelDamagedError) as caught:
        OnnxEmbedder(folder, threads=1)
    assert "tokenizer.json" in caught.value.message("en")


def test_a_broken_model_is_named(tmp_path):
    tiny = tiny_xlm_roberta(tmp_path / "tiny")
    (tiny / "model.onnx").write_bytes(b"no protobuf")
    with pytest.raises(ModelDamagedError) as caught:
        OnnxEmbedder(tiny, threads=1)
    assert "model.onnx" in caught.value.message("en")


@pytest.mark.parametrize("text", ["{", "[]"])
def test_a_broken_config_is_named(folder, text):
    (folder / "config.json").write_text(text)
    with pytest.raises(ModelDamagedError):
        OnnxFolder.read(folder)


def test_precision_is_part_of_the_name(folder):
    assert OnnxFolder.read(folder).identity == f"{folder.name}/fp32"
    (folder / "model.onnx").write_bytes(b"...DynamicQuantizeLinear...")
    assert OnnxFolder.read(folder).identity == f"{folder.name}/int8"
    (folder / "config.json").write_text(json.dumps({"otvet": {"id": "mine/int8"}}))
    assert OnnxFolder.read(folder).identity == "mine/int8"


def test_pooling_over_the_first_token_where_the_folder_asks_for_it(tmp_path):
    tiny = tiny_xlm_roberta(tmp_path / "tiny")
    mean = OnnxEmbedder(tiny, threads=1).encode(["склад"], "query").vectors[0]
    (tiny / "1_Pooling").mkdir()
    (tiny / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true}')
    first = OnnxEmbedder(tiny, threads=1).encode(["склад"], "query").vectors[0]
    assert abs(mean - first).max() > 1e-3


def test_a_model_that_is_not_on_the_disk_is_missing_and_not_fetched(tmp_path):
    """No hidden network call: sockets are blocked here, and the error is about the model."""
    with pytest.raises(ModelMissingError):
        SentenceTransformersEmbedder("nobody/no-such-model", threads=1)
    with pytest.raises(ModelMissingError):
        SentenceTransformersEmbedder(tmp_path / "nowhere", threads=1)
