"""The text of Word's paragraphs, run by run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pipeline.ingest.readers.container import local
from pipeline.ingest.readers.docx_styles import attribute, child

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

__all__ = ["Note", "Spoken", "note_text", "spoken"]

Note = tuple[str, str]
"""Kind (``footnote`` or ``endnote``) and id of a note."""

_SIGNS = {"tab": " ", "br": "\n", "cr": "\n", "noBreakHyphen": "-", "ptab": " "}
# Deleted text, codes of fields, phonetic guides, and the copy of a drawing for old programs.
_SILENT = frozenset(("del", "moveFrom", "instrText", "delText", "rt", "Fallback", "pPr", "rPr", "sdtPr"))


@dataclass(slots=True)
class Spoken:
    """What a paragraph says.

    Attributes:
        text: Its text; a line break is a line feed.
        boxes: Contents of the text boxes anchored in it.
        notes: Notes it refers to.
    """

    text: str = ""
    boxes: list[Element] = field(default_factory=list)
    notes: list[Note] = field(default_factory=list)


def spoken(paragraph: Element) -> Spoken:
    """The text of a paragraph with its text boxes and notes apart."""
    said = Spoken()
    parts: list[str] = []
    stack = [iter(paragraph)]
    while stack:
        element = next(stack[-1], None)
        if element is None:
            stack.pop()
            continue
        name = local(element.tag)
        if name == "txbxContent":
            said.boxes.append(element)
        elif name == "t":
            parts.append(element.text or "")
        elif name in _SIGNS:
            parts.append(_SIGNS[name] if attribute(element, "type") != "page" else "")
        elif name in ("footnoteReference", "endnoteReference"):
            said.notes.append((name.removesuffix("Reference"), attribute(element, "id")))
        elif name not in _SILENT and not (name == "r" and _is_hidden(element)):
            stack.append(iter(element))
    said.text = "".join(parts).strip()
    return said


def note_text(note: Element) -> str:
    """The text of a footnote on one line."""
    return " ".join(" ".join(spoken(paragraph).text for paragraph in _paragraphs(note)).split())


def _paragraphs(element: Element) -> Iterator[Element]:
    return (item for item in element.iter() if local(item.tag) == "p")


def _is_hidden(run: Element) -> bool:
    vanish = child(run, "rPr", "vanish")
    return vanish is not None and attribute(vanish) not in ("0", "false", "off")
