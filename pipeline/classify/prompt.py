"""What the model is asked: labels first, because they are the same for a whole batch, then one text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from pipeline.ports import ChatMessage
from pipeline.text.language import detect_language
from pipeline.types import Language

__all__ = ["TEXT_TOKENS", "conversation", "none_word", "shortened"]

TEXT_TOKENS = 400
"""Tokens of a text that are read: what a letter is about stands in its beginning."""

_TASKS: dict[Language, str] = {
    "ru": "Определи рубрику текста. Рубрики:\n{labels}\nОтветь только названием рубрики, слово в слово.",
    "en": "Find the topic of the text. Topics:\n{labels}\nAnswer with the topic only, word for word.",
}
_UNFITTING: dict[Language, str] = {
    "ru": " Если ни одна рубрика не подходит, ответь: {none}",
    "en": " If no topic fits, answer: {none}",
}
# The first one that no label of the caller says already.
_NONE_WORDS: dict[Language, tuple[str, ...]] = {
    "ru": ("Другое", "Ничего из этого", "Нет в списке"),
    "en": ("Other", "None of these", "Not in the list"),
}


def none_word(labels: Sequence[str]) -> str:
    """What the model answers when no label fits: in the language of the labels, and none of them."""
    taken = {label.strip().casefold() for label in labels}
    words = _NONE_WORDS[detect_language(" ".join(labels))]
    return next((word for word in words if word.casefold() not in taken), words[-1])


def conversation(labels: Sequence[str], none: str | None, prompt: str | None, text: str) -> list[ChatMessage]:
    """The messages that ask for the label of a text; all but the last one are the same for a batch.

    Args:
        labels: The caller's labels.
        none: What to answer when no label fits; None where one must be chosen.
        prompt: The caller's own words about the task, read before the list of labels.
        text: One text.
    """
    language = detect_language(" ".join(labels))
    listed = "\n".join(f"- {label}" for label in (*labels, *filter(None, [none])))
    task = _TASKS[language].format(labels=listed)
    if none is not None:
        task += _UNFITTING[language].format(none=none)
    system = f"{prompt.strip()}\n\n{task}" if prompt and prompt.strip() else task
    return [ChatMessage("system", system), ChatMessage("user", text)]


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
