"""What is doubled, what lies alone."""

import numpy as np
import pytest

from pipeline.embedders.hash import HashEmbedder
from pipeline.plots.marks import duplicate_groups, find_outliers
from pipeline.plots.neighbours import Neighbours

LONG = " ".join(f"отпуск{number}" for number in range(40))


def groups(texts):
    vectors = HashEmbedder(256).encode(texts, "passage").vectors if texts else np.zeros((0, 256), np.float32)
    return duplicate_groups(texts, vectors)


def test_the_same_words_in_another_dress_are_doubled():
    texts = [LONG, "Совсем о другом.", LONG.upper() + "!", f"{LONG} снова", "Ещё о третьем."]
    assert groups(texts) == [1, None, 1, 1, None]


def test_another_number_is_another_text():
    assert groups([f"{LONG} 28", f"{LONG} 14"]) == [None, None]


def test_groups_are_numbered_by_their_first_text():
    assert groups(["а б в", "г д е", "г д е", "а б в"]) == [1, 2, 2, 1]


def test_texts_without_words_and_no_texts_are_no_copies():
    assert groups(["", "", "…", "…"]) == [None] * 4
    assert groups([]) == []
    assert groups(["один"]) == [None]


def test_more_copies_than_partners_are_one_group():
    texts = [
        f"{LONG} {word}" for word in ("альфа", "бета", "гамма", "дельта", "эпсилон", "дзета", "эта", "тета")
    ]
    assert set(groups(texts)) == {1}


def near(closeness: list[float]) -> Neighbours:
    cosines = np.repeat(np.array(closeness, dtype=np.float32)[:, None], 3, axis=1)
    return Neighbours(np.zeros_like(cosines, dtype=np.int32), cosines)


def test_far_below_the_median_is_alone():
    """Median 0.90, median deviation 0.02: the threshold is 0.90 - 2.5 x 1.4826 x 0.02 = 0.826."""
    closeness = [0.86, 0.88, 0.88, 0.90, 0.90, 0.90, 0.92, 0.92, 0.93, 0.83, 0.82]
    assert find_outliers(near(closeness), [1] * 11).nonzero()[0].tolist() == [10]


def test_what_is_there_twice_is_not_alone():
    closeness = [0.9] * 10 + [0.1]
    assert find_outliers(near(closeness), [1] * 11).tolist() == [False] * 10 + [True]
    assert not find_outliers(near(closeness), [1] * 10 + [2]).any()


def test_among_equals_nobody_is_alone():
    assert not find_outliers(near([0.9] * 10 + [0.895]), [1] * 11).any()


@pytest.mark.parametrize("points", [0, 1, 9])
def test_among_few_nobody_is_alone(points):
    cosines = np.linspace(0, 1, 3 * points, dtype=np.float32).reshape(points, 3)
    found = find_outliers(Neighbours(np.zeros((points, 3), dtype=np.int32), cosines), [1] * points)
    assert found.tolist() == [False] * points
