"""A reply as the JSON of the contract: keys in its order, numbers a program can read."""

from __future__ import annotations

from urllib.parse import quote

from pipeline.types import Answer, Language, Reply, Source, Stage
from pipeline.web import markup
from pipeline.web.exchange import Context
from pipeline.web.routed import routed_fields
from pipeline.web.schemas import Format, Style

__all__ = ["render", "rendered", "source_link"]

# Four decimals are never written with an exponent, which not every reader of JSON expects.
_DECIMALS = 4


def source_link(source: Source, base_url: str) -> str:
    """Where a person can read the source: its own http(s) address, else our page about it."""
    if source.link is not None and markup.is_web_address(source.link):
        return source.link
    return f"{base_url}/source/{quote(source.chunk_id, safe='')}#passage"


def rendered(context: Context, style: Style, reply: Reply) -> dict[str, object]:
    """The reply as JSON values, for the caller of this context."""
    return render(
        reply,
        base_url=context.request.base_url,
        style=style.format,
        language=context.language,
        notes=style.notes,
    )


def render(
    reply: Reply, *, base_url: str, style: Format, language: Language, notes: tuple[str, ...] = ()
) -> dict[str, object]:
    """The reply as JSON values.

    Args:
        reply: What the service returned.
        base_url: Address of this server, for the links of sources that have none of their own.
        style: How ``answer`` is written.
        language: Language of the few words a whole page holds.
        notes: Go before the notes of the reply itself.
    """
    links = {source.n: source_link(source, base_url) for source in reply.sources}
    notes = (*notes, *reply.notes)
    result: dict[str, object] = {
        "question": reply.question,
        "flags": list(reply.flags),
        "answer": _answer(reply, links, style, language, notes),
        "outcome": reply.answer.outcome,
        "sources": [_source(source, links[source.n]) for source in reply.sources],
        "timings_ms": {name: round(float(value), 2) for name, value in reply.timings_ms.items()},
        "model": reply.model,
        "kb_version": reply.kb_version,
        "request_id": reply.request_id,
    }
    if notes:
        result["notes"] = list(notes)
    if reply.answer.marks:
        result["marks"] = _marks(reply.answer)
    if reply.routed is not None:
        result |= routed_fields(reply.routed, base_url)
    return result | {"status": "ok"}


def _answer(
    reply: Reply, links: dict[int, str], style: Format, language: Language, notes: tuple[str, ...]
) -> str:
    if style == "text":
        return reply.answer.text
    fragment = markup.fragment(reply.answer, links)
    return fragment if style == "fragment" else markup.page(reply, fragment, links, language, notes)


def _source(source: Source, link: str) -> dict[str, object]:
    result: dict[str, object] = {
        "n": source.n,
        "title": source.title,
        "link": link,
        "file": source.file,
        "quote": source.quote,
        "start": source.start,
        "end": source.end,
        "score": _rounded(source.score),
        "page": source.page,
        "chunk_id": source.chunk_id,
        "headings": list(source.headings),
    }
    if source.stages is not None:
        result["stages"] = [_stage(stage) for stage in source.stages]
    return result


def _stage(stage: Stage) -> dict[str, object]:
    return {"name": stage.name, "score": _rounded(stage.score), "rank": stage.rank}


def _marks(answer: Answer) -> list[dict[str, object]]:
    return [
        {
            "start": mark.start,
            "end": mark.end,
            "text": answer.text[mark.start : mark.end],
            "reason": mark.reason,
        }
        for mark in answer.marks
    ]


def _rounded(score: float) -> float:
    return round(float(score), _DECIMALS)
