"""Markdown: one block a section, with the path of headings above it.

Front matter (title, link, tags) becomes metadata, HTML comments are dropped, fenced code stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from pipeline.ingest.readers.common import make_document, read_text, stem, trimmed, web_link
from pipeline.ingest.readers.front_matter import split_front_matter
from pipeline.text.fences import FenceTracker
from pipeline.types import Block, Document

__all__ = ["TOPIC_SEPARATOR", "read_markdown"]

TOPIC_SEPARATOR = " / "
_LONGEST_HEADING = 1000

_CODE_OR_COMMENT = re.compile(
    r"^[ \t]*(?P<mark>`{3,}|~{3,})[^`\n]*\n.*?(?:^[ \t]*(?P=mark)[`~]*[ \t]*$|\Z)"
    r"|`[^`\n]+`|(?P<comment><!--)",
    re.M | re.S,
)
_ATX = re.compile(r" {0,3}(?P<marks>#{1,6})(?:[ \t]+(?P<text>.*?))?(?:[ \t]+#+)?[ \t]*$")
_SETEXT = re.compile(r" {0,3}(?P<mark>=+|-{2,})[ \t]*$")
_MARKUP = (
    (re.compile(r"!?\[([^\]]*)\](?:\([^)]*\)|\[[^\]]*\])"), r"\1"),
    (re.compile(r"</?[A-Za-z][^>]*>"), ""),
    (re.compile(r"\s*\{[#.][^}]*\}\s*$"), ""),
    (re.compile(r"(\*\*|__)(?=\S)(.+?)(?<=\S)\1"), r"\2"),
    (re.compile(r"(?<!\w)([*_`])(?=\S)(.+?)(?<=\S)\1(?!\w)"), r"\2"),
    (re.compile(r"`"), ""),
    (re.compile(r"\\([\\`*_{}\[\]()#+\-.!<>|])"), r"\1"),
)


@dataclass(frozen=True, slots=True)
class _Heading:
    level: int
    text: str
    start: int
    end: int


def read_markdown(path: Path, file: str) -> list[Document]:
    """Read a ``.md`` file; see `pipeline.ports.Reader`."""
    decoded = read_text(path, file)
    front, body = split_front_matter(decoded.text)
    text = _without_comments(body)
    headings = list(_headings(text))
    first = next((heading.text for heading in headings if heading.level == 1 and heading.text), "")
    title = front.title or first or stem(file)
    metadata = {**front.metadata, "source_type": "md", "encoding": decoded.encoding}
    blocks = list(_blocks(text, headings, title))
    return [make_document(file, title, text, blocks, metadata, link=web_link(front.link), tags=front.tags)]


def _without_comments(text: str) -> str:
    """Comments outside of code go, with their line if they are alone on it; an unclosed one is text."""
    pieces: list[str] = []
    position = kept = 0
    while match := _CODE_OR_COMMENT.search(text, position):
        position = match.end()
        if match["comment"]:
            end = text.find("-->", position)
            if end < 0:
                break
            start, position = _with_its_line(text, match.start(), end + 3)
            pieces.append(text[kept:start])
            kept = position
    return "".join((*pieces, text[kept:]))


def _with_its_line(text: str, start: int, end: int) -> tuple[int, int]:
    line_start = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    line_end = len(text) if line_end < 0 else line_end + 1
    alone = not text[line_start:start].strip() and not text[end:line_end].strip()
    return (line_start, line_end) if alone else (start, end)


def _headings(text: str) -> Iterator[_Heading]:
    fences = FenceTracker()
    position = 0
    before = ""  # the line before, if it can be the text of a setext heading
    for line in text.splitlines(keepends=True):
        start, position = position, position + len(line)
        if fences.is_code(line):
            before = ""
            continue
        atx, setext = _ATX.match(line.rstrip("\n")), _SETEXT.match(line.rstrip("\n"))
        if atx:
            yield _Heading(len(atx["marks"]), _plain(atx["text"] or ""), start, position)
        elif setext and before:
            level = 1 if setext["mark"].startswith("=") else 2
            yield _Heading(level, _plain(before), start - len(before), position)
        usable = (
            line.strip() and not atx and not setext and not line.startswith(("    ", "\t", ">", "|", "-"))
        )
        before = line if usable else ""


def _blocks(text: str, headings: list[_Heading], title: str) -> Iterator[Block]:
    path: list[_Heading] = []
    starts = [0, *(heading.end for heading in headings)]
    ends = [*(heading.start for heading in headings), len(text)]
    for heading, begin, finish in zip([None, *headings], starts, ends, strict=True):
        if heading is not None:
            path = [*(above for above in path if above.level < heading.level), heading]
        start, end = trimmed(text, begin, finish)
        if end > start:
            names = tuple(part.text for part in path if part.text)
            parts = names if names[:1] == (title,) else (title, *names)
            yield Block(start, end, TOPIC_SEPARATOR.join(parts), names)


def _plain(heading: str) -> str:
    heading = heading[:_LONGEST_HEADING]
    for pattern, replacement in _MARKUP:
        heading = pattern.sub(replacement, heading)
    return " ".join(heading.split())
