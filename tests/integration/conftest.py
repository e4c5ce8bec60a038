"""The handbook of this repository, indexed once for all tests that search it with the real embedder."""

from pathlib import Path

import pytest

from pipeline.embedders.onnx import OnnxEmbedder
from pipeline.ingest.build import build_index
from pipeline.settings import IndexSettings


@pytest.fixture(scope="session")
def handbook(models_folder):
    """The index, not calibrated, and the embedder that made it."""
    embedder = OnnxEmbedder(models_folder / "multilingual-e5-small", threads=2)
    return build_index(
        Path(__file__).parents[2] / "knowledge_base", embedder, IndexSettings()
    ).index, embedder
