"""Records of bytes one after another in a file that is mapped into memory, each with a checksum.

Three files: ``<name>.bin`` holds the bytes, ``<name>_starts.npy`` (int64, records + 1) where each record
begins, ``<name>_sums.npy`` (uint32, records) its CRC-32.
"""

from __future__ import annotations

import zlib
from array import array
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["BrokenRecordError", "PackedRecords", "write_records"]


class BrokenRecordError(Exception):
    """The bytes of a record are not those that were written."""


@dataclass(frozen=True, slots=True, eq=False)
class PackedRecords:
    """Records by number.

    Attributes:
        data: uint8, all bytes.
        starts: int64, shape (records + 1,).
        sums: uint32, shape (records,).
    """

    data: NDArray[np.uint8]
    starts: NDArray[np.int64]
    sums: NDArray[np.uint32]

    def __len__(self) -> int:
        """Number of records."""
        return len(self.sums)

    def __getitem__(self, row: int) -> bytes:
        """The bytes of a record.

        Raises:
            BrokenRecordError: They are damaged.
        """
        record = self.data[int(self.starts[row]) : int(self.starts[row + 1])].tobytes()
        if zlib.crc32(record) != int(self.sums[row]):
            raise BrokenRecordError(row)
        return record

    def fits(self) -> bool:
        """True if the parts can belong to each other."""
        return (
            self.starts.shape == (len(self.sums) + 1,)
            and int(self.starts[0]) == 0
            and int(self.starts[-1]) == len(self.data)
            and bool((np.diff(self.starts) >= 0).all())
        )


def write_records(folder: Path, name: str, items: Iterable[bytes]) -> None:
    """Write the three files of a name; only one record at a time is in memory."""
    starts, sums = array("q", [0]), array("I")
    with (folder / f"{name}.bin").open("wb") as stream:
        for record in items:
            stream.write(record)
            starts.append(starts[-1] + len(record))
            sums.append(zlib.crc32(record))
    np.save(folder / f"{name}_starts.npy", np.array(starts, dtype=np.int64), allow_pickle=False)
    np.save(folder / f"{name}_sums.npy", np.array(sums, dtype=np.uint32), allow_pickle=False)
