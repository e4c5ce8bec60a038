"""The picture for documents."""

import struct

import pytest
from made_map import a_map, a_point, a_source

from pipeline.plots.map_data import Cluster, KnowledgeMap
from pipeline.plots.palette import COLOURS, UNGROUPED, colour_of
from pipeline.plots.png import write_png
from pipeline.plots.position import place_among


def size_of(path):
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", data[16:24])


@pytest.mark.parametrize("language", ["ru", "en"])
def test_a_picture_with_everything_on_it(tmp_path, language):
    shown = a_map(a_point(5, (0.5, 0.5), topic="🎉"))
    place = place_among(shown, "Сколько стоит $x$? 🎉" + "а" * 100, [a_source(0, 0.9), a_source(99, 0.8)])
    write_png(shown, tmp_path / "map.png", language, place)
    assert size_of(tmp_path / "map.png") == (1200, 1000)


@pytest.mark.parametrize("points", [0, 1, 2])
def test_few_points_are_a_picture_too(tmp_path, points):
    """Case 24: the picture of an empty index says so."""
    made = tuple(a_point(number, (0.0, 0.0), cluster=None) for number in range(points))
    write_png(KnowledgeMap("b", "pca", (), made), tmp_path / "map.png", "ru")
    assert size_of(tmp_path / "map.png") == (1200, 1000)


def test_many_clusters_in_one_place_and_words_of_any_kind(tmp_path):
    """Labels that find no room are left out, and no letter is read as a formula."""
    terms = ("$\\alpha", "漢字", "🎉", "a_b^c")
    clusters = tuple(Cluster(number, terms, 1, (0.0, 0.0), (0.0, 0.0, 0.0)) for number in range(30))
    points = tuple(a_point(number, (0.0, 0.0), cluster=number) for number in range(30))
    write_png(KnowledgeMap("b", "umap", clusters, points), tmp_path / "map.png", "ru")
    assert size_of(tmp_path / "map.png") == (1200, 1000)


def test_colours_come_round_and_nothing_is_grey():
    assert colour_of(0) == colour_of(len(COLOURS)) == COLOURS[0]
    assert colour_of(None) == UNGROUPED
    assert len(set(COLOURS)) == len(COLOURS)
