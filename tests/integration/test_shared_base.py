"""Four servers and two indexers over one base, all real: no update is lost, and no reply mixes versions."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))

from shared_base import run


@pytest.mark.models
def test_servers_and_indexers_share_a_base(models_folder: Path, postgres_url: str, tmp_path: Path):
    """The same as ``benchmarks/shared_base.py``, shorter."""
    del models_folder
    outcome = run(postgres_url, tmp_path, seconds=3, workers=4, clients=3, files=4, editions=3)
    assert outcome.failed == []
    assert outcome.workers == 4
    assert outcome.mixed == []
    assert outcome.unknown == []
    assert outcome.lost == []
    assert min(outcome.editions.values()) >= 3
    assert len(outcome.versions) >= 3
    assert outcome.replies > 20
