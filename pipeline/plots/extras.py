"""The libraries of the extra ``map``, asked for by name so that a missing one says what to install."""

from __future__ import annotations

import warnings
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

from pipeline.errors import ExtraMissingError

__all__ = ["EXTRA", "load_library", "plotly_script"]

EXTRA = "map"
"""Name of the extra in ``pyproject.toml``."""

_PACKAGES = {"umap": "umap-learn", "sklearn": "scikit-learn", "scipy": "scikit-learn"}


def load_library(name: str) -> ModuleType:
    """Import a module of the extra; UMAP takes ten seconds and more, it compiles itself first.

    Raises:
        ExtraMissingError: It is not installed.
    """
    try:
        with warnings.catch_warnings():
            # UMAP says at every start that its neural variant has no TensorFlow.
            warnings.simplefilter("ignore")
            return import_module(name)
    except ImportError as error:
        package = name.partition(".")[0]
        raise ExtraMissingError(package=_PACKAGES.get(package, package), extra=EXTRA) from error


def plotly_script() -> Path:
    """Where plotly's own script lies inside its package; plotly itself is not imported.

    Raises:
        ExtraMissingError: plotly is not installed.
    """
    found = find_spec("plotly")
    if found is not None and found.origin is not None:
        script = Path(found.origin).parent / "package_data" / "plotly.min.js"
        if script.is_file():
            return script
    raise ExtraMissingError(package="plotly", extra=EXTRA)
