"""The words on the picture: each cluster's terms, where they cover little."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pipeline.plots.clusters import NO_CLUSTER
from pipeline.plots.extras import load_library
from pipeline.plots.map_data import KnowledgeMap
from pipeline.plots.palette import colour_of
from pipeline.types import FloatMatrix

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.backend_bases import RendererBase
    from matplotlib.transforms import Bbox

__all__ = ["write_labels"]

_GAP = 6  # pixels between a label and its cluster
_ABOVE_ALL = 1000


def write_labels(axes: Axes, renderer: RendererBase, shown: KnowledgeMap) -> None:
    """Write the terms of each cluster beside it: where they cover the fewest points and no other label.

    The largest cluster chooses first; a label that finds no room is left out.
    """
    patheffects = load_library("matplotlib.patheffects")
    halo = [patheffects.withStroke(linewidth=3, foreground="white")]
    numbers = np.array([NO_CLUSTER if p.cluster is None else p.cluster for p in shown.points], dtype=np.int64)
    pixels = axes.transData.transform(np.array([point.flat for point in shown.points]).reshape(-1, 2))
    taken: list[Bbox] = []
    for cluster in shown.clusters:
        x, y = cluster.flat
        label = axes.annotate(
            "\n".join(cluster.terms),
            (x, y),
            xytext=(0, 0),
            textcoords="offset pixels",
            color=_darker(colour_of(cluster.number)),
            path_effects=halo,
            zorder=_ABOVE_ALL,
            ha="center",
            va="center",
            fontsize=9,
            linespacing=1.15,
            parse_math=False,
        )
        size = label.get_window_extent(renderer)
        own = pixels[numbers == cluster.number] - axes.transData.transform((x, y))
        free: list[tuple[int, int, tuple[float, float], Bbox]] = []
        for order, shift in enumerate(_places(own, size.width, size.height)):
            box = size.translated(*shift)
            if not any(box.overlaps(other) for other in taken):
                free.append((int(box.count_contains(pixels)), order, shift, box))
        if free:
            _, _, shift, box = min(free, key=lambda found: found[:2])
            label.set_position(shift)
            taken.append(box)
        else:
            label.remove()


def _places(own: FloatMatrix, width: float, height: float) -> list[tuple[float, float]]:
    """Where a label may stand, in pixels from the middle of its cluster: around it, or on it."""
    left, bottom = np.quantile(own, 0.1, axis=0)
    right, top = np.quantile(own, 0.9, axis=0)
    across, along = width / 2 + _GAP, height / 2 + _GAP
    sides = [(0.0, top + along), (0.0, bottom - along), (right + across, 0.0), (left - across, 0.0)]
    corners = [(x, y) for y in (top + along, bottom - along) for x in (right + across, left - across)]
    return [*((float(x), float(y)) for x, y in sides + corners), (0.0, 0.0)]


def _darker(colour: str) -> str:
    parts = (int(colour[start : start + 2], 16) for start in (1, 3, 5))
    return "#" + "".join(f"{round(part * 0.7):02x}" for part in parts)
