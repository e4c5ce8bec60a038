"""``sources.toml`` in the knowledge base: which tables hold texts, which addresses to fetch.

::

    [[table]]
    database = "base.sqlite"      # a file of the knowledge base, or an SQLAlchemy URL
    table = "articles"
    text = "body"                 # the column of long texts; the others are optional
    id = "id"
    title = "title"
    link = "url"
    metadata = ["author", "year"]
    format = "html"               # or "text"

    [[url]]
    url = "https://example.org/rules.html"
    file = "rules.html"           # its name in fetched/, made from the address if missing

    [encodings]                   # where the guess is wrong
    "архив/*.txt" = "cp866"

A database URL needs a ``name``, under which its rows are kept as ``fetched/<name>.sqlite``. What
``[[database]]`` may hold says `pipeline.databases`; its tables with a ``text`` are read as ``[[table]]`` are.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from pathlib import Path, PurePosixPath
from typing import Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from pipeline.databases import DatabaseSource, DatabaseTable
from pipeline.errors import SettingsError
from pipeline.messages import Phrase

__all__ = [
    "FETCHED",
    "SOURCES_FILE",
    "AskedTable",
    "Sources",
    "TableSource",
    "UrlSource",
    "encoding_named_for",
    "encodings_named",
    "load_sources",
    "root_of",
]

SOURCES_FILE = "sources.toml"
FETCHED = "fetched"

_FILE_NAME = re.compile(r"[^\x00-\x1f\x7f/\\:*?\"<>|.][^\x00-\x1f\x7f/\\:*?\"<>|]*")
_MAX_FILE_BYTES = 1024 * 1024
_MAX_NAME_BYTES = 200  # most file systems end at 255, and a draft's name is longer


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class TableSource(_Entry):
    """A table of long texts."""

    database: str = Field(min_length=1)
    table: str = Field(min_length=1)
    text: str = Field(min_length=1)
    id: str = ""
    title: str = ""
    link: str = ""
    metadata: tuple[str, ...] = ()
    format: Literal["text", "html"] = "text"
    name: str = ""

    @property
    def is_url(self) -> bool:
        """True for an SQLAlchemy URL, False for a file of the knowledge base."""
        return "://" in self.database

    @property
    def file(self) -> str:
        """The SQLite file inside the knowledge base that holds the rows."""
        return f"{FETCHED}/{self.name}.sqlite" if self.is_url else PurePosixPath(self.database).as_posix()

    @property
    def columns(self) -> tuple[str, ...]:
        """All columns that are read, each once, in a fixed order."""
        named = (self.id, self.title, self.text, self.link, *self.metadata)
        return tuple(dict.fromkeys(filter(None, named)))

    @model_validator(mode="after")
    def _named(self) -> Self:
        if self.is_url and not _is_file_name(self.name):
            raise ValueError("a database URL needs a name that can be a file name")
        return self


class AskedTable(TableSource):
    """A table of long texts of a ``[[database]]``: each document says which row it is."""


class UrlSource(_Entry):
    """An address to fetch; it is kept under ``fetched/``."""

    url: str
    file: str = ""

    @field_validator("url")
    @classmethod
    def _web(cls, value: str) -> str:
        parts = urlsplit(value.strip())
        if parts.scheme.lower() not in ("http", "https") or not parts.hostname:
            raise ValueError("an http or https address was expected")
        if parts.username is not None:
            raise ValueError("an address must hold no password: it is shown with every citation")
        return value.strip()

    @field_validator("file")
    @classmethod
    def _plain(cls, value: str) -> str:
        if value and not _is_file_name(value):
            raise ValueError("a plain file name was expected")
        return value


def _is_file_name(value: str) -> bool:
    return bool(_FILE_NAME.fullmatch(value)) and len(value.encode("utf-8", "replace")) <= _MAX_NAME_BYTES


class Sources(_Entry):
    """All of ``sources.toml``."""

    table: tuple[TableSource, ...] = ()
    url: tuple[UrlSource, ...] = ()
    database: tuple[DatabaseSource, ...] = ()
    encodings: dict[str, str] = Field(default_factory=dict)

    @property
    def texts(self) -> tuple[TableSource, ...]:
        """All tables of long texts: those named alone, and those of databases."""
        bases = [base.asked for base in self.database]
        asked = (_text_of(base, table) for base in bases for table in base.table if table.text)
        return (*self.table, *asked)

    @field_validator("encodings")
    @classmethod
    def _known(cls, value: dict[str, str]) -> dict[str, str]:
        for name in value.values():
            try:
                "".encode(name)
            except (LookupError, ValueError) as error:
                raise ValueError(f"an unknown encoding: {name}") from error
        return value

    @model_validator(mode="after")
    def _one_file_each(self) -> Self:
        """Two sources kept under one name would overwrite each other at every fetch."""
        files = [source.file for source in self.url if source.file]
        files += [PurePosixPath(table.file).name for table in self.texts if table.is_url]
        files += [PurePosixPath(base.copy_file).name for base in self.database if base.is_copied]
        addresses = [source.url for source in self.url]
        bases = [base.name.casefold() for base in self.database]
        rows = [f"{table.file}/{table.table}" for table in self.texts]
        for names in ([file.casefold() for file in files], addresses, bases, rows):
            twice = [name for name, count in Counter(names).items() if count > 1]
            if twice:
                raise ValueError(f"named twice: {twice[0]}")
        return self


def _text_of(base: DatabaseSource, table: DatabaseTable) -> AskedTable:
    return AskedTable(
        database=base.place,
        name=base.copy_name(table.table) if base.url else "",
        **table.model_dump(include={"table", "text", "id", "title", "link", "metadata", "format"}),
    )


def load_sources(knowledge_base: Path) -> Sources:
    """What ``sources.toml`` declares; nothing if there is no such file.

    Raises:
        SettingsError: It cannot be read, or a key is unknown or wrong.
    """
    path = knowledge_base / SOURCES_FILE
    try:
        if path.is_symlink():
            raise SettingsError(where=SOURCES_FILE, reason=Phrase("sources_link"))
        if not path.is_file():
            return Sources()
        if path.stat().st_size > _MAX_FILE_BYTES:
            raise SettingsError(where=SOURCES_FILE, reason=f"> {_MAX_FILE_BYTES} bytes")
        return Sources.model_validate(tomllib.loads(path.read_text(encoding="utf-8-sig")))
    except ValidationError as error:
        first = error.errors()[0]
        where = ", ".join(filter(None, (SOURCES_FILE, ".".join(str(part) for part in first["loc"]))))
        raise SettingsError(where=where, reason=first["msg"]) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise SettingsError(where=SOURCES_FILE, reason=str(error)) from error


def encoding_named_for(path: Path, file: str) -> str | None:
    """The encoding that ``sources.toml`` names for a file, or None where the bytes have to tell.

    Args:
        path: Where the file is.
        file: Its name inside the knowledge base.
    """
    named = encodings_named(root_of(path, file))
    return next((name for pattern, name in named.items() if fnmatchcase(file, pattern)), None)


def encodings_named(root: Path) -> Mapping[str, str]:
    """Patterns of file names -> encoding, the first that fits counts; none of a wrong declaration."""
    try:
        status = (root / SOURCES_FILE).stat()
    except OSError:
        return {}
    return _declared(root, status.st_mtime_ns, status.st_size).encodings


@lru_cache(maxsize=4)
def _declared(root: Path, mtime_ns: int, size: int) -> Sources:
    """Parsed once for all files of a folder; of a wrong declaration nothing counts, ``doctor`` names it."""
    del mtime_ns, size
    try:
        return load_sources(root)
    except SettingsError:
        return Sources()


def root_of(path: Path, file: str) -> Path:
    """The knowledge base that holds ``path`` under the name ``file``."""
    return path.parents[len(PurePosixPath(file).parts) - 1]
