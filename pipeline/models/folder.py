"""Model files that lie in a folder already: copied by hand, or the folder of another machine's model."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from pipeline.models.catalog import ModelEntry, ModelFile
from pipeline.models.files import BLOCK, difference, flush_to_disk
from pipeline.models.layout import InstallRecord, read_record
from pipeline.models.progress import Reporter

__all__ = ["adopt_file", "finished_copy"]


def adopt_file(
    file: ModelFile, entry: ModelEntry, folder: Path, staging: Path, reporter: Reporter, *, link: bool = False
) -> bool:
    """Take a file from a folder into ``staging/ready`` if a fitting one is there.

    A file fits when its size and SHA-256 are those of the catalogue; where the catalogue knows
    neither, its name must do.

    Args:
        file: The file wanted.
        entry: Its model.
        folder: Looked into under the file's own name, its name on the hub, and a subfolder of the
            model's name.
        staging: Working folder of this model.
        reporter: Shows checking and copying.
        link: A hard link will do where the disk can make one (both names on one disk).
    """
    for candidate in _candidates(file, entry, folder):
        if not candidate.is_file() or candidate.stat().st_size != (file.size or candidate.stat().st_size):
            continue
        checking = reporter.task("check", file.path, file.size)
        if difference(candidate, file.size, file.sha256, checking) is None:
            unfinished = staging / "partial" / (file.path + ".copy")
            _place(candidate, staging / "ready" / file.path, unfinished, reporter, link=link)
            return True
    return False


def finished_copy(entry: ModelEntry, folder: Path, target: Path, reporter: Reporter) -> InstallRecord | None:
    """Copy a converted model that was installed elsewhere, checked against its own record.

    Returns:
        Its record, or None when the folder holds no such model or one of its files is damaged.
    """
    for home in (folder / entry.name, folder):
        record = read_record(home)
        if record is None or (record.name, record.convert) != (entry.name, entry.convert):
            continue
        for path, file in record.files.items():
            source = home / path
            if not source.is_file() or difference(source, file.size, file.sha256) is not None:
                return None
            _place(source, target / path, target / (path + ".copy"), reporter)
        return record
    return None


def _candidates(file: ModelFile, entry: ModelEntry, folder: Path) -> Iterator[Path]:
    names = [file.path, PurePosixPath(file.path).name]
    if file.hub is not None:
        names += [file.hub.path, PurePosixPath(file.hub.path).name]
    for home in (folder / entry.name, folder):
        for name in dict.fromkeys(names):
            yield home / name


def _place(source: Path, target: Path, unfinished: Path, reporter: Reporter, *, link: bool = False) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    unfinished.parent.mkdir(parents=True, exist_ok=True)
    unfinished.unlink(missing_ok=True)
    if link:
        try:
            os.link(source, unfinished)
        except OSError:
            link = False  # exFAT and some network disks have no hard links
    if not link:
        _copy(source, unfinished, reporter)
    unfinished.replace(target)


def _copy(source: Path, target: Path, reporter: Reporter) -> None:
    size, done = source.stat().st_size, 0
    progress = reporter.task("copy", source.name, size)
    with source.open("rb") as reading, target.open("wb") as writing:
        while block := reading.read(BLOCK):
            writing.write(block)
            done += len(block)
            progress(done, size)
    flush_to_disk(target)
