"""Every part of the pipeline has its place in the layers, so that none escapes `lint-imports`."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def layers() -> list[list[str]]:
    """Names of each layer, the highest first."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (found,) = [
        contract["layers"]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    ]
    return [[name.strip() for name in layer.split("|")] for layer in found]


def test_every_module_and_package_stands_in_a_layer():
    listed = {name for layer in layers() for name in layer}
    modules = {path.stem for path in (ROOT / "pipeline").glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in (ROOT / "pipeline").glob("*/__init__.py")}
    assert {f"pipeline.{name}" for name in modules | packages} == listed


def test_the_drawing_in_contributing_is_the_list():
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    drawing = page.split("## Layers")[1].split("```text\n")[1].split("```")[0]
    drawn = [re.split(r"\s{2,}", line)[0].split(" | ") for line in drawing.splitlines()]
    assert drawn == [[name.removeprefix("pipeline.") for name in layer] for layer in layers()]
