"""How an answer comes about, over HTTP: requests of their own, so that the reply of ``/ask`` stays."""

from __future__ import annotations

from pipeline.types import Candidate, Explanation, Stage, Standing
from pipeline.web import jsontext, schemas
from pipeline.web.exchange import Context, Response

__all__ = ["candidates", "words"]

_DECIMALS = 4


def candidates(context: Context) -> Response:
    """``GET /debug/search``: parameters of ``GET /search``; ``chunk`` names a passage to be judged besides.

    Raises:
        RequestError: As for ``GET /search``.
        NotFoundError: No such passage.
    """
    fields = schemas.from_query(context.request.query) | {"use_RAG": False}
    chunk_id = schemas.no_field("chunk", fields.pop("chunk", None))
    parsed = schemas.parse(
        fields,
        language=context.language,
        client=context.request.client,
        request_id=context.request_id,
    )
    found = context.service.explain(parsed.request, chunk_id[:200])
    return Response(200, jsontext.dumps(_explanation(found, context.service.status())))


def words(context: Context) -> Response:
    """``GET /debug/words?q=&chunk=``: which word of the passage met each word of the question.

    Raises:
        RequestError: As for ``GET /search``.
        NotFoundError: No such passage.
    """
    fields = schemas.from_query(context.request.query)
    chunk_id = schemas.no_field("chunk", fields.pop("chunk", None))
    parsed = schemas.parse(fields, language=context.language)
    found = context.service.match_words(parsed.request.question, chunk_id[:200])
    text = found.chunk.text
    body = {
        "question": found.question,
        "chunk_id": found.chunk.id,
        "topic": found.chunk.topic,
        "text": text,
        "matches": [
            {
                "word": found.question[match.start : match.end],
                "start": match.start,
                "end": match.end,
                "found": text[slice(*match.found)] if match.found else None,
                "found_start": match.found[0] if match.found else None,
                "found_end": match.found[1] if match.found else None,
                "cosine": round(match.cosine, _DECIMALS),
            }
            for match in found.matches
        ],
        "words": [
            {"start": start, "end": end, "strength": round(strength, _DECIMALS)}
            for (start, end), strength in zip(found.words, found.strengths, strict=True)
        ],
        "status": "ok",
    }
    return Response(200, jsontext.dumps(body))


def _explanation(found: Explanation, status: dict[str, object]) -> dict[str, object]:
    retrieval, evidence = found.retrieval, found.evidence
    generator = status.get("generator")
    speed = generator if isinstance(generator, dict) else {}
    return {
        "question": retrieval.query.text,
        "flags": list(retrieval.query.flags),
        "searched": retrieval.query.search_text,
        "terms": [
            {
                "text": term.text,
                "weight": round(term.weight, _DECIMALS),
                "found_as": [word for word, _ in term.found_as],
            }
            for term in retrieval.terms
        ],
        "relevance": round(evidence.relevance, _DECIMALS),
        "refused": evidence.refused,
        "sentences": [{"n": sentence.source, "text": sentence.text} for sentence in evidence.sentences],
        "candidates": [_candidate(item, len(retrieval.hits)) for item in retrieval.candidates],
        "timings_ms": {name: round(value, 2) for name, value in retrieval.timings_ms.items()},
        "prompt": [{"role": role, "content": content} for role, content in found.prompt],
        "prompt_tokens": found.prompt_tokens,
        "read_tokens_per_s": speed.get("prefill_tokens_per_s"),
        "write_tokens_per_s": speed.get("decode_tokens_per_s"),
        "standing": _standing(found.standing) if found.standing else None,
        "kb_version": found.kb_version,
        "status": "ok",
    }


def _candidate(item: Candidate, shown: int) -> dict[str, object]:
    hit = item.hit
    return {
        "rank": hit.rank,
        "shown": hit.rank <= shown,
        "chunk_id": hit.chunk.id,
        "title": hit.chunk.topic or hit.chunk.file,
        "file": hit.chunk.file,
        "score": round(hit.score, _DECIMALS),
        "stages": [_stage(stage) for stage in hit.stages],
    }


def _standing(found: Standing) -> dict[str, object]:
    return {
        "chunk_id": found.chunk.id,
        "title": found.chunk.topic or found.chunk.file,
        "file": found.chunk.file,
        "text": found.chunk.text,
        "rank": found.rank,
        "passages": found.passages,
        "stages": [_stage(stage) for stage in found.stages],
    }


def _stage(stage: Stage) -> dict[str, object]:
    return {"name": stage.name, "score": round(stage.score, _DECIMALS), "rank": stage.rank}
