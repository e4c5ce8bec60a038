"""The shape of OpenAI's chat completions over the same pipeline, for programs that know no other.

The last message of the user is the question; earlier ones are not looked at, as ``POST /ask`` knows no
conversation. What stands in ``content`` is the checked answer: while the model writes, a stream carries
comments only, because a word that has been sent cannot be taken back, and sources come in its first chunk.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Literal

from pipeline.errors import NotFoundError
from pipeline.types import Event, Failed, Finished, Reply, Retrieved, Waiting
from pipeline.web import jsontext, problems, replies, schemas
from pipeline.web.bodies import read_object
from pipeline.web.events import EventStream
from pipeline.web.exchange import Context, Response
from pipeline.web.fields import refuse

__all__ = ["complete", "models"]

MODELS: Mapping[str, bool] = {"otvet": True, "otvet-sources": False}
"""Name -> whether the language model writes the answer."""

_PIECE = re.compile(r"\s*\S+\s*")
_QUIET = b": writing\n\n"


def models(context: Context) -> Response:
    """``GET /v1/models``: what ``model`` may be."""
    del context
    data = [{"id": name, "object": "model", "created": 0, "owned_by": "otvet"} for name in MODELS]
    return Response(200, jsontext.dumps({"object": "list", "data": data, "status": "ok"}))


def complete(context: Context) -> Response:
    """``POST /v1/chat/completions``: the answer with its sources, at once or as a stream.

    Raises:
        InvalidRequestError: There is no question among the messages.
        NotFoundError: There is no such model.
    """
    body = read_object(context.request.body, context.request.headers)
    model = body.get("model") or "otvet"
    if not isinstance(model, str) or model not in MODELS:
        raise NotFoundError(what=str(model)[:100])
    streaming = body.get("stream") or False
    if not isinstance(streaming, bool):
        refuse("stream", "field_boolean")
    fields = {"question": _question(body.get("messages")), "use_RAG": MODELS[model], "format": False}
    parsed = schemas.parse(
        fields,
        language=context.language,
        client=context.request.client,
        request_id=context.request_id,
        key="",
    )
    head = {"id": f"chatcmpl-{context.request_id}", "created": int(time.time()), "model": model}

    def render(reply: Reply) -> dict[str, object]:
        return replies.rendered(context, parsed.style, reply)

    if not streaming:
        whole = render(context.service.ask(parsed.request, context.request.cancelled))
        message = {"role": "assistant", "content": whole["answer"]}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        reply = {**head, "object": "chat.completion", "choices": [choice], **_beside(whole), "status": "ok"}
        return Response(200, jsontext.dumps(reply))
    events: Iterator[bytes] = _ChatStream(
        lambda unwanted: context.service.stream(parsed.request, unwanted),
        context.request.cancelled,
        render,
        lambda error: problems.problem(error, context.language, context.request_id),
        {**head, "object": "chat.completion.chunk"},
    )
    return Response(200, events, "text/event-stream; charset=utf-8", {"X-Accel-Buffering": "no"})


class _ChatStream(EventStream):
    """Events as chunks of a completion."""

    def __init__(
        self,
        start: Callable[[Callable[[], bool]], Iterator[Event]],
        cancelled: Callable[[], bool],
        render: Callable[[Reply], dict[str, object]],
        describe: Callable[[Exception], dict[str, object]],
        head: Mapping[str, object],
    ) -> None:
        self._head = head
        super().__init__(start, cancelled, render, describe)

    def _write(self, event: Event) -> bytes:
        match event:
            case Retrieved(reply):
                return self._chunk({"role": "assistant", "content": ""}, beside=_beside(self._render(reply)))
            case Finished(reply):
                whole = self._render(reply)
                pieces = [self._chunk({"content": piece}) for piece in _PIECE.findall(str(whole["answer"]))]
                return b"".join((*pieces, self._chunk({}, "stop", beside=_beside(whole)), _data("[DONE]")))
            case Failed(error):
                return _data(jsontext.dumps(self._describe(error)))
            case Waiting():
                return b": waiting\n\n"
            case _:
                return _QUIET

    def _chunk(
        self,
        delta: Mapping[str, object],
        finish: Literal["stop"] | None = None,
        *,
        beside: Mapping[str, object] | None = None,
    ) -> bytes:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return _data(jsontext.dumps({**self._head, "choices": [choice], **(beside or {})}))


def _data(text: bytes | str) -> bytes:
    return b"data: " + (text.encode() if isinstance(text, str) else text) + b"\n\n"


def _beside(whole: Mapping[str, object]) -> dict[str, object]:
    """What OpenAI's shape has no place for."""
    return {name: whole[name] for name in ("outcome", "sources", "kb_version")}


def _question(messages: object) -> str:
    if not isinstance(messages, list):
        refuse("messages", "field_missing")
    for message in reversed(messages):
        if isinstance(message, Mapping) and message.get("role") == "user":
            return _text(message.get("content"))
    return refuse("messages", "field_missing")


def _text(content: object) -> str:
    """A message is a text, or a list of parts of which some are texts."""
    if isinstance(content, list):
        parts = [part for part in content if isinstance(part, Mapping) and part.get("type") == "text"]
        content = "\n".join(str(part.get("text") or "") for part in parts)
    return content if isinstance(content, str) else refuse("messages", "field_text")
