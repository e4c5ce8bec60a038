"""A folder with an ONNX encoder: ``tokenizer.json``, an ``.onnx`` file and, mostly, ``config.json``.

Both what the hub holds (XLM-RoBERTa, BERT; fp32 or quantised) and what `convert_e5` writes.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pipeline.errors import ModelDamagedError, ModelMissingError
from pipeline.models.piece_table import open_table
from pipeline.models.quick_tokenizer import QuickTokenizer, TextCoder

if TYPE_CHECKING:
    from onnxruntime import InferenceSession

__all__ = [
    "OnnxFolder",
    "find_onnx",
    "load_tokenizer",
    "open_session",
    "read_json",
    "run_one",
    "usable_positions",
    "well_formed",
]

_PREFERRED = ("model.onnx", "model_int8.onnx", "model_quantized.onnx")
# RoBERTa numbers positions from pad + 1, so two of its positions are never used.
_ROBERTA = frozenset({"roberta", "xlm-roberta", "camembert"})
_USUAL_POSITIONS = 512
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class OnnxFolder:
    """What a folder says about its model.

    Attributes:
        path: The folder.
        model: The ONNX file.
        config: ``config.json``, empty where there is none.
    """

    path: Path
    model: Path
    config: Mapping[str, Any]

    @classmethod
    def read(cls, path: Path) -> OnnxFolder:
        """Look at a folder.

        Raises:
            ModelMissingError: It has no ONNX file or no tokenizer.
            ModelDamagedError: ``config.json`` is no JSON object.
        """
        model = find_onnx(path)
        if model is None or not (path / "tokenizer.json").is_file():
            raise ModelMissingError(model=path)
        return cls(path, model, read_json(path / "config.json"))

    @property
    def own(self) -> Mapping[str, Any]:
        """The keys that this product's own conversion writes."""
        value = self.config.get("otvet", {})
        return value if isinstance(value, dict) else {}

    @property
    def positions(self) -> int:
        """Most tokens a run can take, specials and all."""
        return usable_positions(self.config)

    @property
    def identity(self) -> str:
        """Name and precision, for example ``multilingual-e5-base/int8``."""
        return str(self.own.get("id") or f"{self.path.resolve().name}/{_precision(self.model)}")


def usable_positions(config: Mapping[str, Any]) -> int:
    """Most tokens that a model with this ``config.json`` takes."""
    positions = int(config.get("max_position_embeddings", _USUAL_POSITIONS))
    return positions - 2 if config.get("model_type") in _ROBERTA else positions


def find_onnx(path: Path) -> Path | None:
    """The ONNX file of a folder or of its subfolder ``onnx``: a usual name first, else the first by name."""
    for folder in (path, path / "onnx"):
        names = sorted(file.name for file in folder.glob("*.onnx"))
        for name in (*_PREFERRED, *names):
            if name in names:
                return folder / name
    return None


def read_json(path: Path) -> Mapping[str, Any]:
    """A JSON object from a file; empty when there is no file.

    Raises:
        ModelDamagedError: It holds something else.
    """
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelDamagedError(path=path, reason=error) from error
    if not isinstance(value, dict):
        raise ModelDamagedError(path=path, reason=type(value).__name__)
    return value


def load_tokenizer(path: Path) -> TextCoder:
    """The tokenizer of a folder, with nothing cut, nothing padded and no special token read from a text.

    Raises:
        ModelDamagedError: The file is no tokenizer.
    """
    from tokenizers import Tokenizer

    file = path / "tokenizer.json"
    try:
        table = open_table(file)
        if table is not None:
            return QuickTokenizer(table)
        tokenizer = Tokenizer.from_file(str(file))
    except Exception as error:  # the library raises nothing more exact
        raise ModelDamagedError(path=file, reason=error) from error
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.encode_special_tokens = True
    return tokenizer


def open_session(model: Path, threads: int) -> InferenceSession:
    """Load an ONNX file for the CPU.

    Args:
        model: The file.
        threads: Threads of one run.

    Raises:
        ModelDamagedError: onnxruntime cannot read it.
    """
    import onnxruntime

    onnxruntime.disable_telemetry_events()  # the package sets a variable for it that Windows does not read
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    # Spinning threads would steal the cores from the language model, which runs right after.
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    options.log_severity_level = 3
    try:
        return onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's errors have no common class of their own
        raise ModelDamagedError(path=model, reason=error) from error


def run_one(
    session: InferenceSession, ids: NDArray[np.int64], types: NDArray[np.int64]
) -> NDArray[np.float32]:
    """Run one unpadded text (or pair) and return the first output without its batch axis.

    Args:
        session: A BERT-like encoder; it gets those of ``input_ids``, ``attention_mask`` and
            ``token_type_ids`` that it takes.
        ids: (tokens,).
        types: (tokens,), 0 for a first text and 1 for a second.
    """
    offered = {"input_ids": ids, "attention_mask": np.ones_like(ids), "token_type_ids": types}
    taken = {item.name: offered[item.name][None] for item in session.get_inputs()}
    output = session.run(None, taken)[0][0]
    return np.asarray(output, dtype=np.float32)


def well_formed(text: str) -> str:
    """A text that every tokenizer takes, with all its offsets.

    A lone surrogate, which cannot be written in UTF-8, becomes U+FFFD; NUL, which some normalisers let
    through as an unknown token, becomes U+0001, which they all drop.
    """
    return _SURROGATE.sub("\ufffd", text).replace("\0", "\x01")


def _precision(model: Path) -> str:
    # Nodes come before weights in an ONNX file, so the operators stand within the first megabytes.
    with model.open("rb") as stream:
        head = stream.read(1 << 22)
    for mark, name in ((b"MatMulNBits", "int4"), (b"DynamicQuantize", "int8"), (b"MatMulInteger", "int8")):
        if mark in head:
            return name
    return "fp16" if "fp16" in model.name else "fp32"
