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

Only the tables named here can be asked about, and nothing of them can be changed.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

__all__ = ["ColumnNote", "DatabaseSource", "DatabaseTable", "Example"]

_NAME = re.compile(r"[^\W_][\w\-]{0,59}")
_UNSAFE = re.compile(r"[^\w.\-]+")
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


class DatabaseSource(_Entry):
    """A database that questions may be asked about.

    Attributes:
        writer: What to do where the user of the connection may write: refuse, or only say so.
    """

    name: str
    file: str = ""
    url: str = ""
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
        return self

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
