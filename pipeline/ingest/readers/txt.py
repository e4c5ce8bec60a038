"""Plain text, with or without blocks.

Block form: a line ``[Тема] …`` (or ``[Topic]``) opens a block; lines ``[Ссылка] …`` / ``[Link]``
and ``[Теги] …`` / ``[Tags]`` right after it are optional. A file without such lines is one
document, named after its heading or its file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from pipeline.ingest.readers.common import make_document, read_text, stem, trimmed, web_link
from pipeline.types import Block, Document

__all__ = ["read_txt"]

_TOPIC = re.compile(r"^[ \t]*\[(?:тема|topic)\][ \t]*:?[ \t]*(?P<topic>[^\n]*)$", re.I | re.M)
_FIELD = re.compile(
    r"\n[ \t]*\[(?:(?P<link>ссылка|link)|теги|tags)\][ \t]*:?[ \t]*(?P<value>[^\n]*)(?=\n|\Z)", re.I
)
_HEADING = re.compile(r"\s*(?P<line>[^\n]{1,120})\n(?:[=\-_*#~]{3,}[ \t]*\n|[ \t]*\n)")
_NOT_A_HEADING = (".", ",", ";", ":", "!", "…")


def read_txt(path: Path, file: str) -> list[Document]:
    """Read a ``.txt`` file; see `pipeline.ports.Reader`."""
    decoded = read_text(path, file)
    text = decoded.text
    if _TOPIC.search(text):
        title, blocks = stem(file), list(_topics(text))
    else:
        title, start = _heading(text)
        title = title or stem(file)
        start, end = trimmed(text, start, len(text))
        blocks = [Block(start, end, title)] if end > start else []
    metadata = {"source_type": "txt", "encoding": decoded.encoding}
    return [make_document(file, title, text, blocks, metadata)]


def _topics(text: str) -> Iterator[Block]:
    heads = list(_TOPIC.finditer(text))
    start, end = trimmed(text, 0, heads[0].start())
    if end > start:
        yield Block(start, end, "")
    for head, following in zip(heads, [*heads[1:], None], strict=True):
        link: str | None = None
        tags: tuple[str, ...] = ()
        body = head.end()
        while field := _FIELD.match(text, body):
            if field["link"]:
                link = web_link(field["value"])
            else:
                tags = tuple(filter(None, (tag.strip() for tag in re.split("[,;]", field["value"]))))
            body = field.end()
        start, end = trimmed(text, body, following.start() if following else len(text))
        if end > start:
            topic = head["topic"].strip()
            yield Block(start, end, topic, (topic,) if topic else (), link, tags)


def _heading(text: str) -> tuple[str, int]:
    """The heading of a plain file and where its text begins; an empty heading if it has none."""
    match = _HEADING.match(text)
    if match is None:
        return "", 0
    line = match["line"].strip()
    if line.endswith(_NOT_A_HEADING) or not text[match.end() :].strip():
        return "", 0
    return line.strip("#=*_ ") or line, match.end()
