from __future__ import annotations

from pathlib import Path

import pytest
from small_e5 import small_e5


@pytest.fixture(scope="session")
def small_file(tmp_path_factory) -> Path:
    """A tiny file in the format of e5-small-q4.bin."""
    path = tmp_path_factory.mktemp("e5") / "small.bin"
    path.write_bytes(small_e5())
    return path
