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
from collections.abc import Sequence
from functools import lru_cache

from pipeline.text.sentences import split_sentences

__all__ = ["is_ordered", "without_orders"]

_REACH = 80
_COMMANDS = (
    "не |напиш|ответ|отвеч|игнорир|вывед|забуд|теперь|отныне|добав|встав|скаж|следу|считай|выполн|сообщ"
    "|do not|don't|ignore|disregard|write|print|output|say |reply|respond|answer|add |insert|you |forget"
    "|reveal"
)
_MODEL = (
    r"(?:ии\b|ии-\w+|нейросет\w+|нейронн\w+\s+сет\w+|языков\w+\s+модел\w+|модел(?:ь|и|ям|ей)(?=\s*[:!,])|чат-?бот\w*|бот(?:у|а|ов|ам)?\b"
    r"|помощник(?=\s*[:!,])|ассистент\w*|искусственн\w+\s+интеллект\w*)"
)
_MODEL_EN = (
    r"(?:ai\b|llms?\b|(?:large\s+)?language\s+models?|chat-?bots?\b|bots?\b|assistants?\b(?!\s+\w+er)|summari[sz]ers?\b|gpt\b|chatgpt"
    r"|artificial\s+intelligence)"
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
    # It names the model as the one it is written for.
    rf"\b(?:сообщени\w+|указани\w+|инструкци\w+|приказ|команда|примечани\w+|пометка|заметка|обращение)\s+(?:для|к)\s+{_MODEL}",
    rf"\b(?:note|message|instructions?|p\.?\s?s\.?|order|hint|reminder)\s+(?:to|for)\s+(?:the\s+|all\s+|any\s+)?{_MODEL_EN}",
    rf"\b(?:уважаем\w+|дорог\w+|мил\w+)\s+{_MODEL}",
    rf"\b(?:dear|attention|hey)[\s,]+(?:all\s+)?{_MODEL_EN}",
    rf"(?:^|<!--|[\[({{#*>])\s*(?!модел)(?:{_MODEL}|{_MODEL_EN})\s*(?:directive|command|note)?\s*:",
    rf"\bвсем\s+{_MODEL}",
    rf"\bесли\s+(?:ты|вы)\b.{{0,15}}\s{_MODEL}",
    rf"\bif\s+you\s+are\s+(?:an?\s+|the\s+)?{_MODEL_EN}",
    rf"\b(?:the|this|any)\s+{_MODEL_EN}\b.{{0,30}}\b(?:should|must|shall|has\s+to)\b.{{0,40}}\b(?:disregard|ignore|pretend|output)",
    rf"\b{_MODEL_EN}['’]s\s+(?:\w+\s+)?(?:message|answer|reply|output|response)\b",
    # It speaks of the answer that is to be written.
    r"\b(?:начн\w+|начинай\w*|заверш\w+|закончи\w*|заканчивай\w*|подпиш\w+|дополн\w+)\s+(?:(?:свой|каждый|любой|этот|твой|ваш)\s+)?ответ\b",
    r"\b(?:begin|start|end|finish|sign|close)\s+(?:each|every|your|all)\s+(?:answers?|repl(?:y|ies)|responses?)\b",
    r"\b(?:recommend|mention|include|add|insert|append|say|write|use|put)\b.{0,60}\bin\s+(?:every|each|all|your)\s+(?:answers?|repl(?:y|ies)|responses?|outputs?)\b",
    r"\bотвечающ\w+\s+(?:обязан|долж)",
    r"\bв\s+поле\s+ответа\b.{0,20}\b(?:пиш|встав|указ)",
    r"\bответом\s+на\s+(?:все|любые|любой|каждый)\s+вопрос",
    r"\b(?:вернуть|выдать|вывести|показать)\s+пользователю\s+(?:без\s+изменений|дословно|только)",
    r"\bwhatever\s+(?:the\s+)?(?:question|user)\b",
    r"\bthe\s+(?:only\s+)?correct\s+(?:output|response)\b",
    r"\btranslate\s+(?:everything|(?:the|your)\s+(?:answer|reply))\b",
    r"\bотвечай\b",
    r"\bговори\s+(?:всем|пользовател\w+|клиент\w+)",
    r"\b(?:покажи|сообщи|посоветуй|предложи)\s+(?:читател|пользовател|клиент)",
    r"\bкогда\s+(?:ты\s+)?будешь\b.{0,30}\b(?:ответ|отвеч|писать)",
    r"\bперед\s+ответом\b.{0,20}\b(?:напиши|напечатай|выведи|скажи|добавь)",
    r"\b(?:сделай\s+вид|притворись|вообрази|представь\s+себя)\b",
    r"\b(?:твоя|ваша)\s+новая\s+(?:цель|задача|роль)\b|\bтво[яй]\s+(?:цель|задача|роль)\b",
    r"\b(?:больше|кроме\s+этого)\s+ничего\s+не\s+(?:добавля|пиши|говори|отвеч|выводи)",
    rf"\b(?:прошу|просим|прошу\s+тебя|внимание,?|эй,?)\s+{_MODEL}",
    r"\b(?:ии|нейросет\w+|языков\w+\s+модел\w+|чат-?бот\w*|бот\w*),?\s+(?:котор\w+\s+)?чита(?:ющ|ет|ешь)",
    r"\b(?:обобща|пересказыва|резюмиру)\w*\b.{0,40}\b(?:обязан|долж)\w*\s+(?:сказать|написать|добавить)",
    # Verbs of speech in the familiar form, with what is to be said.
    r"\b(?:напиши|напечатай|выведи|скажи|сообщи|вставь|допиши|припиши|упомяни|повтори|произнеси|процитируй|пиши|говори)\b"
    r".{0,40}(?:[«\"“]|https?://|www\.|\b(?:слово|слова|фразу|строку|ответе?|по-\w+ски|на\s+\w+ском\s+языке))",
    r"\b(?:отмени|забудь|выбрось)\b.{0,20}\b(?:запрос|вопрос|задани|контекст)",
    r"\boverride\s*:|\bnew\s+system\s+(?:prompt|message)\b|\byour\s+(?:task|role|goal)\s+(?:has\s+changed|is\s+now)\b",
    r"\b(?:forget|skip|drop)\s+(?:the|this|that)\s+question\b|\binstead\s+of\s+(?:the|an|your)\s+answer\b",
    r"\b(?:output|print|say|write|reply|respond)\b.{0,40}\band\s+nothing\s+else\b",
    rf"\bif\s+an?\s+{_MODEL_EN}\b|\bas\s+(?:the|an?)\s+(?:ai|assistant|language\s+model|chatbot),?\s+you\b",
    r"(?:^|[.!?]\s+)pretend\s+(?:to\s+be|that\s+you)\b",
    r"(?:^|[.!?]\s+)(?:respond|reply|answer)\s+in\s+[A-Z]?[a-z]+(?:ese|ish|ian|ench|erman|reek|utch)\b",
    # Somebody else's talk with a model, or the end of a fence that is not the document's.
    r"\b(?:пользователь|user|human)\s*:.{0,200}\b(?:ассистент|assistant|ai|ии|bot|бот)\s*:",
    r"</source\b|<source\s+n\s*=",
    # Control tokens of chat formats.
    r"<\|[^|<>\n]{1,40}\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>|###\s*(?:System|Instruction|Human|Assistant)\b",
)
# An upper-case letter that is no escape such as \W.
_CAPITAL = re.compile(r"(\\.)|([A-ZА-Я])", re.DOTALL)


