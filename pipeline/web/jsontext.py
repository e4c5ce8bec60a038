"""JSON as 1C:Enterprise can read it, whatever the values.

``ПрочитатьJSON`` into a ``Структура`` fails on a key that is no identifier and on ``NaN``; a lone
surrogate cannot be written as UTF-8 at all. None of these leaves this module.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence

import orjson

__all__ = ["dumps", "identifier", "without_surrogates"]

_NOT_OF_A_NAME = re.compile(r"\W")
_SURROGATE = re.compile("[\ud800-\udfff]")


def identifier(name: str) -> str:
    """The nearest valid 1C identifier: letters, digits and underscores, no digit first."""
    name = _NOT_OF_A_NAME.sub("_", without_surrogates(name))
    return name if name and not name[0].isdigit() else f"_{name}"


def without_surrogates(text: str) -> str:
    """The text with pairs of surrogates joined and lone ones replaced by U+FFFD."""
    if _SURROGATE.search(text) is None:
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def dumps(value: object) -> bytes:
    """UTF-8 JSON on one line: Cyrillic as it is, no BOM, non-finite numbers as ``null``."""
    return orjson.dumps(_plain(value))


def _plain(value: object) -> object:
    if isinstance(value, str):
        return without_surrogates(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {identifier(str(key)): _plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [_plain(item) for item in value]
    return value
