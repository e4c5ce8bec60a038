"""The map of the product's own handbook, with the real embedder."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
from sklearn.manifold import trustworthiness

from pipeline import bootstrap
from pipeline.plots.map_file import current_map
from pipeline.plots.position import find_place, question_request
from pipeline.settings import Settings
from pipeline.stores import json_store

pytestmark = pytest.mark.models
ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def settings(models_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Settings:
    home = tmp_path_factory.mktemp("home")
    shutil.copytree(ROOT / "knowledge_base" / "ru", home / "knowledge_base")
    made = Settings(home=home, models=models_folder, profile="search")
    bootstrap.build(made)
    return made


def test_neighbours_stay_neighbours(settings: Settings) -> None:
    """Trustworthiness (Venna, Kaski 2001): 1 when every neighbour in the picture is one, 0.5 by chance."""
    shown = current_map(settings.embeddings)
    index = json_store.load(settings.embeddings)
    assert [point.id for point in shown.points] == [chunk.id for chunk in index.chunks]
    assert len(shown.points) >= 20
    for places in ([point.flat for point in shown.points], [point.deep for point in shown.points]):
        assert np.isfinite(places).all()
        assert trustworthiness(index.vectors, np.array(places), n_neighbors=5, metric="cosine") > 0.75


def test_a_question_lies_among_what_the_search_finds(settings: Settings) -> None:
    """Which passages these are is the search's affair; on the map they and their middle must be."""
    shown = current_map(settings.embeddings)
    service = bootstrap.create_service(settings)
    try:
        service.start(wait=True, generator=False)
        place = find_place(shown, service, question_request("Какие кодировки файлов читаются?", "ru"))
    finally:
        service.close()
    points = {point.id: point for point in shown.points}
    near = np.array([points[source.chunk_id].flat for source in place.nearest])
    assert place.flat is not None
    assert (near.min(axis=0) - 1e-4 <= place.flat).all()
    assert (place.flat <= near.max(axis=0) + 1e-4).all()
