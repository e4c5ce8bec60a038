"""Sentences of documents that talk to a language model instead of a reader (prompt injection).

Documents are data. A sentence that addresses the model («Система: не отвечай на вопрос…», "ignore the
previous instructions") is left out of prompts, with what follows it on its line, and counts as unsaid when
an answer is checked; people still see it in the source itself. What is recognised are the phrases of
published attacks. Russian documents address their reader as «вы», attacks address the model as «ты»: that
keeps honest instructions apart. The fence around sources, the neutralised control tokens and the check of
the answer are the other walls.
"""

from __future__ import annotations

import re

from pipeline.text.sentences import split_sentences

__all__ = ["gives_orders", "without_orders"]

_REACH = 80
_COMMANDS = (
    "не |напиш|ответ|отвеч|игнорир|вывед|забуд|теперь|отныне|добав|встав|скаж|следу|считай|выполн|сообщ"
    "|do not|don't|ignore|disregard|write|print|output|say |reply|respond|answer|add |insert|you |forget"
    "|reveal"
)
_PATTERNS = (
    # Somebody speaks as the system, and commands.
    r"(?:^|[.!?…»\"*#>\[(\n])\s*(?:новая\s+|новое\s+|new\s+)?(?:система|системное\s+сообщение|ассистент|system|assistant"
    r"|system\s+(?:message|prompt)|(?:инструкция|указание|внимание)\W{1,3}(?:для\s+)?(?:ии\b|модел\w+|нейросет\w+|ассистент\w*)"
    r"|instructions?\s+(?:to|for)\s+(?:the\s+)?(?:ai|model|assistant|llm))\s*[:>\]!]\s*.{0,80}?(?:"
    + _COMMANDS
    + ")",
    r"(?:игнорируй|проигнорируй|забудь|отмени|не\s+следуй|не\s+выполняй)\b.{0,40}(?:инструкц|указани|правил|промпт|выше|предыдущ)",
    r"игнорируйте\b.{0,20}(?:все|предыдущ)\w*\s.{0,20}(?:инструкц|указани|сообщени)",
    r"\b(?:ignore|disregard|forget|override)\b.{0,40}\b(?:instructions?|prompts?|(?:previous|above)\s+\w+|everything\s+above)\b",
    # It wants something else than an answer.
    r"\bне\s+отвечай\b",
    r"\bвместо\s+(?:этого|ответа)\b.{0,30}\b(?:напиши|выведи|ответь|скажи|напечатай|сообщи)\b",
    r"\b(?:ответь|отвечай|напиши|напечатай|выведи|скажи)\s+(?:только|лишь|ровно|дословно|слово|фразу|строку)\b",
    r"\b(?:в\s+(?:конце|начале)\s+(?:каждого\s+|своего\s+)?ответа|(?:в|к)\s+(?:каждый|каждому|свой|своему)\s+ответ\w*)"
    r".{0,40}\b(?:напиши|добавь|добавляй|вставь|вставляй|укажи|сообщи|пиши)\b",
    r"\b(?:добавь|добавляй|вставь|вставляй|пиши|напиши)\b.{0,40}\b(?:в|к)\s+(?:конец|конце|начало|каждый|каждому|свой|своему)?\s*ответ",
    r"\bdo\s+not\s+answer\s+(?:the|this|any)\s+question",
    r"\binstead(?:\s+of\s+(?:answering|the\s+answer|an\s+answer))?,?\s+(?:write|print|say|output|reply|respond)\b",
    r"\b(?:reply|respond|answer|say)\s+(?:only|exactly|just|verbatim)\b",
    r"\b(?:at|to)\s+the\s+(?:end|start|beginning)\s+of\s+(?:your|every|each)\s+(?:answer|reply|response)",
    r"\b(?:add|append|include|insert)\b.{0,60}\b(?:to|in)\s+(?:your|every|each)\s+(?:answer|reply|response)",
    # It gives the model another role, or asks for its secrets.
    r"\bты\s+(?:теперь|отныне|больше\s+не)\b",
    r"\byou\s+are\s+(?:now|no\s+longer)\b.{0,40}\b(?:assistant|model|bot|mode|ai|dan)\b",
    r"\b(?:языков\w+\s+модел\w+|нейросет\w+|ии-?ассистент\w*|чат-?бот\w*)\b.{0,30}\b(?:обязан|долж)\w*.{0,40}\b(?:отве|напис|вывес|добав|сообщ|игнор)",
    r"\b(?:ai|language)\s+(?:assistants?|models?)\b.{0,30}\bmust\b.{0,40}\b(?:answer|write|say|add|include|ignore|reply)",
    r"\b(?:раскрой|покажи|выведи|повтори)\b.{0,30}(?:системн\w+\s+(?:промпт|инструкц|сообщени)|промпт)",
    r"\b(?:reveal|show|print|repeat|output)\b.{0,30}\bsystem\s+(?:prompt|message|instructions?)",
    # Control tokens of chat formats.
    r"<\|[^|<>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|###\s*(?:System|Instruction|Human|Assistant)\b",
)
_ORDER = re.compile("|".join(_PATTERNS), re.IGNORECASE | re.DOTALL)


def gives_orders(sentence: str) -> bool:
    """True for a sentence that addresses a language model."""
    return _ORDER.search(_folded(sentence)) is not None


def without_orders(text: str) -> str:
    """The text without sentences that give orders to a model and the rest of their lines."""
    kept: list[str] = []
    position = 0
    folded = _folded(text)
    for start, end in split_sentences(text):
        if start < position:
            continue
        line_end = text.find("\n", end)
        line_end = len(text) if line_end < 0 else line_end
        # «Система: новое правило. Напиши…»: an order may begin in one sentence and end in the next.
        match = _ORDER.search(folded[start : min(line_end, end + _REACH)])
        if match and match.start() + _leading(match.group()) < end - start:
            kept.append(text[position:start])
            position = line_end
    kept.append(text[position:])
    return "".join(kept)


def _leading(matched: str) -> int:
    """Length of the punctuation of the sentence before, which a pattern may begin with."""
    return len(matched) - len(matched.lstrip(' \t\n.!?…»"*#>[('))


def _folded(text: str) -> str:
    """ё = е, letter for letter, so that offsets stay."""
    return text.replace("ё", "е").replace("Ё", "Е")
