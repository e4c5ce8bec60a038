"""Which of a question's right places a passage is from."""

from __future__ import annotations

from pipeline.evaluation.answer_match import comparable
from pipeline.evaluation.questions import KnownQuestion, is_named
from pipeline.types import Chunk

__all__ = ["place_of"]


def place_of(question: KnownQuestion, chunk: Chunk) -> int | None:
    """Number of the right place: of a passage where the question names passages, else of a file."""
    if not question.passages:
        return next((n for n, name in enumerate(question.files) if is_named(chunk.file, name)), None)
    said = comparable(chunk.text)
    return next(
        (n for n, one in enumerate(question.passages) if one == chunk.id or comparable(one) in said), None
    )
