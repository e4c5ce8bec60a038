"""The table of addresses. Both servers register it line by line; nothing else answers."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from pipeline.web import (
    access,
    background,
    chat,
    classification,
    comparing,
    databases,
    debug,
    drafts,
    keeping,
    maps,
    operations,
    opinions,
    originals,
)
from pipeline.web.bodies import BODY_LIMIT, UPLOAD_LIMIT
from pipeline.web.exchange import Context, Response

__all__ = ["INSTANT", "METHODS", "ROUTES", "Route", "allowed_methods"]

METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
INSTANT = frozenset({"/health", "/health/"})
"""Addresses whose answers wait for nothing, so that a server need not look for a free thread first."""


@dataclass(frozen=True, slots=True)
class Route:
    """One address and what it does.

    Attributes:
        template: Path with ``{name}`` for one step and ``{name:path}`` for all that follows.
        method: ``GET`` (``HEAD`` comes with it), ``POST``, ``PUT`` or ``DELETE``.
        body_limit: Bytes of a body; of a longer one no more than that and one are read.
    """

    template: str
    method: str
    operation: Callable[[Context], Response]
    about: str
    body_limit: int = BODY_LIMIT

    @property
    def methods(self) -> tuple[str, ...]:
        """All methods that the address answers."""
        return ("GET", "HEAD", "OPTIONS") if self.method == "GET" else (self.method, "OPTIONS")

    @property
    def templates(self) -> tuple[str, ...]:
        """The template with and without a final slash: both answer directly, never with a redirect."""
        bare = self.template == "/" or self.template.endswith(":path}")
        return (self.template,) if bare else (self.template, f"{self.template}/")


ROUTES = (
    Route("/", "GET", operations.page, "The page"),
    Route("/ask", "POST", operations.ask, "Ask: the whole reply at once"),
    Route("/ask/stream", "POST", operations.stream, "Ask: server-sent events"),
    Route("/ask/{id}", "GET", background.state, "A question asked with async=1: its state or its reply"),
    Route("/ask/{id}", "DELETE", background.withdraw, "Give a question up"),
    Route("/ask/{id}/confirm", "POST", databases.confirm, "Run a statement that waits for a person"),
    Route("/ask/{id}/table.csv", "GET", databases.table_csv, "The result of a statement, for spreadsheets"),
    Route("/costs", "GET", databases.costs, "What questions over databases have cost, per day"),
    Route("/classify", "POST", classification.classify, "Put texts under labels: an id at once"),
    Route("/classify/{id}", "GET", classification.labels_so_far, "A batch of texts: its labels so far"),
    Route("/classify/{id}", "DELETE", classification.stop_classifying, "Give a batch up"),
    Route("/search", "GET", operations.search, "Sources only"),
    Route("/debug/search", "GET", debug.candidates, "How an answer comes about"),
    Route("/debug/words", "GET", debug.words, "Late interaction word by word"),
    Route("/strategies", "GET", comparing.strategies, "Ways to search and to order, described"),
    Route("/compare", "GET", comparing.compare_page, "The page of the strategies"),
    Route("/compare", "POST", comparing.compare, "All strategies side by side on one question"),
    Route("/compare/history", "GET", comparing.history, "What every strategy did over time"),
    Route("/compare/plot.svg", "GET", comparing.plot, "The same as a picture"),
    Route("/source/{chunk_id}", "GET", operations.source, "A passage highlighted in its document"),
    Route("/source/{chunk_id}/original", "GET", originals.original, "The file of a passage, to be kept"),
    Route("/map", "GET", maps.map_page, "The page of the map"),
    Route("/map.json", "GET", maps.map_data, "The map of the knowledge base"),
    Route("/map/question", "GET", maps.map_place, "Where a question lies on the map"),
    Route("/map/plotly.js", "GET", maps.map_script, "The script that draws the map"),
    Route("/kb", "GET", keeping.kb_page, "The page of the knowledge base"),
    Route("/kb.json", "GET", keeping.files, "Files of the knowledge base, and how the index stands to them"),
    Route("/kb/review.json", "GET", keeping.review, "Tokens, large blocks and duplicates of the index"),
    Route("/kb/chunks", "GET", keeping.chunks, "The passages of a file"),
    Route("/kb/files/{path:path}", "PUT", keeping.put, "Put a file in", UPLOAD_LIMIT),
    Route("/kb/files/{path:path}", "DELETE", keeping.remove, "Take a file out"),
    Route("/kb/restore", "POST", keeping.restore, "Bring a removed file back"),
    Route("/kb/index", "POST", keeping.renew, "Bring the index up to date"),
    Route("/kb/index", "GET", keeping.renewal, "How that stands"),
    Route("/eval", "GET", drafts.eval_page, "The page of questions for evaluation"),
    Route("/eval.json", "GET", drafts.drafts, "Drafts of questions, what was dropped and accepted"),
    Route("/eval/make", "POST", drafts.make, "Make drafts out of the knowledge base"),
    Route("/eval/accept", "POST", drafts.accept, "A draft becomes a known question"),
    Route("/eval/drop", "POST", drafts.drop, "A draft is not wanted"),
    Route("/eval/restore", "POST", drafts.bring_back, "A draft again"),
    Route("/feedback", "POST", opinions.keep, "What somebody thought of an answer"),
    Route("/feedback/export", "GET", opinions.export, "Opinions as a file for otvet eval"),
    Route("/v1/models", "GET", chat.models, "OpenAI's shape: the models"),
    Route("/v1/chat/completions", "POST", chat.complete, "OpenAI's shape: an answer with its sources"),
    Route("/login", "GET", access.login, "The page where the token is entered"),
    Route("/login", "POST", access.enter, "Enter the token"),
    Route("/health", "GET", operations.health, "Alive"),
    Route("/ready", "GET", operations.ready, "Models and index are loaded"),
    Route("/status", "GET", operations.status, "Models, index, queue, memory"),
    Route("/metrics", "GET", operations.metrics, "Measures for Prometheus"),
    Route("/openapi.json", "GET", operations.openapi, "This contract"),
    Route("/static/{path:path}", "GET", operations.static, "Files of the page"),
)


def allowed_methods(path: str) -> tuple[str, ...]:
    """Methods that a path answers; empty where there is no such path.

    An address that stands in the table as it is hides the templates it would also fit.
    """
    fitting = [route for route in ROUTES if _pattern(route).fullmatch(path)]
    exact = [route for route in fitting if "{" not in route.template]
    found = {method for route in exact or fitting for method in route.methods}
    return tuple(sorted(found, key=METHODS.index))


@cache
def _pattern(route: Route) -> re.Pattern[str]:
    pattern = re.sub(r"\{\w+\}", "[^/]+", route.template.replace(".", r"\."))
    pattern = re.sub(r"\{\w+:path\}", ".+", pattern)
    return re.compile(pattern if len(route.templates) == 1 else f"{pattern}/?")
