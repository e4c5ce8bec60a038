"""From a request to a query: flags read, text cleaned, limits kept."""

from __future__ import annotations

from pipeline.errors import EmptyQuestionError, QuestionTooLongError
from pipeline.strategies import RERANKERS, STRATEGIES
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
        InvalidRequestError: There is no such strategy or reranker.
    """
    if len(request.question) > QUESTION_LIMIT:
        raise QuestionTooLongError(length=len(request.question), limit=QUESTION_LIMIT)
    parsed = parse_flags(request.question)
    search_text = clean_question(parsed.text)
    if not search_text:
        raise EmptyQuestionError()
    strategy = parsed.strategy or request.strategy
    reranker = parsed.reranker or request.reranker or ("cross-encoder" if request.cross_encoder else "")
    # Unknown names are refused here, whoever asks; empty ones are for the settings to fill.
    names = STRATEGIES[strategy].name if strategy else "", RERANKERS[reranker].name if reranker else ""
    # A source that the answer may cite is always among those returned.
    top_k = max(request.top_k, parsed.sources_limit or 0)
    return Query(
        text=parsed.text,
        search_text=search_text,
        flags=parsed.flags,
        strategy=names[0],
        reranker=names[1],
        top_k=top_k,
        sources_limit=parsed.sources_limit or min(request.sources_limit, top_k),
        scores=parsed.scores or request.scores,
        timings=parsed.timings,
        filter=request.filter,
    )
