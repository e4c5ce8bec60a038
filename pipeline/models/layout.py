"""The models folder: ``<models>/<name>/`` with its files and ``installed.json``.

``installed.json`` is written last and the whole folder appears by one rename, so a folder that has
it is complete. Everything unfinished lies in ``<models>/.staging/``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from pipeline.errors import ModelDamagedError, ModelMissingError
from pipeline.messages import Phrase
from pipeline.models.catalog import Catalog, ModelEntry, RelativePath
from pipeline.models.files import difference
from pipeline.models.progress import Reporter, SilentReporter

__all__ = [
    "RECORD",
    "FileRecord",
    "InstallRecord",
    "Problem",
    "gguf_file",
    "installed",
    "locate",
    "read_record",
    "staging_folder",
    "verify",
]

RECORD = "installed.json"


class FileRecord(BaseModel):
    """Size in bytes and SHA-256 of a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    size: int
    sha256: str


class InstallRecord(BaseModel):
    """What was installed and from where; ``files`` are those in the folder, conversions included."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    format: Literal[1] = 1
    name: str
    source: str
    license: str
    convert: str
    files: Mapping[RelativePath, FileRecord]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing wrong with an installed model."""

    path: Path
    reason: Phrase


def staging_folder(models: Path, name: str) -> Path:
    """Where a model is put together."""
    return models / ".staging" / name


def read_record(folder: Path) -> InstallRecord | None:
    """The record of a model's folder, None when it is missing or unreadable."""
    try:
        return InstallRecord.model_validate_json((folder / RECORD).read_bytes())
    except (OSError, ValidationError):
        return None


def installed(models: Path, name: str, catalog: Catalog | None = None) -> Path | None:
    """The folder of a model if it is installed, else None.

    Looks at the record and the sizes only, so it costs nothing; ``verify`` reads every byte.

    Raises:
        ModelUnknownError: There is no such name in the catalogue.
    """
    entry = (catalog or Catalog.load()).entry(name)
    folder = models / name
    record = read_record(folder)
    if record is None or record.name != name or record.convert != entry.convert:
        return None
    if any(_size(folder / path) != file.size for path, file in record.files.items()):
        return None
    return folder


def verify(
    models: Path, name: str, progress: Reporter | None = None, catalog: Catalog | None = None
) -> list[Problem]:
    """Read every byte of an installed model and compare; nothing is changed.

    Raises:
        ModelUnknownError: There is no such name in the catalogue.
        ModelMissingError: The model is not installed.
    """
    entry = (catalog or Catalog.load()).entry(name)
    folder = models / name
    if not folder.is_dir():
        raise ModelMissingError(model=name)
    record = read_record(folder)
    if record is None:
        return [Problem(folder / RECORD, Phrase("model_record_unreadable"))]
    reporter = progress or SilentReporter()
    problems = []
    for path, file in _expected(entry, record).items():
        reason = _check(folder / path, file, reporter)
        if reason is not None:
            problems.append(Problem(folder / path, reason))
    return problems


def locate(models: Path, name_or_path: str, catalog: Catalog | None = None) -> Path:
    """The folder (or file) of a model as named in the settings: a catalogue name, or any path.

    Raises:
        ModelMissingError: A catalogue model that is not installed.
        ModelUnknownError: Neither a catalogue name nor an existing path.
    """
    catalog = catalog or Catalog.load()
    path = Path(name_or_path).expanduser()
    if name_or_path not in catalog.models and path.exists():
        return path
    folder = installed(models, name_or_path, catalog)
    if folder is None:
        raise ModelMissingError(model=name_or_path)
    return folder


def gguf_file(path: Path) -> Path:
    """The one GGUF file of a model's folder, or the file itself.

    Raises:
        ModelDamagedError: The folder holds none, or several.
    """
    if path.is_file():
        return path
    found = sorted(path.glob("*.gguf"))
    if len(found) != 1:
        raise ModelDamagedError(path=path, reason=Phrase("model_gguf_count", {"count": len(found)}))
    return found[0]


def _size(path: Path) -> int | None:
    return path.stat().st_size if path.is_file() else None


def _expected(entry: ModelEntry, record: InstallRecord) -> dict[str, FileRecord]:
    # The catalogue's word outweighs the record's, which anybody could have edited.
    expected = dict(record.files)
    if not entry.convert:
        for file in entry.files:
            known = expected.get(file.path)
            size = file.size or (known.size if known else 0)
            expected[file.path] = FileRecord(size=size, sha256=file.sha256 or (known.sha256 if known else ""))
    return expected


def _check(path: Path, expected: FileRecord, reporter: Reporter) -> Phrase | None:
    if not path.is_file():
        return Phrase("model_file_missing")
    progress = reporter.task("check", path.name, path.stat().st_size)
    return difference(path, expected.size, expected.sha256, progress)
