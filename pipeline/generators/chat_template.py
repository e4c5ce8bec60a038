"""How a conversation is written for a model, with what people wrote kept apart from control tokens.

Each template is a handful of strings. A rendered prompt is a list of segments: only *trusted* ones may
be read as control tokens by the tokenizer, so a document that contains ``<|im_end|>`` or ``[INST]``
stays plain text and cannot end its turn or open another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pipeline.ports import ChatMessage

__all__ = ["TEMPLATES", "ChatTemplate", "Segment", "find_template"]


@dataclass(frozen=True, slots=True)
class Segment:
    """A stretch of a prompt; ``trusted`` ones come from the template, the others from messages."""

    text: str
    trusted: bool


@dataclass(frozen=True, slots=True)
class ChatTemplate:
    """Strings around the messages of a conversation.

    Attributes:
        name: Name of the format.
        mark: A string that only this format's own (Jinja) template contains.
        opening: Strings before a message, by role; an empty system one means that the format has no
            system role, and its text goes in front of the first user message.
        closing: Strings after a message, by role.
        stops: Control tokens that end the answer, besides the vocabulary's own.
    """

    name: str
    mark: str
    opening: dict[str, str]
    closing: dict[str, str]
    stops: tuple[str, ...]

    def render(self, messages: Sequence[ChatMessage], *, answer: bool = True) -> list[Segment]:
        """Segments of the conversation; the assistant's turn is opened at the end for an ``answer``."""
        segments: list[Segment] = []
        for message in self._with_system_role(messages):
            segments.append(Segment(self.opening[message.role], trusted=True))
            segments.append(Segment(message.content, trusted=False))
            segments.append(Segment(self.closing[message.role], trusted=True))
        if answer:
            segments.append(Segment(self.opening["assistant"], trusted=True))
        return [segment for segment in segments if segment.text]

    def _with_system_role(self, messages: Sequence[ChatMessage]) -> list[ChatMessage]:
        if self.opening["system"]:
            return list(messages)
        system = "\n\n".join(message.content for message in messages if message.role == "system")
        rest = [message for message in messages if message.role != "system"]
        if system and rest and rest[0].role == "user":
            rest[0] = ChatMessage("user", f"{system}\n\n{rest[0].content}")
        return rest


TEMPLATES = (
    ChatTemplate(
        name="chatml",
        mark="<|im_start|>",
        opening={role: f"<|im_start|>{role}\n" for role in ("system", "user", "assistant")},
        closing=dict.fromkeys(("system", "user", "assistant"), "<|im_end|>\n"),
        stops=("<|im_end|>", "<|im_start|>"),
    ),
    ChatTemplate(
        name="llama3",
        mark="<|start_header_id|>",
        opening={
            role: f"<|start_header_id|>{role}<|end_header_id|>\n\n"
            for role in ("system", "user", "assistant")
        },
        closing=dict.fromkeys(("system", "user", "assistant"), "<|eot_id|>"),
        stops=("<|eot_id|>",),
    ),
    ChatTemplate(
        name="gemma",
        mark="<start_of_turn>",
        opening={"system": "", "user": "<start_of_turn>user\n", "assistant": "<start_of_turn>model\n"},
        closing=dict.fromkeys(("system", "user", "assistant"), "<end_of_turn>\n"),
        stops=("<end_of_turn>",),
    ),
    ChatTemplate(
        name="mistral",
        mark="[INST]",
        opening={"system": "", "user": "[INST]", "assistant": ""},
        closing={"system": "", "user": "[/INST]", "assistant": "</s>"},
        stops=("</s>",),
    ),
)
"""Formats by the publishers' own model cards; the first whose mark a model's template holds is taken."""


def find_template(model_template: str) -> ChatTemplate | None:
    """The format of a model by the (Jinja) template stored in its file; None when it is unknown."""
    return next((template for template in TEMPLATES if template.mark in model_template), None)
