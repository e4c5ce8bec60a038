"""What all questions over databases share."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Lock

from pipeline.generators.worker import GeneratorWorker
from pipeline.lazy import Lazy
from pipeline.ports import Embedder
from pipeline.settings import SqlSettings
from pipeline.sql.catalog import Catalog
from pipeline.sql.database import Database
from pipeline.sql.route_examples import RouteExamples, own_examples
from pipeline.sql.schema_search import SchemaSearch
from pipeline.tables.costs import Costs
from pipeline.tables.kept import Kept
from pipeline.types import AskRequest, Event, TableView

__all__ = ["MOST_RESULTS", "Pending", "Plain", "Tools"]

MOST_RESULTS = 20
"""Results kept for download, of at most ``sql.rows`` rows each."""

Plain = Callable[[AskRequest], Iterator[Event]]
"""The way of a question over documents: search, then the answer."""


@dataclass(frozen=True, slots=True)
class Pending:
    """A statement that waits for a person; the request is the one that it answers.

    ``table``: whose rows it selects for a search; empty where its result is the answer.
    """

    request: AskRequest
    database: str
    statement: str
    table: str = ""


@dataclass(slots=True)
class Tools:
    """Databases, models, settings, and what is kept between questions. Safe to use from many threads."""

    databases: dict[str, Database]
    embedder: Lazy[Embedder]
    worker: Lazy[GeneratorWorker] | None
    settings: SqlSettings
    home: Path
    costs: Costs
    today: Callable[[], dt.date] = lambda: dt.datetime.now().astimezone().date()
    pending: Kept[Pending] = field(default_factory=Kept)
    results: Kept[TableView] = field(default_factory=lambda: Kept(most=MOST_RESULTS))
    _schemas: dict[str, SchemaSearch] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)
    _examples: Lazy[RouteExamples] = field(init=False)

    def __post_init__(self) -> None:
        self._examples = Lazy(lambda: RouteExamples(self.embedder.get(), own_examples(self.home)))

    def examples(self) -> RouteExamples:
        """Questions whose route is known."""
        return self._examples.get()

    def schema(self, catalog: Catalog, named: tuple[str, ...] = ()) -> SchemaSearch:
        """What the strategies know of a catalog; ``named`` tables hold values that a question names."""
        with self._lock:  # two threads with a search each would embed the schema twice
            known = self._schemas.get(catalog.name)
            if known is None or known.catalog.fingerprint != catalog.fingerprint:
                known = self._schemas[catalog.name] = SchemaSearch(catalog, self.embedder.get())
        return replace(known, named=named)
