"""Services over a small library, with fakes for every model."""

import pytest
from asked_library import Library


@pytest.fixture
def library(tmp_path):
    made = Library(tmp_path)
    yield made
    for service in made.services:
        service.close()
