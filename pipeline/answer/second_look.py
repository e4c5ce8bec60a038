"""A second look at a doubtful passage: the language model is asked whether it states the answer, yes or no.

What search knows cannot tell a passage about the thing asked for from one that holds the asked fact; the
model's own probabilities of "Yes" and "No" can (`docs/decisions/0016-refusal.md`). Only two tokens are
weighed, nothing is written, and the examples before the question are read once.
"""

from __future__ import annotations

from collections.abc import Sequence

from pipeline.answer.prompt import source_text
from pipeline.ports import ChatMessage
from pipeline.types import Evidence, Query

__all__ = ["ANSWERS", "DOUBTFUL", "LEAST_ODDS", "is_doubtful", "second_look", "states_answer"]

ANSWERS = ("Yes", "No")
"""What is weighed, in the order of the scores."""
DOUBTFUL = 0.95
"""Relevance below which it is worth the seconds; above, the model hardly ever says no."""
LEAST_ODDS = 0.5
"""Log-odds of yes that a stated answer has; one of 33 answerable questions over kb_bsl had fewer."""
PASSAGE_CHARACTERS = 1400

_INSTRUCTIONS = (
    "You check whether a text answers a question. Reply Yes only if the text itself states the answer to the "
    "question; reply No if it is only about a similar subject or leaves the answer out."
)
_EXAMPLES = (
    (
        "Ежегодный отпуск в компании «Заря» — 28 дней. Заявление подают не позднее чем за две недели.",
        ("За сколько времени нужно подать заявление на отпуск?", "Yes"),
        ("Как перенести отпуск на следующий год?", "No"),
    ),
    (
        "Hold the RESET button for ten seconds until the light turns red. The log is written to reset.log.",
        ("Where is the log kept after a reset?", "Yes"),
        ("How much does the device cost?", "No"),
    ),
)


def is_doubtful(evidence: Evidence) -> bool:
    """Whether there is something to look at, and reason to."""
    return bool(evidence.hits) and evidence.relevance < DOUBTFUL


def second_look(query: Query, evidence: Evidence) -> tuple[ChatMessage, ...]:
    """The question to the model about the best source; all but the last message is always the same."""
    turns = [ChatMessage("system", _INSTRUCTIONS)]
    for text, *pairs in _EXAMPLES:
        for question, answer in pairs:
            turns += [_asked(text, question), ChatMessage("assistant", answer)]
    return (*turns, _asked(source_text(evidence.hits[0])[:PASSAGE_CHARACTERS], query.text))


def states_answer(scores: Sequence[float]) -> bool:
    """What the model thinks, from its scores of :data:`ANSWERS`; yes where it was not heard in time."""
    return not scores or scores[0] - scores[1] >= LEAST_ODDS


def _asked(passage: str, question: str) -> ChatMessage:
    text = f"Text:\n{passage}\n\nQuestion: {question}\n\nDoes the text state the answer? Yes or No."
    return ChatMessage("user", text)
