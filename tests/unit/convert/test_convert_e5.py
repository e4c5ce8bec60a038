from __future__ import annotations

import json

import numpy as np
import pytest
from encoder_models import torch_e5_folder
from small_e5 import HIDDEN, PIECES, q4, small_e5

from pipeline.errors import ModelDamagedError
from pipeline.models.convert.e5 import convert_e5
from pipeline.models.convert.e5_file import read_e5_file
from pipeline.models.convert.quantise import equalising_scales, pack_int4, quantise_rows
from pipeline.models.onnx_folder import open_session


def test_a_block_of_four_bits_is_read_as_the_format_says(tmp_path):
    """By hand: d = 0.5; byte 0x1F holds value 0 = (15 - 8) * 0.5 and value 16 = (1 - 8) * 0.5."""
    data = bytearray(small_e5())
    path = tmp_path / "file.bin"
    path.write_bytes(data)
    at = read_e5_file(path).tensors["emb.word"].offset
    data[at : at + 18] = np.float16(0.5).tobytes() + b"\x1f" + b"\x88" * 15
    path.write_bytes(data)
    first = read_e5_file(path).values("emb.word")[:32]
    assert first[0] == 3.5
    assert first[16] == -3.5
    assert not first[1:16].any()
    assert not first[17:].any()


def test_sizes_pieces_and_names_are_read(small_file):
    e5 = read_e5_file(small_file)
    assert e5.sizes.hidden == HIDDEN
    assert e5.pieces == tuple(PIECES)
    assert e5.special == (0, 2, 1, 3)
    assert e5.epsilon == pytest.approx(1e-12)
    assert e5.matrix("l1.fi.w", 96).shape == (96, HIDDEN)


@pytest.mark.parametrize("keep", [0, 3, 40, 300, 5000, -1])
def test_a_cut_file_is_named_damaged(small_file, tmp_path, keep):
    path = tmp_path / "cut.bin"
    path.write_bytes(small_file.read_bytes()[:keep])
    with pytest.raises(ModelDamagedError) as caught:
        convert_e5(path, tmp_path / "out")
    assert "cut.bin" in caught.value.message("en")
    assert "multilingual-e5-small" in caught.value.message("ru")
    assert not (tmp_path / "out").exists()


def test_another_file_is_named_damaged(tmp_path):
    path = tmp_path / "other.bin"
    path.write_bytes(b"GGUF" + bytes(1000))
    with pytest.raises(ModelDamagedError):
        convert_e5(path, tmp_path / "out")


def test_the_folder_appears_whole_and_replaces_what_was_there(small_file, tmp_path):
    target = tmp_path / "model"
    target.mkdir()
    (target / "old.txt").write_text("old")
    (tmp_path / "model.partial").mkdir()
    (tmp_path / "model.partial" / "rubbish").write_text("of an interrupted run")
    steps: list[tuple[int, int]] = []
    convert_e5(small_file, target, lambda done, total: steps.append((done, total)))
    assert sorted(path.name for path in target.iterdir()) == [
        "config.json",
        "model.onnx",
        "model.onnx.data",
        "tokenizer.json",
    ]
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    assert [done for done, _ in steps] == sorted(done for done, _ in steps)
    assert steps[-1] == (6, 6)
    config = json.loads((target / "config.json").read_text(encoding="utf-8"))
    assert config["otvet"] == {"id": "multilingual-e5-small/int8", "prefix_scheme": "e5", "pooling": "mean"}


def test_an_interrupted_conversion_leaves_the_old_folder(small_file, tmp_path):
    target = tmp_path / "model"
    convert_e5(small_file, target)
    before = (target / "model.onnx").read_bytes()

    def stop(done, _total):
        if done == 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        convert_e5(small_file, target, stop)
    assert (target / "model.onnx").read_bytes() == before


def test_the_same_source_gives_the_same_bytes(small_file, tmp_path):
    for name in ("one", "two"):
        convert_e5(small_file, tmp_path / name)
    for file in ("model.onnx", "model.onnx.data", "tokenizer.json", "config.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_the_graph_computes_what_transformers_compute(small_file, tmp_path):
    """The same weights in torch, fp32: every token's state agrees up to the int8 rounding."""
    import torch
    from transformers import BertModel

    convert_e5(small_file, tmp_path / "onnx")
    model = BertModel.from_pretrained(torch_e5_folder(read_e5_file(small_file), tmp_path / "torch"))
    ids = np.array([[0, 7, 5, 6, 8, 10, 4, 2]])
    with torch.inference_mode():
        expected = model(torch.from_numpy(ids)).last_hidden_state[0].numpy()
    session = open_session(tmp_path / "onnx" / "model.onnx", threads=1)
    found = session.run(None, {"input_ids": ids})[0][0]
    assert [item.name for item in session.get_outputs()] == ["last_hidden_state"]
    cosines = (found * expected).sum(1) / np.linalg.norm(found, axis=1) / np.linalg.norm(expected, axis=1)
    assert cosines.min() > 0.998


def test_the_tokenizer_cuts_as_sentencepiece_would(small_file, tmp_path):
    """ "▁ab" at -2 beats "▁" + "a" + "b" at -11; control pieces in a text stay text."""
    from tokenizers import Tokenizer

    convert_e5(small_file, tmp_path / "out")
    tokenizer = Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    assert tokenizer.encode("ab  a").tokens == ["<s>", "▁ab", "▁", "a", "</s>"]
    assert tokenizer.encode("ab", "ab").tokens == ["<s>", "▁ab", "</s>", "</s>", "▁ab", "</s>"]
    tokenizer.encode_special_tokens = True
    assert tokenizer.encode("a</s>").tokens == ["<s>", "▁", "a", "</", "s", ">", "</s>"]


def test_rows_are_quantised_to_seven_bits_each_with_its_scale():
    integers, scales = quantise_rows(np.array([[63.0, -31.6], [0.0, 0.0], [0.2, 0.5]], np.float32))
    assert integers.tolist() == [[63, -32], [0, 0], [25, 63]]
    assert scales == pytest.approx([1.0, 1 / 63, 0.5 / 63])


def test_equalising_changes_nothing_but_the_division_of_labour():
    gain, bias = np.array([1.0, 20.0], np.float32), np.zeros(2, np.float32)
    weights = np.array([[1.0, 1.0], [-1.0, 0.5]], np.float32)
    scales = equalising_scales(gain, bias, weights)
    assert scales[1] / scales[0] == pytest.approx(20**0.7)
    state = np.array([3.0, -2.0], np.float32)
    assert (weights * scales) @ (state * gain / scales) == pytest.approx(weights @ (state * gain))


def test_nibbles_become_twos_complement_pairs():
    """8 means 0, 15 means 7, 0 means -8: bytes 0x70 (0 low, 7 high) and 0xf8 (-8 low, -1 high)."""
    assert pack_int4(np.array([8, 15, 0, 7], np.uint8)).tolist() == [0x70, 0xF8]


def test_the_test_writer_rounds_trip():
    values = np.linspace(-1, 1, 64, dtype=np.float32)
    assert len(q4(values)) == 36
