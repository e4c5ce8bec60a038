"""Both demo databases in a folder, declared and ready to be indexed and asked."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib import resources
from pathlib import Path

from pipeline.databases import DatabaseSource
from pipeline.sql.demo.articles import article_tables
from pipeline.sql.demo.shop import shop_tables
from pipeline.sql.demo.tables import MadeTable, write_sqlite

__all__ = ["demo_sources", "demo_tables", "make_demo"]

SOURCES = "sources.toml"


def demo_tables() -> dict[str, Sequence[MadeTable]]:
    """Database name -> its tables, in an order in which each can be filled."""
    return {"shop": shop_tables(), "articles": article_tables()}


def demo_sources() -> tuple[DatabaseSource, ...]:
    """How the demo declares its databases."""
    declared = tomllib.loads(resources.files(__package__).joinpath(SOURCES).read_text(encoding="utf-8"))
    return tuple(DatabaseSource.model_validate(entry) for entry in declared["database"])


def make_demo(knowledge_base: Path) -> list[Path]:
    """Write ``shop.sqlite``, ``articles.sqlite`` and their declaration; older ones are replaced.

    Raises:
        OSError: The folder cannot be written.
        FileExistsError: It has a ``sources.toml`` of another making.
    """
    knowledge_base.mkdir(parents=True, exist_ok=True)
    declared = resources.files(__package__).joinpath(SOURCES).read_bytes()
    target = knowledge_base / SOURCES
    if target.exists() and not target.read_bytes().startswith(declared.splitlines()[0]):
        raise FileExistsError(17, SOURCES, str(target))
    made = [target]
    for name, tables in demo_tables().items():
        made.append(knowledge_base / f"{name}.sqlite")
        write_sqlite(tables, made[-1])
    target.write_bytes(declared)
    return made