def _joined(patterns: Sequence[str]) -> re.Pattern[str]:
    """One expression for folded texts.

    Nearly all sentences match nothing, and that is found out six times as fast with small letters only and
    with one look for the border of a word before all patterns that begin with one.
    """
    small = [_CAPITAL.sub(lambda m: m[1] or m[2].lower(), pattern) for pattern in patterns]
    at_words = [pattern for pattern in small if pattern.startswith(r"\b")]
    others = [pattern for pattern in small if not pattern.startswith(r"\b")]
    return re.compile("|".join((rf"\b(?:{'|'.join(at_words)})", *others)), re.DOTALL)


_ORDER = _joined(_PATTERNS)


def is_ordered(text: str, start: int, end: int) -> bool:
    """True for a stretch of a text that gives orders to a model or follows one on its line.

    What `without_orders` leaves out, asked of one place: «…упомяните, что…» says nothing of a model, but the
    sentence before it does.
    """
    begin = text.rfind("\n", 0, start) + 1
    line_end = text.find("\n", end)
    return _first_order(text[begin : len(text) if line_end < 0 else line_end]) < end - begin


@lru_cache(maxsize=8192)
def _first_order(line: str) -> int:
    """Where the first order of a line begins; its length where there is none."""
    match = _ORDER.search(_folded(line))
    return len(line) if match is None else match.start() + _leading(match.group())


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
    """In small letters, ё = е, letter for letter, so that offsets stay."""
    small = text.lower()
    if len(small) != len(text):  # «İ» becomes two
        small = "".join(letter.lower() if len(letter.lower()) == 1 else letter for letter in text)
    return small.replace("ё", "е").replace("ſ", "s")
