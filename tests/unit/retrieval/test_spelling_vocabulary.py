"""The vocabulary of an index, searched by spelling: the quick way finds what a plain one finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.spelling import _LOOKALIKES, Vocabulary, edit_distance

words = st.text(alphabet="аbвсcоoеeнhტ漢𐐀ёзж", min_size=1, max_size=10)


def plainly_nearest(terms, term):
    """The rules of `Vocabulary.nearest`, word by word."""
    known = [word for word in terms if word.isalpha()]
    look = term.translate(_LOOKALIKES)
    alike = sorted(word for word in known if word.translate(_LOOKALIKES) == look)
    if alike:
        return {(word, 0.95) for word in alike[:3]}, True
    limit = 2 if len(term) >= 8 else 1 if len(term) >= 4 else 0
    for distance in range(1, limit + 1):
        near = {word for word in known if edit_distance(word, term, distance) <= distance}
        if distance == 2:
            near = {word for word in near if word[0] == term[0]}
        if near:
            return {(word, {1: 0.8, 2: 0.6}[distance]) for word in near}, False
    return set(), True


@given(st.lists(words, unique=True, max_size=12), words)
def test_nearest_is_what_the_rules_say(terms, term):
    found = Vocabulary(terms).nearest(term)
    expected, exact = plainly_nearest(terms, term)
    assert set(found) == expected if exact else set(found) <= expected
    assert len(found) == min(len(expected), 3)


@pytest.mark.parametrize(
    ("terms", "term", "found"),
    [
        (["склад", "cклад"], "склaд", {"склад", "cклад"}),  # Latin letters in three places
        (["ограничен"], "огранечен", {"ограничен"}),
        (["ограничен"], "огарничен", {"ограничен"}),
        (["упд-5", "42"], "упд-6", set()),
        ([], "слово", set()),
        (["год"], "гид", set()),  # too short to guess
    ],
)
def test_known_cases(terms, term, found):
    """Codes and short words are never guessed at."""
    assert {word for word, _ in Vocabulary(terms).nearest(term)} == found
