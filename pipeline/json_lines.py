"""Files that grow by a line of JSON at a time; a line that a crash cut short hides none of the others."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

__all__ = ["read_json_lines"]

T = TypeVar("T")

logger = logging.getLogger(__name__)


def read_json_lines(path: Path, made_of: Callable[[Any], T]) -> Iterator[T]:
    """What the lines of a file hold; each damaged one is told of in the log, once.

    Args:
        path: The file; it need not exist. Empty lines are none.
        made_of: Makes something of a line's value; may raise ValueError, TypeError, KeyError, AttributeError.
    """
    lines = path.read_bytes().split(b"\n") if path.exists() else []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            made = made_of(json.loads(line))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            _tell(path, number, line, type(error).__name__)
            continue
        yield made


@lru_cache(maxsize=1000)
def _tell(path: Path, number: int, line: bytes, error: str) -> None:
    """Say it once a process, of each text of a line: files like these are read at every look at a page."""
    logger.warning("%s, line %d is damaged and passed over (%s)", path, number, error)
