"""Words that say how something is asked or told, not what about, in Russian and English.

One list for all, and what each use adds to it: a question is weighed by its other words (a small knowledge
base may hold «почему» more seldom than the name of the product), a statement is compared by them, and a
language is told by these.
"""

from __future__ import annotations

from functools import cache

from pipeline.text.stems import keyword_terms

__all__ = ["ENGLISH", "RUSSIAN", "function_terms", "light_terms"]

_RUSSIAN = """
и в во не что он на с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от
меня еще нет о об из когда даже ну ли если уже или ни быть был была есть него до вас вам там может можно
надо они где для мы их чем без кто чего какой какая какие каком это этот эта при про чей
"""
_ENGLISH = """
the a an is are was were be been of to in on at for with from by as into what which who whom whose how
why when where do does did can could should would will may must and or not if it its this that these
those there i you we they he she your our have has had
"""
_OF_QUESTIONS = """
я ему были ведь потом себя ей нужно тут тебя чтобы чтоб кого кому кем чему какое какую каких какими
каким какому каково который которая которые которое куда откуда почему зачем отчего сколько эти этом
этого того той тот та те том над под между через после перед также является являются будет будут лишь
мой моя мои свой своя свои наш ваш чья чьи
being about done shall might no my their his her any some than then also
"""
_OF_STATEMENTS = """
более были весь всего всех здесь им ко которая которого которой котором которые который которых либо
между над нее ней них однако оно очень под сам свой также такие такой те тем того тоже той том тот ту
хотя через чтобы эти этого этой этом является являются
any but her his might no nor shall so some such than their them then too
"""
_OF_RUSSIAN = """
я ему нибудь ведь потом себя ничего ей тут ней тебя сам чтоб будто какое какую каких куда почему зачем
сколько нужно чья
"""
_OF_ENGLISH = """
my about
"""

RUSSIAN = frozenset((_RUSSIAN + _OF_RUSSIAN).split())
"""Words that tell Russian."""

ENGLISH = frozenset((_ENGLISH + _OF_ENGLISH).split())
"""Words that tell English."""


@cache
def function_terms() -> frozenset[str]:
    """Keyword terms that say how a question is asked."""
    return frozenset(keyword_terms(_RUSSIAN + _ENGLISH + _OF_QUESTIONS))


@cache
def light_terms() -> frozenset[str]:
    """Keyword terms without which a statement says the same."""
    return frozenset(keyword_terms(_RUSSIAN + _ENGLISH + _OF_STATEMENTS))
