"""The map as a picture for documents, by matplotlib: no browser, no network, no screen."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pipeline.messages import text
from pipeline.plots.extras import load_library
from pipeline.plots.map_data import KnowledgeMap
from pipeline.plots.palette import COLOURS, colour_of
from pipeline.plots.png_labels import write_labels
from pipeline.plots.position import Place
from pipeline.types import FloatMatrix, Language

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["write_png"]

_INCHES = (12.0, 10.0)
_DPI = 100
_INK = "#1b1d1f"
_SOFT = "#565a60"
_QUESTION = "#c2185b"
_QUESTION_LETTERS = 60
_SMALLEST, _LARGEST = 4.0, 60.0  # area of a point in square typographic points
_MARKERS = "os^D"  # the next shape once the colours are used up


def write_png(shown: KnowledgeMap, path: Path, language: Language, place: Place | None = None) -> None:
    """Draw the plane of the map, coloured by cluster, with what is doubled and what lies alone marked.

    Args:
        shown: The map; without points it gives a picture that says so.
        path: File to write.
        language: Of title and legend.
        place: A question to show, if any.

    Raises:
        ExtraMissingError: matplotlib is not installed.
        OSError: The file cannot be written.
    """
    figures = load_library("matplotlib.figure")
    agg = load_library("matplotlib.backends.backend_agg")
    with warnings.catch_warnings():
        # A letter that the font lacks (an emoji in a topic) is drawn as a box; that is no error.
        warnings.simplefilter("ignore")
        figure = figures.Figure(figsize=_INCHES, dpi=_DPI)
        canvas = agg.FigureCanvasAgg(figure)
        axes = figure.add_axes((0.02, 0.06, 0.96, 0.88))
        _draw(axes, shown, language, place)
        write_labels(axes, canvas.get_renderer(), shown)
        figure.savefig(path, format="png", dpi=_DPI, metadata={"Software": "otvet"})


def _draw(axes: Axes, shown: KnowledgeMap, language: Language, place: Place | None) -> None:
    axes.set_axis_off()
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.06)
    if not shown.points:
        message = text("cli", "map_nothing", language)
        axes.text(0.5, 0.5, message, ha="center", va="center", color=_SOFT, transform=axes.transAxes)
        return
    title = text("cli", "map_title", language, points=len(shown.points), clusters=len(shown.clusters))
    axes.set_title(title, loc="left", fontsize=14, color=_INK, parse_math=False)
    area = float(np.clip(20_000 / len(shown.points), _SMALLEST, _LARGEST))
    where = np.array([point.flat for point in shown.points], dtype=np.float32)
    rows: dict[int | None, list[int]] = {None: []}  # what belongs nowhere is drawn first, below the rest
    for row, point in enumerate(shown.points):
        rows.setdefault(point.cluster, []).append(row)
    for number, members in rows.items():
        marker = _MARKERS[(number or 0) // len(COLOURS) % len(_MARKERS)]
        _dots(axes, where[members], area, c=colour_of(number), marker=marker, alpha=0.8, linewidths=0)
    _marks(axes, shown, where, area, language)
    if place is not None and place.flat is not None:
        _question(axes, shown, place, language)
    if axes.get_legend_handles_labels()[0]:
        axes.legend(loc="upper left", bbox_to_anchor=(0, 0), ncols=3, frameon=False, labelcolor=_SOFT)


def _marks(axes: Axes, shown: KnowledgeMap, where: FloatMatrix, area: float, language: Language) -> None:
    doubled = [row for row, point in enumerate(shown.points) if point.duplicates is not None]
    alone = [row for row, point in enumerate(shown.points) if point.alone]
    if doubled:
        label = text("cli", "map_legend_doubled", language, count=len(doubled))
        ring = {"facecolors": "none", "edgecolors": _INK, "linewidths": 0.9}
        _dots(axes, where[doubled], area * 2.5 + 12, label=label, **ring)
    if alone:
        label = text("cli", "map_legend_alone", language, count=len(alone))
        _dots(axes, where[alone], area * 2 + 25, c=_INK, marker="x", label=label)


def _question(axes: Axes, shown: KnowledgeMap, place: Place, language: Language) -> None:
    points = {point.id: point for point in shown.points}
    for source in place.nearest:
        if source.chunk_id in points:
            ends = np.array([place.flat, points[source.chunk_id].flat])
            axes.plot(*ends.T, color=_QUESTION, linewidth=0.8, alpha=0.6)
    question = place.question
    short = question if len(question) <= _QUESTION_LETTERS else question[: _QUESTION_LETTERS - 1] + "…"
    label = text("cli", "map_legend_question", language, question=short.replace("$", r"\$"))
    _dots(axes, np.array([place.flat], dtype=np.float32), 260, c=_QUESTION, marker="*", label=label)


def _dots(axes: Axes, where: FloatMatrix, area: float, **style: Any) -> None:  # noqa: ANN401 - matplotlib's own words
    axes.scatter(where[:, 0], where[:, 1], s=area, zorder=len(axes.collections) + 1, **style)
