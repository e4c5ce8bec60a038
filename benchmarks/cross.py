"""The naive side's cross-encoder as the int8 ONNX model that our side would serve it as."""

from __future__ import annotations

import json
import logging
import shutil
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["export_cross_encoder"]


def export_cross_encoder(source: Path, target: Path) -> Path:
    """Export a transformers cross-encoder and quantise its weights, once; returns the folder.

    Args:
        source: Folder saved by transformers.
        target: Folder to make.
    """
    if (target / "config.json").is_file():
        return target
    from onnxruntime.quantization import QuantType, quantize_dynamic

    target.mkdir(parents=True, exist_ok=True)
    whole = target / "fp32.onnx.tmp"
    _export(source, whole)
    logging.getLogger().setLevel(logging.ERROR)  # it warns of every node it need not touch
    quantize_dynamic(str(whole), str(target / "model.onnx"), weight_type=QuantType.QInt8, per_channel=True)
    whole.unlink()
    shutil.copyfile(source / "tokenizer.json", target / "tokenizer.json")
    config = json.loads((source / "config.json").read_text(encoding="utf-8"))
    (target / "config.json").write_text(json.dumps(config, indent=2) + "\n", encoding="utf-8")
    return target


def _export(source: Path, file: Path) -> None:
    import torch
    from transformers import AutoModelForSequenceClassification

    model = AutoModelForSequenceClassification.from_pretrained(source, attn_implementation="eager").eval()

    class Logits(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.model = model

        def forward(self, input_ids: Tensor, attention_mask: Tensor) -> Tensor:
            logits: Tensor = self.model(input_ids, attention_mask, return_dict=False)[0]
            return logits

    ids = torch.full((1, 8), 5)
    axes = {0: "pairs", 1: "tokens"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the tracer's remarks on transformers' own code
        torch.onnx.export(
            Logits(),
            (ids, torch.ones_like(ids)),
            str(file),
            input_names=["input_ids", "attention_mask"],
            output_names=["logits"],
            dynamic_axes={"input_ids": axes, "attention_mask": axes},
            opset_version=17,
            dynamo=False,
        )


def main() -> None:
    """``cross.py FOLDER TOKENIZER TARGET``: in a process of its own, since torch stays in memory."""
    import sys

    from naive import random_models

    folder, tokenizer, target = map(Path, sys.argv[1:])
    folder.mkdir(parents=True, exist_ok=True)
    export_cross_encoder(random_models(folder, tokenizer)[1], target)


if __name__ == "__main__":
    main()
