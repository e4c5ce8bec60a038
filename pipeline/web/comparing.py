"""Strategies over HTTP: what there is, all of them on one question, and what they did over time."""

from __future__ import annotations

from typing import Any

from pipeline.compare.figures import LOWER_IS_BETTER, MEASURES
from pipeline.compare.history import Entry, history_of, read
from pipeline.compare.plot import history_svg
from pipeline.compare.question import Seen, SideBySide, overlap, side_by_side
from pipeline.compare.ways import default_way, ways_of
from pipeline.messages import text
from pipeline.replies import sources_of
from pipeline.settings import Settings
from pipeline.strategies import RERANKERS, STRATEGIES, About, Reranking, Strategy
from pipeline.types import Language
from pipeline.web import jsontext, schemas
from pipeline.web.bodies import read_object
from pipeline.web.exchange import Context, Response
from pipeline.web.fields import Field, refuse, texts_of
from pipeline.web.files import page_file
from pipeline.web.replies import source_link

__all__ = [
    "COMPARE_FIELDS",
    "compare",
    "compare_page",
    "drawn",
    "history",
    "plot",
    "rendered",
    "strategies",
]

COMPARE_FIELDS: dict[str, Field] = {
    "question": schemas.FIELDS["question"],
    "strategies": Field("texts", None, "Ways to search; none for all."),
    "rerankers": Field("texts", None, "What orders the finds; none for what suits each strategy."),
    **{name: schemas.FIELDS[name] for name in ("top_k", "sources_limit", "filter", "deadline_s")},
}
_LISTED = 2000
"""Lines of the history that are sent, the newest."""


def strategies(context: Context) -> Response:
    """``GET /strategies``: every strategy and reranker, described in the caller's language."""
    default = default_way(context.settings.search)
    body = {
        "strategies": [_strategy(one, context.language) for one in STRATEGIES],
        "rerankers": [_described(one, context.language) for one in RERANKERS],
        "default": {"strategy": default.strategy, "reranker": default.reranker},
        "status": "ok",
    }
    return Response(200, jsontext.dumps(body))


def compare_page(context: Context) -> Response:
    """``GET /compare``: the page."""
    return page_file("compare.html", context.request.headers)


def compare(context: Context) -> Response:
    """``POST /compare``: sources, times and tokens of every strategy for one question; no answer is written.

    Raises:
        RequestError: As for ``POST /ask``; an unknown strategy or reranker.
        CancelledError: The caller left: no further search is begun.
    """
    fields = dict(read_object(context.request.body, context.request.headers))
    names = texts_of("strategies", fields.pop("strategies", None))
    rerankers = texts_of("rerankers", fields.pop("rerankers", None))
    parsed = schemas.parse(
        fields | {"use_RAG": False, "strategy": None, "reranker": None},
        language=context.language,
        client=context.request.client,
        request_id=context.request_id,
    )
    found = side_by_side(
        context.service,
        parsed.request,
        ways_of(names, rerankers),
        default_way(context.settings.search),
        context.request.cancelled,
    )
    body = rendered(found, context.language, context.request.base_url)
    notes = {"notes": list(parsed.notes)} if parsed.notes else {}
    return Response(200, jsontext.dumps(body | notes | {"request_id": context.request_id, "status": "ok"}))


def history(context: Context) -> Response:
    """``GET /compare/history``: the figures of every comparison over a set, the newest last."""
    entries = read(history_of(context.settings))
    body = {
        "measures": [
            {
                "name": name,
                "title": text("answers", f"measure_{name}", context.language),
                "lower_is_better": name in LOWER_IS_BETTER,
            }
            for name in MEASURES
        ],
        "sets": list(dict.fromkeys(entry.questions for entry in reversed(entries))),
        "entries": [_entry(entry) for entry in entries[-_LISTED:]],
        "status": "ok",
    }
    return Response(200, jsontext.dumps(body))


