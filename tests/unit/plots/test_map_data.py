"""The map of an index, from no passage to a few dozen (case 24)."""

import math

import pytest
from small_index import Passage, small_index

from pipeline.plots.map_data import make_map

TOPICS = {
    "кадры/отпуск.md": "отпуск дни график заявление сотрудник часть",
    "склад/товар.md": "склад товар накладная остаток партия отгрузка",
    "ит/сервер.md": "сервер пароль сеть доступ журнал резерв",
}


def passages():
    made = []
    for file, words in TOPICS.items():
        names = words.split()
        made += [
            Passage(" ".join([*names[:5], names[number % 6], f"слово{file[0]}{number}"]), file, names[0])
            for number in range(14)
        ]
    return made


@pytest.mark.parametrize("count", [0, 1, 2, 3, 4, 5, 15, 16])
def test_any_number_of_passages(count):
    """Case 24."""
    shown = make_map(small_index([f"текст {number} слово{number}" for number in range(count)]))
    assert len(shown.points) == count
    assert shown.method == ("umap" if count >= 5 else "pca")
    for point in shown.points:
        assert len(point.flat) == 2
        assert len(point.deep) == 3
        assert all(math.isfinite(value) and abs(value) <= 1 for value in (*point.flat, *point.deep))


def test_twenty_identical_passages_share_one_place():
    """Case 24."""
    shown = make_map(small_index(["одно и то же"] * 20))
    assert {(point.flat, point.deep) for point in shown.points} == {((0, 0), (0, 0, 0))}
    assert {point.duplicates for point in shown.points} == {1}
    assert {(point.cluster, point.alone) for point in shown.points} == {(None, False)}
    assert shown.method == "pca"


def test_topics_become_clusters_with_their_words():
    steps = []

    def watch(step):
        steps.append(step)
        return lambda done, total: None

    shown = make_map(small_index([*passages(), Passage(passages()[0].text, "копия.md", "отпуск")]), watch)
    assert steps == ["duplicates", "neighbours", "flat", "deep", "clusters"]
    files = {}
    for point in shown.points:
        if point.cluster is not None:
            files.setdefault(point.cluster, set()).add(point.file)
    assert all(len(found - {"копия.md"}) == 1 for found in files.values()), "no cluster mixes topics"
    assert len(files) == len(shown.clusters) >= 3
    for cluster in shown.clusters:
        (file,) = files[cluster.number] - {"копия.md"}
        assert set(cluster.terms) <= set(TOPICS[file].split())
        assert cluster.size == sum(point.cluster == cluster.number for point in shown.points)
    assert [point.duplicates for point in shown.points if point.duplicates] == [1, 1]
    assert shown.points[0].duplicates == shown.points[-1].duplicates == 1
    assert shown.points[0].flat == shown.points[-1].flat
    assert shown == make_map(small_index([*passages(), Passage(passages()[0].text, "копия.md", "отпуск")]))


def test_long_texts_are_only_begun():
    (point,) = make_map(small_index([Passage("слово\n" * 100, topic="тема " * 100)])).points
    assert len(point.text) <= 240
    assert point.text.endswith("…")
    assert "\n" not in point.text
    assert len(point.topic) <= 160
