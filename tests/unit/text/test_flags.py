"""Flags of a question."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.text.flags import parse_flags


@pytest.mark.parametrize(
    "question",
    ["-s -ce", "-s", "--", " -s", "-5", "-5 -s", "", "   ", "-k -3 -t"],
)
def test_flags_alone_leave_no_text(question: str) -> None:
    """Case 32."""
    assert parse_flags(question).text == ""


@pytest.mark.parametrize(
    "question",
    [
        "-", "-5 градусов — это холодно?", "—s", "-S", "-ces", "-0", "-10", "-s?",
        "ключ -s в команде", "что делает git commit -s?", "grep -ce шаблон файл", '"-s"', "вопрос -S",
    ],
)  # fmt: skip
def test_text_that_only_looks_like_flags_stays_word_for_word(question: str) -> None:
    """Cases 32 and 33."""
    parsed = parse_flags(question)
    assert (parsed.text, parsed.flags) == (question, ())


@pytest.mark.parametrize(
    ("question", "text", "flags"),
    [
        ("что такое -s -ce", "что такое", ("-s", "-ce")),
        ("-s -k отпуск  28 дней -3", "отпуск  28 дней", ("-s", "-k", "-3")),
        ("отпуск\xa0-t", "отпуск", ("-t",)),
        ("отпуск\n-s\n", "отпуск", ("-s",)),
        ("\ufeff-s отпуск", "отпуск", ("-s",)),
        ("-- git commit -s", "git commit -s", ()),
        ("-s -- git commit -k", "git commit -k", ("-s",)),
        ("-- -s", "-s", ()),
        ("-- --", "--", ()),
        ("git commit -s --", "git commit -s", ()),
        ("что такое -- -s", "что такое -s", ()),
        ("git checkout -- файл -s", "git checkout -- файл", ("-s",)),
        ("-3 дня -s", "-3 дня", ("-s",)),
    ],
)
def test_flags_are_read_at_both_ends(question: str, text: str, flags: tuple[str, ...]) -> None:
    """Case 33: the letter flags at the start, all of them at the end, ``--`` ends reading."""
    parsed = parse_flags(question)
    assert (parsed.text, parsed.flags) == (text, flags)


def test_flags_set_what_they_mean_and_the_later_one_wins() -> None:
    parsed = parse_flags("-k отпуск -d -2 -7 -s -ce -t")
    assert (parsed.strategy, parsed.sources_limit) == ("dense", 7)
    assert parsed.scores
    assert parsed.reranker == "cross-encoder"
    assert parsed.timings
    plain = parse_flags("отпуск")
    assert (plain.strategy, plain.reranker, plain.sources_limit, plain.scores) == (None, None, None, False)


@given(st.lists(st.sampled_from(["-s", "-ce", "-k", "-5", "--", "-", "слово", "-x"]), max_size=7))
def test_no_word_is_lost_or_made_up(words: list[str]) -> None:
    parsed = parse_flags(" ".join(words))
    kept = [*parsed.text.split(), *parsed.flags]
    missing = sorted(words)
    for word in kept:
        missing.remove(word)
    assert missing in ([], ["--"])
