"""Which language a question is in; the answer is given in the same one."""

from __future__ import annotations

import re

from pipeline.types import Language

__all__ = ["detect_language"]

_WORD = re.compile(r"[^\W\d_]+")
_CYRILLIC = re.compile("[а-яёіїєґў]", re.IGNORECASE)
_RUSSIAN_WORDS = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было
вот от меня еще нет о из ему когда даже ну ли если уже или ни быть был него до вас нибудь вам ведь
там потом себя ничего ей может они тут где есть надо ней для мы тебя их чем была сам чтоб без будто
какой какая какие какое каком какую каких кто чего куда почему зачем сколько это этот эта при об про
нужно можно ли чья чей
"""
_ENGLISH_WORDS = """
the a an is are was were be been of to in on at for with from by what which who whom whose how why
when where do does did can could should would will may must and or not if it its this that these
those i you we they he she my your our there have has had about into as
"""
_RUSSIAN = frozenset(_RUSSIAN_WORDS.split())
_ENGLISH = frozenset(_ENGLISH_WORDS.split())


def detect_language(text: str) -> Language:
    """``ru`` or ``en``; function words decide, then the number of words, and ``ru`` when all is equal.

    Function words come first because a Russian question often names more English identifiers than
    it has Russian words.
    """
    words = _WORD.findall(text.lower())
    russian = sum(word in _RUSSIAN for word in words)
    english = sum(word in _ENGLISH for word in words)
    if russian == english:
        russian = sum(bool(_CYRILLIC.search(word)) for word in words)
        english = len(words) - russian
    return "en" if english > russian else "ru"
