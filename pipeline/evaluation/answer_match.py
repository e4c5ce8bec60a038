"""An answer against the texts that show a right one.

Words are compared as Russian needs it: ё = е, any dash, quote and space, «45 000» = «45000», and for the
measures over words by their stems, so that «двумя неделями» is as good as «две недели».
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence

from pipeline.text.function_words import light_terms
from pipeline.text.normalise import DASHES, clean_text, fold
from pipeline.text.stems import keyword_terms

__all__ = ["comparable", "shows", "word_scores"]

_QUOTES = str.maketrans(dict.fromkeys('«»“”„‟"`*', None))
_THOUSANDS = re.compile(r"(?<=\d) (?=\d{3}(?!\d))")


def comparable(text: str) -> str:
    """The form in which texts are looked for in others."""
    plain = fold(clean_text(text)).translate(DASHES).translate(_QUOTES)
    return _THOUSANDS.sub("", " ".join(plain.split()))


def shows(text: str, answers: Sequence[str]) -> bool:
    """True if any of the answers stands in a text."""
    said = comparable(text)
    return any(comparable(answer) in said for answer in answers)


def word_scores(text: str, answers: Sequence[str]) -> tuple[float, float]:
    """F1 and recall over the stems of content words, each against the answer it is best for.

    The measure of SQuAD (Rajpurkar et al., 2016) with stems for words. A right answer that is a single word
    leaves a whole sentence with a low F1 and a recall of 1.

    Args:
        text: The answer, without markers.
        answers: At least one.
    """
    pairs = [_scores(_words(text), _words(answer)) for answer in answers]
    return max(f1 for f1, _ in pairs), max(recall for _, recall in pairs)


def _words(text: str) -> Counter[str]:
    terms = keyword_terms(comparable(text))
    return Counter(term for term in terms if term not in light_terms()) or Counter(terms)


def _scores(said: Counter[str], right: Counter[str]) -> tuple[float, float]:
    common = (said & right).total()
    if not common:
        return 0.0, 0.0
    precision, recall = common / said.total(), common / right.total()
    return 2 * precision * recall / (precision + recall), recall
