"""Pictures of a report as inline SVG: no library, no script, nothing fetched; every text is escaped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Bar", "Interval", "bars", "intervals", "spans"]

_NAME = 230
_WIDTH = 720
_ROW = 24
_VALUES = 70


@dataclass(frozen=True, slots=True)
class Interval:
    """A value with its interval, and the value it is compared with."""

    name: str
    value: float
    low: float
    high: float
    before: float | None = None


@dataclass(frozen=True, slots=True)
class Bar:
    """A count."""

    name: str
    count: int


def intervals(rows: Sequence[Interval], title: str) -> str:
    """Shares between 0 and 1: a dot, a line for the interval, a circle for what it is compared with."""
    left, right = _NAME, _WIDTH - _VALUES
    drawn: list[str] = []
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        x = left + share * (right - left)
        drawn.append(_line(x, 6, x, _height(rows) - 18, "grid"))
        drawn.append(_text(x, _height(rows) - 4, f"{share:.2f}", "middle"))
    for place, row in enumerate(rows):
        y = _middle(place)
        low, value, high = (
            left + min(max(one, 0.0), 1.0) * (right - left) for one in (row.low, row.value, row.high)
        )
        drawn.append(_text(left - 10, y + 4, row.name, "end"))
        drawn.append(_line(low, y, high, y, "interval"))
        if row.before is not None:
            x = left + min(max(row.before, 0.0), 1.0) * (right - left)
            drawn.append(f'<circle cx="{x:.1f}" cy="{y}" r="5" class="before"/>')
        drawn.append(f'<circle cx="{value:.1f}" cy="{y}" r="4" class="value"/>')
        drawn.append(_text(right + 12, y + 4, f"{row.value:.3f}", "start"))
    return _picture(drawn, _height(rows), title)


def bars(rows: Sequence[Bar], title: str) -> str:
    """Counts as horizontal bars."""
    most = max((row.count for row in rows), default=0) or 1
    drawn: list[str] = []
    for place, row in enumerate(rows):
        y, length = _middle(place), row.count / most * (_WIDTH - _NAME - _VALUES)
        drawn.append(_text(_NAME - 10, y + 4, row.name, "end"))
        drawn.append(f'<rect x="{_NAME}" y="{y - 8}" width="{length:.1f}" height="16" class="bar"/>')
        drawn.append(_text(_NAME + length + 8, y + 4, str(row.count), "start"))
    return _picture(drawn, _height(rows), title)


def spans(rows: Mapping[str, Sequence[float]], title: str) -> str:
    """Rising values of each row on one logarithm-free scale: the first as a bar, the others as strokes."""
    most = max((values[-1] for values in rows.values()), default=0.0) or 1.0
    drawn: list[str] = []
    for place, (name, values) in enumerate(rows.items()):
        y, scale = _middle(place), (_WIDTH - _NAME - _VALUES) / most
        drawn.append(_text(_NAME - 10, y + 4, name, "end"))
        drawn.append(
            f'<rect x="{_NAME}" y="{y - 8}" width="{values[0] * scale:.1f}" height="16" class="bar"/>'
        )
        drawn.append(_line(_NAME + values[0] * scale, y, _NAME + values[-1] * scale, y, "interval"))
        drawn += [
            _line(_NAME + value * scale, y - 8, _NAME + value * scale, y + 8, "interval")
            for value in values[1:]
        ]
        drawn.append(_text(_NAME + values[-1] * scale + 8, y + 4, f"{values[-1]:.1f}", "start"))
    return _picture(drawn, _height(list(rows)), title)


def _middle(place: int) -> int:
    return 8 + place * _ROW + _ROW // 2


def _height(rows: Sequence[object]) -> int:
    return 8 + len(rows) * _ROW + 26


def _line(x1: float, y1: float, x2: float, y2: float, kind: str) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def _text(x: float, y: float, said: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(said)}</text>'


def _picture(drawn: Sequence[str], height: int, title: str) -> str:
    # Room at the right for the last number.
    return (
        f'<svg viewBox="0 0 {_WIDTH + 30} {height}" role="img" aria-label="{escape(title)}">'
        f"{''.join(drawn)}</svg>"
    )
