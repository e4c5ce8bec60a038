"""Looking after the knowledge base over HTTP: its files, its index, what of it deserves a second look.

What changes something is never a simple request in the sense of browsers: files come with PUT and DELETE, the
rest as JSON, and `security` refuses whatever another site's page sends. Off this machine a token is needed.
"""

from __future__ import annotations

from pathlib import Path

from pipeline.errors import BodyTooLargeError, IndexMissingError, InvalidRequestError, NotFoundError
from pipeline.ingest.holdings import FileStatus, owner
from pipeline.library.renewal import RenewalView
from pipeline.library.review import Review
from pipeline.messages import Phrase
from pipeline.types import Language
from pipeline.web import jsontext, problems, schemas
from pipeline.web.bodies import UPLOAD_LIMIT, check_not_packed, read_object
from pipeline.web.exchange import Context, Response
from pipeline.web.files import page_file

__all__ = ["chunks", "files", "kb_page", "put", "remove", "renew", "renewal", "restore", "review"]

_SHOWN_CHARACTERS = 300
_SHOWN_GROUPS = 200
_SHOWN_CHUNKS = 500


def kb_page(context: Context) -> Response:
    """``GET /kb``: the page."""
    return page_file("kb.html", context.request.headers)


def files(context: Context) -> Response:
    """``GET /kb.json``: every file with its state, and what can be brought back.

    Raises:
        ModelMissingError: The embedder is not installed, so nothing is known of the index.
    """
    library = context.library()
    status = library.status()
    body = {
        "kb_version": status.kb_version,
        "current": status.is_current,
        "difference": status.difference.text(context.language) if status.difference else None,
        "files": [_file(context, file) for file in status.files],
        "removed": [
            {"id": item.id, "file": item.file, "removed_at": item.removed_at, "bytes": item.bytes}
            for item in library.shelf.removed()
        ],
        "upload_limit": UPLOAD_LIMIT,
        "renewal": _renewal(library.renewal.view(), context.language, context.request_id),
        "status": "ok",
    }
    return Response(200, jsontext.dumps(body))


def review(context: Context) -> Response:
    """``GET /kb/review.json``: tokens of every file, blocks over the limit, passages that say the same.

    Of no index there is nothing to say: then everything is empty.

    Raises:
        IndexUnusableError: There is one, but it cannot be used.
    """
    library = context.library()
    try:
        index, found = library.index(), library.review()
    except IndexMissingError:
        index, found = None, Review("", {}, (), ())
    named = {chunk_id for group in found.duplicates[:_SHOWN_GROUPS] for chunk_id in group}
    known = {chunk.id: chunk for chunk in (index.chunks if index else ()) if chunk.id in named}
    body = {
        "kb_version": found.kb_version,
        "limit": context.settings.index.large_block_tokens,
        "files": [{"file": file, "tokens": count} for file, count in found.tokens.items()],
        "large": [{"file": one.file, "topic": one.topic, "tokens": one.tokens} for one in found.large],
        "duplicate_groups": len(found.duplicates),
        "duplicates": [
            [
                {
                    "chunk_id": chunk_id,
                    "file": known[chunk_id].file,
                    "title": known[chunk_id].topic,
                    "text": known[chunk_id].text[:_SHOWN_CHARACTERS],
                }
                for chunk_id in group
                if chunk_id in known
            ]
            for group in found.duplicates[:_SHOWN_GROUPS]
        ],
        "status": "ok",
    }
    return Response(200, jsontext.dumps(body))


def chunks(context: Context) -> Response:
    """``GET /kb/chunks?file=``: the passages of a file, as they are searched for.

    Raises:
        IndexUnusableError: There is no index.
        NotFoundError: It holds nothing of such a file.
    """
    file = schemas.no_field("file", schemas.from_query(context.request.query).get("file"))
    index = context.library().index()
    found = [chunk for chunk in index.chunks if owner(chunk.file, index.manifest.files) == file]
    if not found:
        raise NotFoundError(what=file[:200])
    body = {
        "file": file,
        "found": len(found),
        "chunks": [
            {"chunk_id": chunk.id, "title": chunk.topic, "text": chunk.text[:_SHOWN_CHARACTERS]}
            for chunk in found[:_SHOWN_CHUNKS]
        ],
        "status": "ok",
    }
    return Response(200, jsontext.dumps(body))


