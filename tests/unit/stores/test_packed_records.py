"""Records of bytes in one mapped file."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.stores.packed_records import BrokenRecordError, PackedRecords, write_records

RECORDS = st.lists(st.binary(max_size=40), max_size=12)


def packed(folder: Path, name: str = "texts") -> PackedRecords:
    data = np.fromfile(folder / f"{name}.bin", np.uint8)
    return PackedRecords(data, np.load(folder / f"{name}_starts.npy"), np.load(folder / f"{name}_sums.npy"))


@given(RECORDS)
def test_what_is_written_is_read(items: list[bytes]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_records(Path(folder), "texts", iter(items))
        found = packed(Path(folder))
    assert found.fits()
    assert [found[row] for row in range(len(found))] == items


@given(RECORDS.filter(any), st.data())
def test_any_changed_byte_is_noticed(items: list[bytes], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        write_records(Path(folder), "texts", items)
        found = packed(Path(folder))
    place = data.draw(st.integers(0, len(found.data) - 1))
    found.data[place] ^= data.draw(st.integers(1, 255))
    row = int(np.searchsorted(found.starts, place, side="right")) - 1
    with pytest.raises(BrokenRecordError):
        found[row]
    assert [found[other] for other in range(len(items)) if other != row] == items[:row] + items[row + 1 :]


@pytest.mark.parametrize("starts", [[0, 3], [1, 2, 3], [0, 3, 2], [0, 2, 4], [0, -1, 3]])
def test_parts_that_cannot_belong_together(starts: list[int]) -> None:
    parts = PackedRecords(np.zeros(3, np.uint8), np.array(starts, np.int64), np.zeros(2, np.uint32))
    assert not parts.fits()
