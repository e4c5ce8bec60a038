"""A list of topics as JSON: ``[{"topic": …, "link": …, "text": …, "tags": […]}, …]``."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline.errors import UnreadableFileError
from pipeline.ingest.readers.common import make_document, read_text, stem, trimmed, web_link
from pipeline.ingest.reasons import reason
from pipeline.text.normalise import clean_text
from pipeline.types import Block, Document

__all__ = ["read_json"]


def read_json(path: Path, file: str) -> list[Document]:
    """Read a ``.json`` file; see `pipeline.ports.Reader`. ``text`` is required, the rest optional.

    The document's text is the items' texts one after another, a blank line between them.
    """
    decoded = read_text(path, file)
    if not decoded.text.strip():
        raise UnreadableFileError(file=file, reason=reason("no_text"))
    try:
        items = json.loads(decoded.text)
    except json.JSONDecodeError as error:
        where = f"{error.lineno}:{error.colno}"
        raise UnreadableFileError(file=file, reason=reason("json", where)) from error
    except (RecursionError, ValueError) as error:  # ValueError: a number of more digits than Python reads
        raise UnreadableFileError(file=file, reason=reason("json_list")) from error
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise UnreadableFileError(file=file, reason=reason("json_list"))
    text = ""
    blocks: list[Block] = []
    for number, item in enumerate(items, start=1):
        topic, link, body, tags = _fields(item, number, file)
        start, end = trimmed(body, 0, len(body))
        if end > start:
            text += "\n\n" if text else ""
            headings = (topic,) if topic else ()
            blocks.append(Block(len(text), len(text) + end - start, topic, headings, link, tags))
            text += body[start:end]
    metadata = {"source_type": "json", "encoding": decoded.encoding}
    return [make_document(file, stem(file), text, blocks, metadata)]


def _fields(item: dict[str, object], number: int, file: str) -> tuple[str, str | None, str, tuple[str, ...]]:
    def text_of(field: str) -> str:
        value = item.get(field)
        if value is None and field != "text":
            return ""
        if not isinstance(value, str):
            raise UnreadableFileError(file=file, reason=reason("json_item", f"{number}: {field}"))
        return clean_text(value)

    tags = item.get("tags")
    listed = [tags] if isinstance(tags, str) else tags or []
    if not isinstance(listed, list) or not all(isinstance(tag, str) for tag in listed):
        raise UnreadableFileError(file=file, reason=reason("json_item", f"{number}: tags"))
    cleaned = tuple(filter(None, (clean_text(tag).strip() for tag in listed)))
    return text_of("topic").strip(), web_link(text_of("link")), text_of("text"), cleaned
