"""multilingual-e5-small, from its 4-bit package file to a tokenizer and an int8 ONNX model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

from pipeline.errors import ModelDamagedError
from pipeline.messages import Phrase
from pipeline.models.convert.e5_file import E5File, read_e5_file
from pipeline.models.convert.e5_graph import build_graph
from pipeline.models.convert.e5_tokenizer import build_tokenizer
from pipeline.ports import Progress

__all__ = ["convert_e5"]

EMBEDDER_ID = "multilingual-e5-small/int8"
_SMALLEST_APART = 1024  # bytes; smaller values stay within the graph


def convert_e5(source: Path, target: Path, progress: Progress | None = None) -> None:
    """Write ``tokenizer.json``, ``config.json``, ``model.onnx`` and its weights; the same bytes every time.

    The folder appears under its name when it is whole; one that is there already is replaced. Takes
    at most 0.7 GB of memory and needs no torch.

    Args:
        source: The file ``e5-small-q4.bin``.
        target: Folder to make.
        progress: Called with (steps done, steps in all), a step being a layer or a file.

    Raises:
        ModelDamagedError: The source is not such a file, or it is cut.
    """
    e5 = read_e5_file(source)
    total = e5.sizes.layers + 4

    def report(done: int) -> None:
        if progress is not None:
            progress(done, total)

    report(1)
    partial = target.with_name(target.name + ".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    build_tokenizer(e5).save(str(partial / "tokenizer.json"), pretty=False)
    report(2)
    config = json.dumps(_config(e5), indent=2) + "\n"
    (partial / "config.json").write_text(config, encoding="utf-8", newline="\n")
    _save_graph(e5, source, partial / "model.onnx", lambda layers: report(3 + layers))
    if target.exists():
        shutil.rmtree(target)
    partial.replace(target)
    report(total)


def _save_graph(e5: E5File, source: Path, path: Path, layer_done: Callable[[int], None]) -> None:
    import onnx

    try:
        model = build_graph(e5, layer_done)
    except (KeyError, ValueError) as error:
        raise ModelDamagedError(path=source, reason=Phrase("model_not_e5", {"detail": error})) from error
    # Weights in a file of their own are mapped instead of parsed: 0.05 s instead of 0.25 at every
    # start, and 70 MB less memory.
    onnx.save_model(
        model,
        str(path),
        save_as_external_data=True,
        location=f"{path.name}.data",
        size_threshold=_SMALLEST_APART,
    )
    path.with_name(f"{path.name}.data").chmod(path.stat().st_mode)  # it comes readable for its owner only


def _config(e5: E5File) -> dict[str, object]:
    """The hub's own keys where it has them, and ours under ``otvet``."""
    sizes = e5.sizes
    return {
        "model_type": "bert",
        "hidden_size": sizes.hidden,
        "num_hidden_layers": sizes.layers,
        "num_attention_heads": sizes.heads,
        "intermediate_size": sizes.feed_forward,
        "max_position_embeddings": sizes.positions,
        "type_vocab_size": sizes.token_types,
        "vocab_size": sizes.vocabulary,
        "pad_token_id": e5.special.pad,
        "otvet": {"id": EMBEDDER_ID, "prefix_scheme": "e5", "pooling": "mean"},
    }
