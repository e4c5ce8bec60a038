"""The history as a picture for documents, by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from pipeline.compare.history import Entry
from pipeline.compare.plot import LINES, lines_of
from pipeline.messages import text
from pipeline.plots.extras import load_library
from pipeline.types import Language

__all__ = ["write_png"]

_INCHES = (10.0, 5.0)
_DPI = 100


def write_png(entries: Sequence[Entry], questions: str, measure: str, language: Language, path: Path) -> None:
    """Draw what each way did over time.

    Args:
        entries: The history.
        questions: Which set; empty for the newest.
        measure: Which figure.
        language: Of the title.
        path: File to write.

    Raises:
        ExtraMissingError: matplotlib is not installed.
        OSError: The file cannot be written.
    """
    figures = load_library("matplotlib.figure")
    agg = load_library("matplotlib.backends.backend_agg")
    name = questions or (entries[-1].questions if entries else "")
    runs, lines = lines_of([entry for entry in entries if entry.questions == name], measure)
    figure = figures.Figure(figsize=_INCHES, dpi=_DPI, layout="constrained")
    agg.FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    for line in lines[:LINES]:
        places = sorted(line.points)
        values = [line.points[place] for place in places]
        below = [value - low for value, low, _ in values]
        above = [high - value for value, _, high in values]
        width = 2.5 if line.is_default else 1.2
        label = f"{line.last:.3f}  {line.way.name}"
        axes.errorbar(
            places, [v for v, _, _ in values], [below, above],
            marker="o", linewidth=width, elinewidth=0.7, label=label,
        )  # fmt: skip
    axes.set_xticks(range(len(runs)), [datetime.fromisoformat(when).strftime("%d.%m %H:%M") for when in runs])
    axes.set_title(f"{text('answers', f'measure_{measure}', language)}: {name}")
    axes.grid(visible=True, axis="y", alpha=0.3)
    if lines:
        axes.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    figure.savefig(path, format="png", dpi=_DPI, metadata={"Software": "otvet"})
