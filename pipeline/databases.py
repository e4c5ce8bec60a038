"""``[[database]]`` in ``sources.toml``: which tables questions may be asked about, and what they mean.

::

    [[database]]
    name = "shop"
    file = "shop.sqlite"              # a file of the knowledge base; or url, an SQLAlchemy URL
    note = "Магазин техники, суммы в рублях"

    [[database.table]]
    table = "products"
    id = "id"
    title = "name"
    text = "description"              # a column of long texts, indexed as [[table]] does
    metadata = ["category"]           # mirrored beside the texts, for filters
    note = "Товары, которые есть в каталоге"
    synonyms = ["товары", "изделия"]
    hidden = ["purchase_price"]       # columns that no statement may read
    columns.price = { note = "цена за штуку, руб.", synonyms = ["стоимость"] }

    [[database.example]]
    question = "Сколько товаров дороже 10 тысяч?"
    sql = "SELECT count(*) FROM products WHERE price > 10000"

Only the tables named here can be asked about, and nothing of them can be changed. SQLite and PostgreSQL are
asked where they are; every other database, and one that says ``copy = true``, over a copy of these tables in
``fetched/<name>.sqlite`` that ``otvet index --fetch`` makes.
"""

from __future__ import annotations

import re
import zlib
from collections import Counter
from collections.abc import Iterable
from pathlib import PurePosixPath
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["ColumnNote", "DatabaseSource", "DatabaseTable", "Example"]

_NAME = re.compile(r"[^\W_][\w\-]{0,59}")
_UNSAFE = re.compile(r"[^\w.\-]+")
_ASKED_IN_PLACE = frozenset({"sqlite", "postgres", "postgresql"})
_TABLE = re.compile(r"[^\x00-\x1f\"]{1,120}")


