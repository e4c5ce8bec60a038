"""The map of the knowledge base over HTTP: its page, its data, the place of a question.

The server only shows what ``otvet map`` has drawn: drawing takes minutes and half a gigabyte on a large
base, which is no work to begin because somebody opened a page.
"""

from __future__ import annotations

import orjson

from pipeline.plots.extras import plotly_script
from pipeline.plots.map_file import map_record, read_map, shows_current_index
from pipeline.plots.page import place_record
from pipeline.plots.position import NEAREST, find_place
from pipeline.web import jsontext, schemas
from pipeline.web.exchange import Context, Response
from pipeline.web.files import package_file, page_file

__all__ = ["map_data", "map_page", "map_place", "map_script"]


def map_page(context: Context) -> Response:
    """``GET /map``: the page; what is missing it says itself."""
    return page_file("map.html", context.request.headers)


def map_data(context: Context) -> Response:
    """``GET /map.json``: the map, and in ``current`` whether it shows the index as it is now.

    Raises:
        MapMissingError: None has been drawn.
    """
    folder = context.settings.embeddings
    shown = read_map(folder)
    found = map_record(shown) | {"current": shows_current_index(shown, folder), "status": "ok"}
    # Nothing a program cannot read is in a map that this product wrote, and a large one is written fast.
    return Response(200, orjson.dumps(found))


def map_place(context: Context) -> Response:
    """``GET /map/question?q=``: where a question lies, and the passages found for it.

    Raises:
        MapMissingError: No map has been drawn.
        RequestError: As for ``GET /search``.
    """
    shown = read_map(context.settings.embeddings)
    fields = schemas.from_query(context.request.query)
    parsed = schemas.parse(
        fields | {"use_RAG": False, "top_k": NEAREST, "scores": True},
        language=context.language,
        client=context.request.client,
        request_id=context.request_id,
    )
    place = find_place(shown, context.service, parsed.request, context.request.cancelled)
    return Response(200, jsontext.dumps({**(place_record(place) or {}), "status": "ok"}))


def map_script(context: Context) -> Response:
    """``GET /map/plotly.js``: plotly's own script, out of its Python package.

    Raises:
        ExtraMissingError: plotly is not installed.
    """
    return package_file(plotly_script(), context.request.headers)
