"""A library that is missing says what to install."""

import pytest

from pipeline.errors import ExtraMissingError
from pipeline.plots import extras
from pipeline.plots.extras import load_library, plotly_script


@pytest.mark.parametrize(
    ("module", "package"),
    [("umap", "umap-learn"), ("sklearn.cluster", "scikit-learn"), ("matplotlib.figure", "matplotlib")],
)
def test_a_missing_library(monkeypatch, module, package):
    def missing(name):
        raise ModuleNotFoundError(name)

    monkeypatch.setattr(extras, "import_module", missing)
    with pytest.raises(ExtraMissingError) as raised:
        load_library(module)
    assert raised.value.values == {"package": package, "extra": "map"}
    assert 'pip install "otvet[map]"' in raised.value.hint("en")


def test_plotly_is_found_without_being_imported():
    assert plotly_script().name == "plotly.min.js"
    assert plotly_script().stat().st_size > 1_000_000


def test_plotly_is_missing(monkeypatch):
    monkeypatch.setattr(extras, "find_spec", lambda name: None)
    with pytest.raises(ExtraMissingError, match="plotly"):
        plotly_script()
