"""Every text is said somewhere, and whoever says one gives the values it asks for."""

import ast
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipeline import errors
from pipeline.messages import entries

ROOT = Path(__file__).parents[3]
SOURCES = [*(ROOT / "pipeline").rglob("*.py"), *ROOT.glob("server_*.py")]
NODES = [node for path in SOURCES for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
LITERALS = {node.value for node in NODES if isinstance(node, ast.Constant) and isinstance(node.value, str)}
ERRORS = {name: getattr(errors, name) for name in errors.__all__}


def made_keys() -> Iterator[tuple[str, str]]:
    """Beginning and end of the keys that are put together with one value between: ``skip_{key}``."""
    for node in NODES:
        if isinstance(node, ast.JoinedStr):
            fixed = [part.value if isinstance(part, ast.Constant) else None for part in node.values]
            if fixed.count(None) == 1 and len(fixed) == 2:
                yield (fixed[0] or "", fixed[1] or "")
        elif isinstance(node, ast.BinOp) and isinstance(node.left, ast.Constant):
            yield (str(node.left.value), "")


MADE = {(start, end) for start, end in made_keys() if start.endswith("_") or end.startswith("_")}


def is_said(key: str) -> bool:
    if key in LITERALS:
        return True
    return any(
        key.startswith(start) and key.endswith(end) and key[len(start) : len(key) - len(end)] in LITERALS
        for start, end in MADE
    )


@pytest.mark.parametrize("kind", ["cli", "answers"])
def test_every_text_is_said_somewhere(kind):
    assert [key for key in entries(kind) if not is_said(key)] == []


def test_every_error_text_has_its_error():
    assert set(entries("errors")) == {error.code for error in ERRORS.values()}


def asked(entry: dict[str, str]) -> set[str]:
    texts = "".join(entry.values())
    return {name for _, name, _, _ in string.Formatter().parse(texts) if name is not None}


def calls(name: str) -> Iterator[ast.Call]:
    for node in NODES:
        if isinstance(node, ast.Call) and getattr(node.func, "id", getattr(node.func, "attr", "")) == name:
            yield node


@pytest.mark.parametrize("name", ERRORS)
def test_an_error_is_made_with_the_values_its_text_asks_for(name):
    """Else the message itself fails, with a ``KeyError``, when somebody reads it."""
    wanted = asked(entries("errors")[ERRORS[name].code])
    for call in calls(name):
        given = {keyword.arg for keyword in call.keywords}
        # The values of another class (``**error.values``) need not be those of this one.
        assert wanted <= given, f"{name} at line {call.lineno} lacks {wanted - given}"


def test_a_phrase_is_made_with_the_values_its_text_asks_for():
    for call in calls("Phrase"):
        key = call.args[0]
        if not isinstance(key, ast.Constant):
            continue
        wanted = asked(entries("answers")[key.value])
        values = call.args[1] if len(call.args) > 1 else ast.Dict([], [])
        if isinstance(values, ast.Dict):
            assert wanted <= {getattr(name, "value", None) for name in values.keys}, key.value
