"""Sources from outside brought into the knowledge base as files, only when the user says so.

Everything lands in ``fetched/``: pages under names of their own, database tables as SQLite files.
A hidden list beside them keeps the addresses for citations. A source that fails keeps its old file.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from pipeline.databases import DatabaseSource
from pipeline.durable import put_in_place, sha256_of
from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.html import decode_html
from pipeline.ingest.readers.origin import ORIGINS, read_origins
from pipeline.ingest.reasons import cause_of
from pipeline.ingest.sources.copied import copy_database
from pipeline.ingest.sources.databases import copy_table
from pipeline.ingest.sources.declared import FETCHED, TableSource, UrlSource, load_sources
from pipeline.ingest.sources.download import Download, Limits, download, file_name
from pipeline.messages import Phrase
from pipeline.ports import Progress
from pipeline.text.encodings import NotTextError

__all__ = ["FetchReport", "fetch_sources"]

_PAGES = (".html", ".htm")

Fetched = UrlSource | TableSource | DatabaseSource


@dataclass(slots=True)
class FetchReport:
    """What a fetch did; every source is in one of the first three.

    Attributes:
        changed: Files that are new or have new content, named inside the knowledge base.
        unchanged: Files whose source gave what they already hold.
        failed: Source -> why it could not be fetched.
        removed: Files of sources that ``sources.toml`` names no more; one that the user has changed stays.
    """

    changed: list[str] = field(default_factory=list)
    unchanged: list[str] = field(default_factory=list)
    failed: dict[str, Phrase] = field(default_factory=dict)
    removed: list[str] = field(default_factory=list)


def fetch_sources(
    knowledge_base: Path, limits: Limits | None = None, progress: Progress | None = None
) -> FetchReport:
    """Fetch every address, database table and database asked over a copy that ``sources.toml`` names.

    Args:
        knowledge_base: The folder of documents.
        limits: Size and time of each download.
        progress: Called with (sources done, sources in all).

    Raises:
        SettingsError: ``sources.toml`` is wrong.
        ExtraMissingError: A database needs a package that is not installed.
        OSError: The folder cannot be written.
    """
    sources = load_sources(knowledge_base)
    tables = [table for table in sources.texts if table.is_url]
    folder = _Folder(knowledge_base / FETCHED)
    bases = [base for base in sources.database if base.is_copied]
    wanted: list[Fetched] = [*sources.url, *tables, *bases]
    for number, source in enumerate(wanted, start=1):
        try:
            if isinstance(source, UrlSource):
                folder.keep_page(source, download(source.url, limits or Limits()))
            elif isinstance(source, DatabaseSource):
                folder.keep_database(source)
            else:
                folder.keep_table(source)
        except UnreadableFileError as error:
            folder.failed(source, cause_of(error))
        if progress:
            progress(number, len(wanted))
    folder.finish()
    return folder.report


class _Folder:
    """The folder of fetched files and the list of their origins."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._before = read_origins(folder)
        self._origins: dict[str, tuple[str, str]] = {}
        self.report = FetchReport()

    def keep_page(self, source: UrlSource, found: Download) -> None:
        """Keep what an address gave."""
        known = next((name for name, (url, _) in self._before.items() if url == source.url), "")
        name = source.file or known or file_name(source.url, found.kind)
        self._put(name, source.url, _as_utf8(name, found))

    def keep_table(self, table: TableSource) -> None:
        """Keep the rows of a database table."""
        self._folder.mkdir(parents=True, exist_ok=True)
        name = PurePosixPath(table.file).name
        draft = self._folder / f".{name}.new"
        draft.unlink(missing_ok=True)
        try:
            copy_table(table, draft)
            data = draft.read_bytes()
        finally:
            draft.unlink(missing_ok=True)
        self._put(name, f"table:{table.table}", data)

    def keep_database(self, source: DatabaseSource) -> None:
        """Keep the tables of a database that is asked over a copy; its time says when it was so."""
        self._folder.mkdir(parents=True, exist_ok=True)
        name = PurePosixPath(source.copy_file).name
        path, draft = self._folder / name, self._folder / f".{name}.new"
        draft.unlink(missing_ok=True)
        try:
            copy_database(source, draft)
            digest = sha256_of(draft)
            if path.is_file() and sha256_of(path) == digest:
                os.utime(path)
                self.report.unchanged.append(source.copy_file)
            else:
                draft.replace(path)
                self.report.changed.append(source.copy_file)
        finally:
            draft.unlink(missing_ok=True)
        self._origins[name] = (f"database:{source.name}", digest)

    def failed(self, source: Fetched, why: Phrase) -> None:
        """Report a source; its file of an earlier time stays."""
        self.report.failed[source.url if isinstance(source, UrlSource) else source.name] = why
        for name, (url, digest) in self._before.items():
            is_its = url == source.url if isinstance(source, UrlSource) else _file_of(source) == name
            if is_its:
                self._origins[name] = (url, digest)

    def finish(self) -> None:
        """Remove files of sources that are named no more, and write the list."""
        for name, (_, digest) in self._before.items():
            path = self._folder / name
            if name not in self._origins and path.is_file() and _digest(path.read_bytes()) == digest:
                path.unlink()
                self.report.removed.append(f"{FETCHED}/{name}")
        if self._origins or self._before:
            listed = {name: {"url": url, "sha256": digest} for name, (url, digest) in self._origins.items()}
            written = json.dumps(listed, ensure_ascii=False, indent=1, sort_keys=True)
            self._write(ORIGINS, written.encode())

    def _put(self, name: str, url: str, data: bytes) -> None:
        path = self._folder / name
        file = f"{FETCHED}/{name}"
        if path.is_file() and path.read_bytes() == data:
            self.report.unchanged.append(file)
        else:
            self._write(name, data)
            self.report.changed.append(file)
        self._origins[name] = (url, _digest(data))

    def _write(self, name: str, data: bytes) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        put_in_place(self._folder / name, data)


def _file_of(source: TableSource | DatabaseSource) -> str:
    return PurePosixPath(source.copy_file if isinstance(source, DatabaseSource) else source.file).name


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _as_utf8(name: str, found: Download) -> bytes:
    """The bytes as fetched, except for a page whose encoding only the server's header tells."""
    if not name.lower().endswith(_PAGES) or not found.charset:
        return found.data
    try:
        text = found.data.decode(found.charset)
    except (LookupError, UnicodeDecodeError):
        return found.data
    try:
        same = decode_html(found.data).text == text
    except NotTextError:
        same = False
    return found.data if same else text.encode("utf-8-sig", "replace")
