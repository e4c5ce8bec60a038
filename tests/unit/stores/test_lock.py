"""One indexer at a time; a dead one holds nothing."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pipeline.errors import IndexLockedError
from pipeline.stores.lock import index_lock

HOLD = """
import sys
from pathlib import Path
from pipeline.stores.lock import index_lock
with index_lock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


def test_a_second_indexer_is_told_who_holds_the_lock(tmp_path: Path) -> None:
    with index_lock(tmp_path / "embeddings"):
        with pytest.raises(IndexLockedError) as caught, index_lock(tmp_path / "embeddings"):
            pass
        assert str(os.getpid()) in caught.value.message("ru")
    with index_lock(tmp_path / "embeddings"):
        pass


def test_the_lock_of_a_killed_process_is_free(tmp_path: Path) -> None:
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(IndexLockedError) as caught, index_lock(tmp_path):
            pass
        assert str(holder.pid) in str(caught.value)
        holder.kill()
        holder.wait()
    with index_lock(tmp_path):
        pass


def test_an_error_inside_frees_the_lock(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), index_lock(tmp_path):
        raise RuntimeError
    with index_lock(tmp_path):
        pass
