"""Words that say how something is asked, not what about.

In a small knowledge base «почему» may be rarer than the name of the product, so rarity alone would take
it for the heart of the question.
"""

from __future__ import annotations

from functools import cache

from pipeline.text.stems import keyword_terms

__all__ = ["function_terms"]

_RUSSIAN = """
и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот
от меня еще нет о об из ему когда даже ну ли если уже или ни быть был была были есть него до вас вам ведь
там потом себя ей может можно нужно надо они тут где для мы тебя их чем чтобы чтоб без кто кого кому кем
чего чему какой какая какие какое каком какую каких какими каким какому каково который которая которые
которое куда откуда почему зачем отчего сколько это этот эта эти этом этого того той тот та те том при
про над под между через после перед также является являются будет будут лишь мой моя мои свой своя свои
наш ваш чья чей чьи
"""
_ENGLISH = """
the a an is are was were be been being of to in on at for with from by as into about what which who whom
whose how why when where do does did done can could should would will shall may might must and or not no
if it its this that these those there i you we they he she my your our their his her have has had any some
than then also
"""


@cache
def function_terms() -> frozenset[str]:
    """Keyword terms of the function words of Russian and English."""
    return frozenset(keyword_terms(f"{_RUSSIAN} {_ENGLISH}"))
