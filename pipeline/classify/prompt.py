"""What the model is asked: a conversation in which every label has been answered once, then the text.

A small model that only reads a list of labels is right about half of the time. It does much better when it
has seen the exchange it is to continue, so each label gets one turn made of its own name, and so does "none";
examples of the caller take the place of those. All of that is the same for a batch and is read once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pipeline.ports import ChatMessage
from pipeline.text.language import detect_language
from pipeline.types import ClassifyRequest, Language

__all__ = ["TEXT_TOKENS", "Task", "shortened"]

TEXT_TOKENS = 400
"""Tokens of a text that are read: what a letter is about stands in its beginning."""


@dataclass(frozen=True, slots=True)
class _Words:
    """The words around the caller's labels in one language."""

    task: str
    unfitting: str
    about: str
    about_nothing: str
    none: tuple[str, ...]


_WORDS: dict[Language, _Words] = {
    "ru": _Words(
        task="Ты раскладываешь письма по рубрикам. Рубрики: {labels}. На каждое письмо отвечай только "
        "названием рубрики.",
        unfitting=" Если ни одна не подходит, отвечай: {none}.",
        about="Пишу вам по такому делу: {label}.",
        about_nothing="Сегодня хорошая погода, поздравляем вас с праздником.",
        none=("Другое", "Ничего из этого", "Нет в списке"),
    ),
    "en": _Words(
        task="You sort letters by topic. Topics: {labels}. Answer every letter with the name of its topic "
        "only.",
        unfitting=" If none of them fits, answer: {none}.",
        about="I am writing to you about this: {label}.",
        about_nothing="The weather is fine today, and we wish you a happy holiday.",
        none=("Other", "None of these", "Not in the list"),
    ),
}


class Task:
    """The same for all texts of a request.

    Args:
        request: Labels, examples and the caller's own words about the task.

    Attributes:
        none: What the model answers when no label fits, in the language of the labels and none of them; None
            where one of them must be chosen.
        answers: All that it may answer: the labels, then ``none``.
    """

    def __init__(self, request: ClassifyRequest) -> None:
        words = _WORDS[detect_language(" ".join(request.labels))]
        self.none = _free(words.none, request.labels) if request.none else None
        self.answers = (*request.labels, *filter(None, [self.none]))
        task = words.task.format(labels="; ".join(self.answers))
        if self.none is not None:
            task += words.unfitting.format(none=self.none)
        own = request.prompt.strip() if request.prompt else ""
        self._fixed = [ChatMessage("system", f"{own}\n\n{task}" if own else task)]
        shown = {label for _, label in request.examples}
        for label in request.labels:
            if label not in shown:
                self._show(words.about.format(label=label[:1].lower() + label[1:]), label)
        if self.none is not None and None not in shown:
            self._show(words.about_nothing, self.none)
        for text, example in request.examples:
            if (answer := example or self.none) is not None:
                self._show(text, answer)

    def conversation(self, text: str) -> list[ChatMessage]:
        """The messages that ask for the label of a text; all but the last one are the same for a batch."""
        return [*self._fixed, ChatMessage("user", text)]

    def _show(self, text: str, answer: str) -> None:
        self._fixed += [ChatMessage("user", text), ChatMessage("assistant", answer)]


def _free(words: Sequence[str], labels: Sequence[str]) -> str:
    taken = {label.strip().casefold() for label in labels}
    return next((word for word in words if word.casefold() not in taken), words[-1])


def shortened(text: str, count_tokens: Callable[[str], int], limit: int) -> str:
    """The longest beginning of whole words that has at most so many tokens; a piece of a word if need be."""
    if count_tokens(text) <= limit:
        return text
    ends = [match.end() for match in re.finditer(r"\S+", text)]
    cut = _longest(text, ends, count_tokens, limit)
    return cut or _longest(text, range(1, len(text) + 1), count_tokens, limit)


def _longest(text: str, ends: Sequence[int], count_tokens: Callable[[str], int], limit: int) -> str:
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high + 1) // 2
        fits = count_tokens(text[: ends[middle - 1]]) <= limit
        low, high = (middle, high) if fits else (low, middle - 1)
    return text[: ends[low - 1]] if low else ""