class _Entry(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ColumnNote(_Entry):
    """What a column means to the business, and what people call it."""

    note: str = Field("", max_length=500)
    synonyms: tuple[str, ...] = ()


class Example(_Entry):
    """A question of the owner with the statement that answers it."""

    question: str = Field(min_length=1, max_length=2000)
    sql: str = Field(min_length=1, max_length=10_000)


class DatabaseTable(_Entry):
    """A table a statement may read; with ``text``, also one whose rows are indexed as documents."""

    table: str
    id: str = ""
    title: str = ""
    text: str = ""
    link: str = ""
    metadata: tuple[str, ...] = ()
    format: Literal["text", "html"] = "text"
    note: str = Field("", max_length=2000)
    synonyms: tuple[str, ...] = ()
    columns: dict[str, ColumnNote] = Field(default_factory=dict)
    hidden: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not _TABLE.fullmatch(self.table):
            raise ValueError("a table needs a name")
        if self.text and not self.id:
            raise ValueError(f"{self.table}: a table with a text column needs its id")
        used = {self.id, self.title, self.text, self.link, *self.metadata}
        both = sorted({name.casefold() for name in used} & {name.casefold() for name in self.hidden})
        if both:
            raise ValueError(f"{self.table}: hidden and used: {both[0]}")
        return self

    @property
    def named(self) -> frozenset[str]:
        """Columns the declaration uses or describes, in small letters, without those it hides."""
        used = (self.id, self.title, self.text, self.link, *self.metadata, *self.columns)
        return frozenset(name.casefold() for name in used if name) - self.unread

    @property
    def unread(self) -> frozenset[str]:
        """The hidden columns, in small letters."""
        return frozenset(name.casefold() for name in self.hidden)

    def missing(self, columns: Iterable[str]) -> str:
        """The first column the declaration names that is not among ``columns``; empty if all are there.

        A hidden column that is misspelt would not be hidden, so that such a name is an error.
        """
        known = {name.casefold() for name in columns}
        used = (self.id, self.title, self.text, self.link, *self.metadata, *self.hidden, *self.columns)
        return next((name for name in used if name and name.casefold() not in known), "")


class DatabaseSource(_Entry):
    """A database that questions may be asked about.

    Attributes:
        copied: In the file ``copy``: it is asked over a copy even where it could be asked itself.
        writer: What to do where the user of the connection may write: refuse, or only say so.
    """

    name: str
    file: str = ""
    url: str = ""
    copied: bool = Field(default=False, validation_alias="copy")
    note: str = Field("", max_length=2000)
    writer: Literal["refuse", "warn"] = "refuse"
    table: tuple[DatabaseTable, ...] = Field(min_length=1)
    example: tuple[Example, ...] = ()

    @model_validator(mode="after")
    def _one_place(self) -> Self:
        if not _NAME.fullmatch(self.name):
            raise ValueError("a database needs a name of letters, digits, - and _")
        if bool(self.file) == bool(self.url):
            raise ValueError("either a file or a url was expected")
        if self.url and "://" not in self.url:
            raise ValueError("an SQLAlchemy URL was expected")
        if self.file and not _is_inside(self.file):
            raise ValueError("a file of the knowledge base was expected")
        names = Counter(table.table.casefold() for table in self.table)
        if twice := [name for name, count in names.items() if count > 1]:
            raise ValueError(f"named twice: {twice[0]}")
        if self.copied and not self.url:
            raise ValueError("copy: a file is asked as it is, a url was expected")
        names = Counter(self._copied_names().values())
        if self.is_copied and (twice := [name for name, count in names.items() if count > 1]):
            raise ValueError(f"named twice in the copy: {twice[0]}")
        return self

    @property
    def is_copied(self) -> bool:
        """True where questions are computed over a copy: other dialects, and whoever says ``copy = true``."""
        dialect = self.url.partition("://")[0].partition("+")[0].lower()
        return bool(self.url) and (self.copied or dialect not in _ASKED_IN_PLACE)

    @property
    def copy_file(self) -> str:
        """The copy's name inside the knowledge base."""
        return f"fetched/{self.name}.sqlite"

    @property
    def copy_mark(self) -> int:
        """A number of 31 bits that a copy bears, told by what it may hold: source, tables, hidden columns.

        A copy of another declaration may hold what is hidden by now, and is not asked.
        """
        held = (self.url, sorted((table.table, sorted(table.unread)) for table in self.table))
        return zlib.crc32(repr(held).encode()) & 0x7FFF_FFFF

    @property
    def asked(self) -> DatabaseSource:
        """Itself, or the file its copy is: same name and notes, tables without a schema, nothing to hide."""
        if not self.is_copied:
            return self
        names = self._copied_names()
        tables = tuple(
            table.model_copy(
                update={
                    "table": names[table.table],
                    "hidden": (),
                    "columns": {
                        name: note
                        for name, note in table.columns.items()
                        if name.casefold() not in table.unread
                    },
                }
            )
            for table in self.table
        )
        return self.model_copy(update={"file": self.copy_file, "url": "", "copied": False, "table": tables})

    def _copied_names(self) -> dict[str, str]:
        """Declared table -> its name in the copy, without its schema where that leaves it its own."""
        bare = Counter(table.table.rpartition(".")[2].casefold() for table in self.table)
        return {
            name: last if bare[last.casefold()] == 1 else name.replace(".", "_")
            for name in (table.table for table in self.table)
            for last in (name.rpartition(".")[2],)
        }

    @property
    def place(self) -> str:
        """The file or the URL."""
        return self.url or self.inside

    @property
    def inside(self) -> str:
        """The file's name inside the knowledge base, with forward slashes; empty for a URL."""
        return PurePosixPath(self.file).as_posix() if self.file else ""

    def copy_name(self, table: str) -> str:
        """Under which the rows of a table of texts are kept in ``fetched/``, if it lies on a server."""
        return f"{self.name}_{_UNSAFE.sub('_', table)}"

    def documents_of(self, table: str) -> str:
        """How the names of the documents begin that are the rows of a table of texts."""
        file = f"fetched/{self.copy_name(table)}.sqlite" if self.url else self.inside
        return f"{file}/{table}/"


def _is_inside(file: str) -> bool:
    path = PurePosixPath(file.replace("\\", "/"))
    return not path.is_absolute() and ".." not in path.parts and ":" not in file and "\x00" not in file
