"""Every part of the pipeline has its place in the layers, so that none escapes `lint-imports`."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_every_module_and_package_stands_in_a_layer():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    (layers,) = [
        contract["layers"]
        for contract in settings["tool"]["importlinter"]["contracts"]
        if contract["type"] == "layers"
    ]
    listed = {name.strip() for layer in layers for name in layer.split("|")}
    modules = {path.stem for path in (ROOT / "pipeline").glob("*.py")} - {"__init__"}
    packages = {path.parent.name for path in (ROOT / "pipeline").glob("*/__init__.py")}
    assert {f"pipeline.{name}" for name in modules | packages} == listed