def plot(context: Context) -> Response:
    """``GET /compare/plot.svg?set=&measure=``: one measure of one set over time; ``alone=1`` with colours.

    Raises:
        InvalidRequestError: There is no such measure.
    """
    fields = schemas.from_query(context.request.query)
    measure = schemas.no_field("measure", fields.get("measure")) or MEASURES[0]
    if measure not in MEASURES:
        refuse("measure", "field_choice", known=", ".join(MEASURES))
    alone = schemas.switch("alone", fields.get("alone"))
    picture = drawn(
        context.settings, schemas.no_field("set", fields.get("set")), measure, context.language, alone=alone
    )
    return Response(200, picture.encode("utf-8", "replace"), "image/svg+xml; charset=utf-8")


def drawn(settings: Settings, questions: str, measure: str, language: Language, *, alone: bool) -> str:
    """The history of a set as a picture; of the newest set, where none is named."""
    entries = read(history_of(settings))
    name = questions or (entries[-1].questions if entries else "")
    return history_svg(
        [entry for entry in entries if entry.questions == name],
        measure,
        f"{text('answers', f'measure_{measure}', language)}: {name}",
        lower_is_better=measure in LOWER_IS_BETTER,
        alone=alone,
    )


def rendered(found: SideBySide, language: Language, base_url: str) -> dict[str, Any]:
    """A comparison as JSON values."""
    default = found.default
    return {
        "question": found.question,
        "flags": list(found.flags),
        "default": {"strategy": default.strategy, "reranker": default.reranker},
        "ways": [_way(found, one, language, base_url) for one in found.seen],
        "overlaps": [[round(overlap(one.hits, other.hits), 4) for other in found.seen] for one in found.seen],
        "whole_tokens": found.whole_tokens,
        "counted_by": found.usual.found.counted_by,
        "kb_version": found.usual.found.kb_version,
    }


def _way(found: SideBySide, one: Seen, language: Language, base_url: str) -> dict[str, Any]:
    strategy, reranker = STRATEGIES[one.way.strategy], RERANKERS[one.way.reranker]
    evidence = one.found.evidence
    return {
        "strategy": strategy.name,
        "reranker": reranker.name,
        "title": strategy.about[language].title,
        "reranker_title": reranker.about[language].title,
        "default": one.way == found.default,
        "calibrated": strategy.is_calibrated,
        "refused": evidence.refused,
        "relevance": round(evidence.relevance, 4),
        "sources": [
            {
                "n": source.n,
                "title": source.title,
                "link": source_link(source, base_url),
                "file": source.file,
                "quote": source.quote,
                "page": source.page,
                "chunk_id": source.chunk_id,
            }
            for source in sources_of(evidence)
        ],
        "overlap": round(overlap(one.hits, found.usual.hits), 4),
        "timings_ms": {name: round(value, 2) for name, value in one.timings_ms.items()},
        "total_ms": round(one.total_ms, 2),
        "tokens": one.tokens,
        "saving": round(found.saving(one), 4),
        "notes": [text("answers", key, language) for key in one.found.retrieval.notes],
    }


def _strategy(one: Strategy, language: Language) -> dict[str, Any]:
    return _described(one, language) | {
        "reranker": one.reranker,
        "whole": one.is_whole,
        "calibrated": one.is_calibrated,
    }


def _described(one: Strategy | Reranking, language: Language) -> dict[str, Any]:
    about: About = one.about[language]
    return {
        "name": one.name,
        "flag": one.flag,
        "title": about.title,
        "what": about.what,
        "pros": about.pros,
        "cons": about.cons,
        "best_for": about.best_for,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    # Measures are values, not keys: a key of the reply is a name in 1C, and «hit@1» is none.
    values = entry.as_json()
    del values["p"]
    return values | {
        "figures": [
            {"measure": name, "value": value, "low": low, "high": high, "p": entry.chances.get(name)}
            for name, (value, low, high) in entry.figures.items()
        ]
    }
