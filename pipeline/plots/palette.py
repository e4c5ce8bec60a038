"""The colours of the map: told apart by people with colour-blind eyes as far as that goes.

The first eight are those of Okabe and Ito (2008, jfly.uni-koeln.de/color), black and yellow left out for
their contrast; the rest continue them. The page has the same list in ``static/js/map/figure.js``.
"""

from __future__ import annotations

__all__ = ["COLOURS", "UNGROUPED", "colour_of"]

COLOURS = (
    "#0072b2",
    "#d55e00",
    "#009e73",
    "#cc79a7",
    "#e69f00",
    "#56b4e9",
    "#7b4fa3",
    "#8c6d31",
    "#17807e",
    "#c0392b",
    "#5f7f2e",
    "#4b5fa5",
)
UNGROUPED = "#a9adb2"


def colour_of(number: int | None) -> str:
    """The colour of a group by its number; grey for what belongs to none."""
    return UNGROUPED if number is None else COLOURS[number % len(COLOURS)]
