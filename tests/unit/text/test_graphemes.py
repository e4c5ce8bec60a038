"""Cuts that break no visible character."""

from __future__ import annotations

import pytest

from pipeline.text.graphemes import is_boundary, last_boundary


@pytest.mark.parametrize(
    "cluster", ["👨\u200d👩\u200d👧", "é", "👍🏽", "🇷🇺", "й", "❤\ufe0f", "1\ufe0f\u20e3"]
)
def test_nothing_is_cut_inside_a_cluster(cluster: str) -> None:
    """Case 11."""
    text = f"а{cluster}б"
    inside = range(2, len(cluster) + 1)
    assert [place for place in range(len(text) + 1) if not is_boundary(text, place)] == list(inside)
    assert last_boundary(text, len(cluster)) in (1, len(cluster)) if len(cluster) > 1 else True


def test_flags_in_a_row_are_pairs() -> None:
    text = "🇷🇺🇧🇾"
    assert [place for place in range(5) if is_boundary(text, place)] == [0, 2, 4]
