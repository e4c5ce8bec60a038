"""The part of a prompt that other questions about the same source begin with, too."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from pipeline.ports import ChatMessage

__all__ = ["first_source_lasts", "sources_last"]

SOURCE_END = "</source>\n\n"
"""Ends every source of a prompt, and nothing else: no source can write it (`pipeline.answer.prompt`)."""


def first_source_lasts(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """Of the best source the whole text stands in the prompt, of the others what suits this question."""
    return _lasting(messages, messages[-1].content.find(SOURCE_END))


def sources_last(messages: Sequence[ChatMessage]) -> tuple[ChatMessage, ...]:
    """A caller who brings texts along is likely to ask about all of them again."""
    return _lasting(messages, messages[-1].content.rfind(SOURCE_END))


def _lasting(messages: Sequence[ChatMessage], at: int) -> tuple[ChatMessage, ...]:
    *before, last = messages
    return (*before, replace(last, lasting=at + len(SOURCE_END) if at >= 0 else 0))
