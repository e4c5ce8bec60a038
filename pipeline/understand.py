"""From a request to a query: flags read, text cleaned, limits kept."""

from __future__ import annotations

from pipeline.errors import EmptyQuestionError, QuestionTooLongError
from pipeline.text.flags import parse_flags
from pipeline.text.normalise import clean_question
from pipeline.types import AskRequest, Query

__all__ = ["QUESTION_LIMIT", "understand"]

QUESTION_LIMIT = 2000
"""Most characters of a question, flags included."""


def understand(request: AskRequest) -> Query:
    """Read a request; a flag in the question wins over the field of the same meaning.

    Raises:
        QuestionTooLongError: More than ``QUESTION_LIMIT`` characters.
        EmptyQuestionError: Nothing is left once flags are read.
    """
    if len(request.question) > QUESTION_LIMIT:
        raise QuestionTooLongError(length=len(request.question), limit=QUESTION_LIMIT)
    parsed = parse_flags(request.question)
    search_text = clean_question(parsed.text)
    if not search_text:
        raise EmptyQuestionError()
    # A source that the answer may cite is always among those returned.
    top_k = max(request.top_k, parsed.sources_limit or 0)
    return Query(
        text=parsed.text,
        search_text=search_text,
        flags=parsed.flags,
        mode=parsed.mode or "hybrid",
        top_k=top_k,
        sources_limit=parsed.sources_limit or min(request.sources_limit, top_k),
        cross_encoder=parsed.cross_encoder or request.cross_encoder,
        scores=parsed.scores or request.scores,
        timings=parsed.timings,
        filter=request.filter,
    )
