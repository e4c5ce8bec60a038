"""Questions proposed out of a knowledge base: from its headings and sentences, or by the language model.

A draft is only a beginning: a person looks at each of them. What it is made of is chosen by hashes of the
passages' ids, one file after another, so that a second run goes on where the first has ended.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Collection, Sequence

from pipeline.answer.calibration import foreign_questions
from pipeline.answer.own_questions import own_question
from pipeline.answer.units import split_units
from pipeline.library.drafts import Draft, MadeBy
from pipeline.ports import Progress
from pipeline.text.function_words import function_terms
from pipeline.text.language import detect_language
from pipeline.text.stems import keyword_terms
from pipeline.types import Chunk, Language

__all__ = ["AskModel", "draft_questions", "foreign_drafts"]

AskModel = Callable[[Chunk, Language], str]
"""What the language model would ask of a passage; empty where nothing usable came of it."""

FAR = "unanswerable_far"
"""``kind`` of a question about other things."""

_LONGEST = 30  # words of a sentence that is asked for whole
_SHORTEST = 4
_HEADING = (2, 14)  # words
_WORD = re.compile(r"[^\W_]+(?:[-._/'’][^\W_]+)*")
# What is counted in amounts a person asks for; a number alone may be a port, a code or a clause.
_UNITS = (
    r"(?:календарн|рабоч)?\w{0,4}\s?(?:дн|ден|час|минут|секунд|месяц|недел|лет|рубл|процент|раз|файл|вопрос|слов|знак"
    r"|символ|человек|штук|экземпляр|мб|гб|кг|метр|day|hour|minute|second|month|week|year|time|percent|file|word"
    r"|question|character|people|page|MB|GB|kg|met)"
)
_AMOUNT = re.compile(
    rf"(?<![\w.,:/№-])(?<!от )(?<!до )(?<!to )(\d{{1,3}}(?:[ \u00a0]\d{{3}})+|\d{{1,6}})(?= {_UNITS})",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:как|что|где|когда|почему|зачем|сколько|кто|кому|какой|какая|какие|куда|откуда|чем|можно ли|"
    r"how|what|where|when|why|who|which|can|does|do|is|are)\b",
    re.IGNORECASE,
)
_HOW_MANY: dict[Language, str] = {"ru": "сколько", "en": "how many"}


def draft_questions(
    chunks: Sequence[Chunk],
    count: int,
    *,
    taken: Collection[str] = (),
    ask: AskModel | None = None,
    progress: Progress | None = None,
) -> list[Draft]:
    """At most ``count`` drafts, from as many files as there are.

    Args:
        chunks: All passages.
        count: Drafts wanted.
        taken: Ids of passages that have had their question.
        ask: The language model, where it shall ask; what it makes nothing of is asked for without it.
        progress: Called with (drafts made, drafts wanted).
    """
    made: list[Draft] = []
    for chunk in _in_turn(chunks):
        if len(made) == count:
            break
        if chunk.id not in taken and (draft := _draft(chunk, ask)) is not None:
            made.append(draft)
            if progress is not None:
                progress(len(made), count)
    return made


def foreign_drafts(language: Language, count: int, taken: Collection[str] = ()) -> list[Draft]:
    """Questions about other things, which a knowledge base should have no answer to.

    Args:
        language: Of the questions.
        count: How many at most.
        taken: Ids of those that were proposed before.
    """
    found = [
        Draft(f"far-{_digest(question)}", question, "foreign", kind=FAR)
        for question in foreign_questions(language)
    ]
    return [draft for draft in found if draft.id not in taken][:count]


def _in_turn(chunks: Sequence[Chunk]) -> list[Chunk]:
    """One passage of every file, then the second of every file, and so on."""
    by_file: dict[str, list[Chunk]] = {}
    for chunk in sorted(chunks, key=lambda chunk: _digest(chunk.id)):
        by_file.setdefault(chunk.file, []).append(chunk)
    rounds = max(map(len, by_file.values()), default=0)
    return [line[turn] for turn in range(rounds) for line in by_file.values() if turn < len(line)]


def _draft(chunk: Chunk, ask: AskModel | None) -> Draft | None:
    language = detect_language(chunk.text)
    if ask is not None and (asked := ask(chunk, language)):
        return _made(chunk, asked, "model", _best_sentence(chunk))
    heading = (chunk.headings[-1] if chunk.headings else chunk.topic).strip()
    if _ASKS.match(heading) and _HEADING[0] <= len(heading.split()) <= _HEADING[1]:
        return _made(chunk, heading.rstrip(".!?: ") + "?", "heading", "")
    sentence = _best_sentence(chunk)
    amount = _AMOUNT.search(sentence)
    if amount is not None:
        asked = sentence[: amount.start()] + _HOW_MANY[language] + sentence[amount.end() :]
        return _made(chunk, asked.rstrip(".!?;:… ") + "?", "sentence", sentence, _answer(sentence, amount))
    if _HEADING[0] <= len(heading.split()) <= _HEADING[1]:
        return _made(chunk, heading, "heading", "")
    if len(keywords := _telling(own_question(chunk))) > 1:
        return _made(chunk, " ".join(keywords), "sentence", "")
    return None


def _made(chunk: Chunk, question: str, made: MadeBy, sentence: str, answer: str = "") -> Draft:
    return Draft(
        id=f"own-{chunk.id}",
        question=question,
        made=made,
        files=(chunk.file,),
        answer_any=(answer,) if answer else (),
        passages=(sentence,) if sentence else (),
        chunk_id=chunk.id,
    )


def _best_sentence(chunk: Chunk) -> str:
    """A sentence that states an amount, else the one that the hash says; empty where there is none."""
    texts = [
        " ".join(chunk.text[unit.start : unit.end].split())
        for unit in split_units(chunk.text)
        if unit.kind == "sentence"
    ]
    worded = [text for text in texts if _SHORTEST <= len(_WORD.findall(text)) <= _LONGEST]
    stating = [text for text in worded if _AMOUNT.search(text)]
    return min(stating or worded, key=_digest, default="")


def _answer(sentence: str, amount: re.Match[str]) -> str:
    """The amount with the word behind it: «28 календарных»."""
    unit = _WORD.search(sentence, amount.end())
    return sentence[amount.start() : unit.end()] if unit else amount.group()


def _telling(question: str) -> list[str]:
    """The words that say what a question is about."""
    return [word for word in question.split() if not function_terms().issuperset(keyword_terms(word))]


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]