def put(context: Context) -> Response:
    """``PUT /kb/files/{path}``: the body becomes a file; ``replace=1`` lets it take the place of another.

    Raises:
        BodyTooLargeError: Larger than can be sent.
        InvalidRequestError: The body is empty.
        UnsupportedMediaTypeError: The body is compressed.
        FileNameError: Such a name cannot be given.
        FileTakenError: There is one of that name.
        NotWrittenError: The disk is full or closed to writing.
    """
    check_not_packed(context.request.headers)
    body = context.request.body
    if len(body) > UPLOAD_LIMIT:
        raise BodyTooLargeError(limit=UPLOAD_LIMIT)
    if not body:
        raise InvalidRequestError(field="body", reason=Phrase("body_empty"))
    replace = schemas.switch("replace", schemas.from_query(context.request.query).get("replace"))
    done = context.library().shelf.put(context.params["path"], body, replace=replace)
    answer = {"file": done.file, "replaced": done.replaced, "bytes": len(body), "status": "ok"}
    return Response(200 if done.replaced else 201, jsontext.dumps(answer))


def remove(context: Context) -> Response:
    """``DELETE /kb/files/{path}``: the file is taken out and kept under ``removed``.

    Raises:
        NotFoundError: There is none.
    """
    removed = context.library().shelf.remove(context.params["path"])
    return Response(200, jsontext.dumps({"file": context.params["path"], "removed": removed, "status": "ok"}))


def restore(context: Context) -> Response:
    """``POST /kb/restore`` with ``{"id": …}``: a removed file comes back.

    Raises:
        NotFoundError: Nothing is kept under this id.
        FileTakenError: Meanwhile there is another of its name.
    """
    fields = read_object(context.request.body, context.request.headers)
    file = context.library().shelf.restore(schemas.no_field("id", fields.get("id")))
    return Response(200, jsontext.dumps({"file": file, "status": "ok"}))


def renew(context: Context) -> Response:
    """``POST /kb/index`` with ``{}``: 202, and the index is brought up to date in the background."""
    read_object(context.request.body, context.request.headers)
    view = context.library().renewal.start()
    return Response(202, jsontext.dumps(_renewal(view, context.language, context.request_id)))


def renewal(context: Context) -> Response:
    """``GET /kb/index``: how bringing it up to date stands."""
    view = context.library().renewal.view()
    return Response(200, jsontext.dumps(_renewal(view, context.language, context.request_id)))


def _file(context: Context, file: FileStatus) -> dict[str, object]:
    return {
        "file": file.file,
        "state": file.state,
        "reason": file.reason.text(context.language) if file.reason else None,
        "chunks": file.chunks,
        "encoding": file.encoding,
        "notes": [note.text(context.language) for note in file.notes],
        "bytes": _size(context.settings.knowledge_base / file.file),
    }


def _size(path: Path) -> int | None:
    """Bytes of a file; None for one that is gone, be it a moment ago."""
    try:
        return path.stat().st_size
    except OSError:
        return None


def _renewal(view: RenewalView, language: Language, request_id: str) -> dict[str, object]:
    report = view.report
    return {
        "phase": view.phase,
        "number": view.number,
        "done": view.done,
        "total": view.total,
        "seconds": round(view.seconds, 1),
        "again": view.again,
        "report": report
        and {
            "indexed": report.indexed,
            "skipped": [{"file": file, "reason": why.text(language)} for file, why in report.skipped.items()],
            "chunks": report.chunks,
            "embedded": report.embedded,
            "reused": report.reused,
            "removed": report.removed,
        },
        "failure": view.error and problems.problem(view.error, language, request_id),
        "status": "ok",
    }
