"""Reads server-sent events (https://html.spec.whatwg.org/multipage/server-sent-events.html) from bytes."""

from __future__ import annotations

from collections.abc import AsyncIterator

__all__ = ["LONGEST_EVENT", "EventTooLongError", "event_data"]

LONGEST_EVENT = 1 << 20
"""Bytes of one event at most; a token is a few hundred."""


class EventTooLongError(ValueError):
    """An event, or all of them together, is longer than a server should ever send."""


async def event_data(
    pieces: AsyncIterator[bytes], *, longest: int = LONGEST_EVENT, most: int = 64 << 20
) -> AsyncIterator[str]:
    """The data of each event, in order; other fields and comments are passed over.

    Args:
        pieces: The body as it comes, cut anywhere.
        longest: Bytes of an event.
        most: Bytes of the whole body.

    Raises:
        EventTooLongError: One of them is exceeded.
    """
    held, data, size, total = b"", list[str](), 0, 0
    async for piece in pieces:
        total += len(piece)
        held += piece
        # A line feed that belongs to a carriage return may only come with the next piece: it waits.
        whole, held = _split(held)
        for line in whole:
            size += len(line)
            if size > longest:
                raise EventTooLongError
            if not line:
                if data:
                    yield "\n".join(data)
                data, size = [], 0
            elif line.startswith(b"data:"):
                data.append(line[5:].removeprefix(b" ").decode("utf-8", "replace"))
        if len(held) > longest or total > most:
            raise EventTooLongError
    if held.startswith(b"data:"):
        data.append(held[5:].strip().decode("utf-8", "replace"))
    if data:
        yield "\n".join(data)


def _split(held: bytes) -> tuple[list[bytes], bytes]:
    """Whole lines, and the rest; lines end with CR LF, LF or CR."""
    end = len(held) - 1 if held.endswith(b"\r") else len(held)
    *whole, rest = held[:end].replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    return whole, rest + held[end:]
