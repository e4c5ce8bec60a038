"""The history as a picture: what each way did, run after run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from html import escape

from pipeline.compare.history import Entry
from pipeline.compare.ways import Way

__all__ = ["LINES", "Line", "history_svg", "lines_of"]

LINES = 8
"""Ways that are drawn; of more, those that did best the last time, and the default."""

_WIDTH, _HEIGHT = 760, 360
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 236, 16, 40
_LABEL_STEP = 16
_BESIDE = 3
_EDGE = 16
_DATES = 6

# For a file that stands alone; on the page the same classes have the page's own colours.
_STYLE = (
    "text{font:12px system-ui,'Segoe UI',Arial,sans-serif;fill:#565a60}.grid{stroke:#dedbd1}"
    ".lead{stroke:#8b8d8f;stroke-width:.7}polyline{fill:none;stroke-width:1.6}"
    ".default polyline{stroke-width:3}.default text{font-weight:600}"
    + "".join(
        f".w{n} polyline,.w{n} .bar{{stroke:{colour}}}.w{n} circle,.w{n} text{{fill:{colour}}}"
        for n, colour in enumerate(
            ("#0f5c56", "#a03a12", "#2f5fa8", "#7a4d9b", "#6b6b00", "#b02a5b", "#3d6b1f", "#505050")
        )
    )
)


@dataclass(frozen=True, slots=True)
class Line:
    """One way over time.

    Attributes:
        is_default: It was when it was measured last.
        points: Number of the run -> value and interval.
    """

    way: Way
    is_default: bool
    points: dict[int, tuple[float, float, float]]

    @property
    def last(self) -> float:
        """The newest value."""
        return self.points[max(self.points)][0]


def lines_of(entries: Sequence[Entry], measure: str) -> tuple[list[str], list[Line]]:
    """The times of the runs, and a line for each way that was measured."""
    told = [entry for entry in entries if measure in entry.figures]
    runs = sorted({entry.when for entry in told})
    found: dict[Way, Line] = {}
    for entry in told:
        points = found[entry.way].points if entry.way in found else {}
        points[runs.index(entry.when)] = entry.figures[measure]
        found[entry.way] = Line(entry.way, entry.is_default, points)
    return runs, sorted(found.values(), key=lambda line: -line.last)


def history_svg(
    entries: Sequence[Entry], measure: str, title: str, *, lower_is_better: bool = False, alone: bool = True
) -> str:
    """Runs from left to right, a line for each way, its interval as a stroke; every text is escaped.

    Args:
        entries: Of one set of questions.
        measure: Which figure.
        title: What the picture is called.
        lower_is_better: Decides which ways are the best, where there are more than can be told apart.
        alone: With colours of its own, for a file; else the page gives them.
    """
    runs, lines = lines_of(entries, measure)
    if lower_is_better:
        lines.reverse()
    shares = not lower_is_better or measure.startswith("refused")
    below = _below(lines) if shares and not lower_is_better else []
    lines = [line for line in lines if line not in below]
    lines = sorted(sorted(lines, key=lambda line: not line.is_default)[:LINES], key=lambda line: -line.last)
    scale = _Scale.of(lines, len(runs), shares=shares)
    drawn = [f"<style>{_STYLE}</style>"] if alone else []
    drawn += scale.grid(runs)
    for number, (line, y) in enumerate(
        zip(lines, _spread([scale.y(line.last) for line in lines]), strict=True)
    ):
        drawn.append(scale.line(line, number, y))
    for place, line in enumerate(below):
        said = f"↓ {scale.said(line.last)} {line.way.name}"
        drawn.append(_text(_WIDTH - _RIGHT + 48, _HEIGHT - 10 - _LABEL_STEP * place, said, "start"))
    size = f' width="{_WIDTH}" height="{_HEIGHT}"' if alone else ""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}"{size} role="img" '
        f'aria-label="{escape(title)}">{"".join(drawn)}</svg>'
    )


def _below(lines: Sequence[Line]) -> list[Line]:
    """Ways so far behind that the picture would show nothing of the others; they are named beneath it."""
    best = max((line.last for line in lines), default=0.0)
    return [line for line in lines if line.last < best / 2 and not line.is_default]


@dataclass(frozen=True, slots=True)
class _Scale:
    low: float
    high: float
    runs: int
    lines: int
    shares: bool

    @classmethod
    def of(cls, lines: Sequence[Line], runs: int, *, shares: bool) -> _Scale:
        ends = [end for line in lines for point in line.points.values() for end in point]
        low, high = (min(ends), max(ends)) if ends else (0.0, 1.0)
        room = (high - low) * 0.06 or 0.05 * abs(high) or 0.05
        low = max(low - room, 0.0)
        return cls(low, min(high + room, 1.0) if shares else high + room, runs, len(lines), shares)

    def x(self, run: int) -> float:
        left, width = _LEFT + _EDGE, _WIDTH - _LEFT - _RIGHT - 2 * _EDGE
        return left + width / 2 if self.runs == 1 else left + width * run / (self.runs - 1)

    def y(self, value: float) -> float:
        height = _HEIGHT - _TOP - _BOTTOM
        return _TOP + height * (self.high - value) / (self.high - self.low)

    def said(self, value: float) -> str:
        return f"{value:.3f}" if self.shares else f"{value:.0f}" if self.high > 20 else f"{value:.1f}"

    def grid(self, runs: Sequence[str]) -> list[str]:
        right, drawn = _WIDTH - _RIGHT + 8, []
        for step in range(5):
            value = self.low + (self.high - self.low) * step / 4
            y = self.y(value)
            drawn.append(f'<line x1="{_LEFT}" y1="{y:.1f}" x2="{right}" y2="{y:.1f}" class="grid"/>')
            drawn.append(_text(_LEFT - 6, y + 4, self.said(value), "end"))
        step = max(1, -(-len(runs) // _DATES))
        for run in range(0, len(runs), step):
            when = datetime.fromisoformat(runs[run]).strftime("%d.%m %H:%M")
            drawn.append(_text(self.x(run), _HEIGHT - 14, when, "middle"))
        return drawn

    def line(self, line: Line, number: int, label_y: float) -> str:
        # A little beside each other: intervals of the same run would hide one another.
        beside = _BESIDE * (number - (self.lines - 1) / 2)
        places = [(self.x(run) + beside, *map(self.y, point)) for run, point in sorted(line.points.items())]
        end, right = places[-1], _WIDTH - _RIGHT + 8
        bars = "".join(
            f'<line x1="{x:.1f}" y1="{low:.1f}" x2="{x:.1f}" y2="{high:.1f}" class="bar"/>'
            for x, _, low, high in places
        )
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y, _, _ in places)
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y, _, _ in places)
        lead = f'<line x1="{end[0] + 5:.1f}" y1="{end[1]:.1f}" x2="{right}" y2="{label_y:.1f}" class="lead"/>'
        label = _text(right + 4, label_y + 4, f"{self.said(line.last)} {line.way.name}", "start")
        kind = f"w{number}{' default' if line.is_default else ''}"
        return f'<g class="{kind}">{lead}<polyline points="{path}"/>{bars}{dots}{label}</g>'


def _spread(wanted: Sequence[float]) -> list[float]:
    """Heights of labels, each below the one before, as near to where they belong as that allows."""
    placed: list[float] = []
    for y in wanted:
        placed.append(max(y, placed[-1] + _LABEL_STEP) if placed else y)
    beyond = placed[-1] - (_HEIGHT - _BOTTOM) if placed else 0.0
    limit = float(_HEIGHT - _BOTTOM)
    if beyond > 0:
        for place in range(len(placed) - 1, -1, -1):
            placed[place] = min(placed[place], limit)
            limit = placed[place] - _LABEL_STEP
    return placed


def _text(x: float, y: float, said: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(said)}</text>'
