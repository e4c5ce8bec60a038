"""The map as one HTML file: the page the server shows, with its scripts, styles and data inside it.

It opens from a disk or a mail in any browser, without a server and without a network.
"""

from __future__ import annotations

import re
from pathlib import Path

import orjson

from pipeline.assets import asset_folder
from pipeline.plots.extras import plotly_script
from pipeline.plots.map_data import KnowledgeMap
from pipeline.plots.map_file import map_record
from pipeline.plots.position import Place
from pipeline.types import Language

__all__ = ["place_record", "standalone_page", "write_page"]

_MODULES = ("js/memory.js", "js/i18n.js", "js/dom.js", "map/figure.js", "map/view.js", "map/alone.js")
"""In the order in which they need each other; no two of them give a name to different things."""

_IMPORT = re.compile(r"^import .*?;\n", re.MULTILINE)
_EXPORT = re.compile(r"^export (?=const|function|async)", re.MULTILINE)
_STYLE = re.compile(r'<link rel="stylesheet" href="/static/([\w/]+\.css)"[^>]*>')
_ONLY_ON_A_SERVER = re.compile(
    r'<link rel="icon"[^>]*>\n|<script src="/static/js/boot\.js"></script>\n|<header .*?</header>\n',
    re.DOTALL,
)


def write_page(shown: KnowledgeMap, path: Path, language: Language, place: Place | None = None) -> None:
    """Write the file.

    Raises:
        ExtraMissingError: plotly is not installed.
        OSError: The file cannot be written.
    """
    path.write_text(standalone_page(shown, language, place), encoding="utf-8", newline="\n")


def standalone_page(shown: KnowledgeMap, language: Language, place: Place | None = None) -> str:
    """The page as text.

    Args:
        shown: The map.
        language: Of all texts on the page.
        place: A question to show, if any.

    Raises:
        ExtraMissingError: plotly is not installed.
    """
    page = (asset_folder("templates") / "map.html").read_text(encoding="utf-8")
    page = _ONLY_ON_A_SERVER.sub("", page).replace('<html lang="ru">', f'<html lang="{language}">')
    page = _STYLE.sub(lambda match: f"<style>\n{_static(match[1])}</style>", page)
    plotly = plotly_script().read_text(encoding="utf-8")
    page = _replaced(
        page, '<script src="/map/plotly.js" defer></script>', f"<script>{_inside(plotly)}</script>"
    )
    given = f'<script type="application/json" id="given">{_given(shown, language, place)}</script>'
    module = f'<script type="module">\n{_inside(_bundle())}</script>'
    return _replaced(page, '<script type="module" src="/static/map/app.js"></script>', f"{given}\n{module}")


def _given(shown: KnowledgeMap, language: Language, place: Place | None) -> str:
    texts = orjson.loads(_static(f"map/{language}.json"))
    value = {"language": language, "texts": texts, "map": map_record(shown), "place": place_record(place)}
    # Whatever a document says, it cannot end the element that holds it.
    return orjson.dumps(value).decode().replace("<", "\\u003c")


def place_record(place: Place | None) -> dict[str, object] | None:
    """A question's place as JSON values; None where there is none."""
    if place is None:
        return None
    return {
        "question": place.question,
        "flat": list(place.flat) if place.flat is not None else None,
        "deep": list(place.deep) if place.deep is not None else None,
        "nearest": [
            {"chunk_id": source.chunk_id, "title": source.title, "file": source.file}
            for source in place.nearest
        ],
    }


def _bundle() -> str:
    """The page's modules as one: imports dropped, exports made plain."""
    return "".join(_EXPORT.sub("", _IMPORT.sub("", _static(name))) for name in _MODULES)


def _static(name: str) -> str:
    return (asset_folder("static") / name).read_text(encoding="utf-8")


def _inside(script: str) -> str:
    return re.sub(r"</(?=script)", r"<\\/", script, flags=re.IGNORECASE).replace("<!--", "<\\!--")


def _replaced(page: str, old: str, new: str) -> str:
    before, _, after = page.partition(old)
    return before + new + after
