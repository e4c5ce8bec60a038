"""A sentence of a source as it is compared with those of others: its subject, its values, its yes or no."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cache, cached_property, lru_cache

from pipeline.answer.facts import Fact, find_facts
from pipeline.answer.support import content_terms
from pipeline.answer.values import Value, values_of
from pipeline.text.normalise import fold

__all__ = ["Said", "identifiers", "said", "subject_of_title"]

_NEUTRAL = """
составлять составляет составит длиться длится равен равна равно является стоит стоимость занимает положено
предоставляется дается платят выплачивают подают подавать нужно нужна нужен нужны необходимо необходима
требуется должен должна должно следует всего каждый каждого каждое ежегодный ежегодного календарных
календарный сотрудник сотрудника сотруднику сотрудники работник работника работнику год года месяц месяца
число числа размер получают получает получить имеет имеется находится считается работает использует слушает
there get gets got has have need needs needed required employees employee takes take lasts last costs cost
pay paid amounts is equals every each total number size uses listens works
"""
_GENRES = """
положение памятка правила регламент инструкция вопросы ответы руководство политика приказ справка порядок
график условия настройка параметры описание информация цена цены тарифы
price prices faq guide manual policy rules terms settings setup handbook about notes quick start
"""
_NEGATION = re.compile(
    r"\b(?:не|нет|нельзя|запрещ\w+|not|no|never|cannot|\w+n['’]t|prohibit\w*|forbid\w*|forbidden)(?!\w)",
    re.IGNORECASE,
)
_PERMISSION = re.compile(
    r"\b(?:можно|разреш\w+|допуска\w+|запрещ\w+|нельзя|allowed|permitted|prohibited|forbidden|can|cannot|may)(?!\w)",
    re.IGNORECASE,
)
# The first of a pair is yes, the second no; both are replaced by the first.
_OPPOSITES = (
    (
        r"включ[её]н\w*|включ(?:ить|ать|ает\w*)",
        r"(?:вы|от)ключ[её]н\w*|(?:вы|от)ключ(?:ить|ать|ает\w*)",
        "включено",
    ),
    (r"обязател\w+", r"необязател\w+", "обязательно"),
    (r"плат(?:ный|ная|ное|ные|но)", r"бесплат\w+", "платно"),
    (r"доступ(?:ен|на|но|ны)", r"недоступ\w+", "доступно"),
    (r"возмож(?:ен|на|но|ны)", r"невозмож\w+", "возможно"),
    (r"enabled?|on by default", r"disabled?|off by default", "enabled"),
    (r"required|mandatory", r"optional", "required"),
    (r"possible", r"impossible", "possible"),
    (r"supported", r"unsupported", "supported"),
    (r"available", r"unavailable", "available"),
)
_SIGNS = tuple(
    (re.compile(rf"\b(?:{yes})(?!\w)", re.IGNORECASE), re.compile(rf"\b(?:{no})(?!\w)", re.IGNORECASE), word)
    for yes, no, word in _OPPOSITES
)
_ANY_SIGN = re.compile("|".join(f"{yes}|{no}" for yes, no, _ in _OPPOSITES), re.IGNORECASE)
_COMPARISON = re.compile(
    r"\b(?:бол(?:ее|ьше)|мен(?:ее|ьше)|длиннее|дольше|короче|выше|ниже|раньше|позже|позднее|реже|чаще|превыша\w+"
    r"|than|more|less|longer|later|earlier|exceed|only|только|лишь|если|if|unless|without|без|кроме|except)\b",
    re.IGNORECASE,
)
_PLACED = re.compile(
    r"\b(по|за|в|во|на|под|над|до|от|из|с|со|к|ко|у|перед|после|при|между|вне|внутри|без|для|через|in|on|at|under|over|before"
    r"|after|inside|outside|from|to|within|for|without|between|by)\s+(?:the\s+|a\s+)?([^\W\d_]+)",
    re.IGNORECASE,
)
# "May" is no content word: it is taken for the verb.
_IN_A_MONTH = re.compile(
    r"\b(?:[Ii]n|[Oo]f|[Ss]ince|[Uu]ntil|[Bb]y|[Ff]rom)\s+((?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]*)"
)
_IDENTIFIER = re.compile(r"[A-Za-z]+\d\w*|[a-z]+[A-Z]\w*|[A-Z][a-z]+[A-Z]\w*|\w+_\w+|[А-ЯЁA-Z]+-\d+")


class Said:
    """What a sentence says; each part is worked out when it is first asked for.

    Args:
        text: The sentence.
    """

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def values(self) -> tuple[Value, ...]:
        """Its figures."""
        return tuple(values_of(self._text, self._facts))

    @property
    def yes(self) -> bool:
        """True unless it denies."""
        return self._bare[1]

    @cached_property
    def plain(self) -> bool:
        """True if its yes or no can be compared: no condition, no comparison."""
        return _COMPARISON.search(self._text) is None

    @cached_property
    def subject(self) -> frozenset[str]:
        """Content terms apart from values, yes-or-no words and words that say nothing by themselves."""
        return frozenset(content_terms(self._bare[0])) - _neutral()

    @cached_property
    def placed(self) -> Mapping[str, str]:
        """Preposition before a term of the subject: «по городу» and «за город» are two things."""
        return {
            term: fold(match[1])[:2]
            for match in _PLACED.finditer(self._bare[0])
            for term in content_terms(match[2])
        }

    @cached_property
    def codes(self) -> frozenset[str]:
        """Codes, «names» and English months it holds, in the form they are compared in."""
        places = {(value.start, value.end) for value in self.values}
        return frozenset(match[1] for match in _IN_A_MONTH.finditer(self._text)) | frozenset(
            min(fact.keys)
            for fact in self._facts
            if fact.kind in ("code", "name") and (fact.start, fact.end) not in places
        )

    @cached_property
    def _facts(self) -> list[Fact]:
        return find_facts(self._text)

    @cached_property
    def _bare(self) -> tuple[str, bool]:
        return _without_sign(_without(self._text, self.values))


@lru_cache(maxsize=8192)
def said(text: str) -> Said:
    """Take a sentence apart; the same ones come up again and again."""
    return Said(text)


def subject_of_title(title: str) -> frozenset[str]:
    """Content terms of a title, words for a kind of document left out."""
    return frozenset(content_terms(title)) - frozenset(content_terms(_GENRES)) - _neutral()


def identifiers(text: str) -> frozenset[str]:
    """Codes and identifiers of a title."""
    return frozenset(fold(match.group()) for match in _IDENTIFIER.finditer(text))


@cache
def _neutral() -> frozenset[str]:
    return frozenset(content_terms(_NEUTRAL))


def _without(text: str, values: tuple[Value, ...]) -> str:
    pieces, position = [], 0
    for value in values:
        pieces += [text[position : max(position, value.start)], value.between]
        position = max(position, value.end)
    return " ".join((*pieces, text[position:]))


def _without_sign(text: str) -> tuple[str, bool]:
    """The sentence without its yes or no, and which of them it was."""
    noes = len(_NEGATION.findall(text))
    text = _NEGATION.sub(" ", _PERMISSION.sub(lambda m: " " if not _NEGATION.fullmatch(m[0]) else m[0], text))
    for yes, no, word in _SIGNS if _ANY_SIGN.search(text) else ():
        text, denied = no.subn(f" {word} ", text)
        noes += denied
        text = yes.sub(f" {word} ", text)
    return text, noes % 2 == 0
