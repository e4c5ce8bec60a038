"""Every text exists in Russian and English with the same placeholders; every error has its texts."""

import string

import pytest

from pipeline import errors
from pipeline.messages import entries, text

KINDS = ("errors", "cli", "answers")


def placeholders(template: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(template) if name is not None}


@pytest.mark.parametrize("kind", KINDS)
def test_both_languages_say_the_same(kind):
    for key, entry in entries(kind).items():
        for part in ("", "_hint"):
            if f"ru{part}" in entry or f"en{part}" in entry:
                assert placeholders(entry[f"ru{part}"]) == placeholders(entry[f"en{part}"]), key
        assert {"ru", "en"} <= entry.keys(), key


def test_russian_texts_are_russian():
    for kind in KINDS:
        for key, entry in entries(kind).items():
            assert any("а" <= letter <= "я" for letter in entry["ru"].lower()), f"{kind}.{key}"


def test_every_error_has_message_and_hint():
    classes = [getattr(errors, name) for name in errors.__all__]
    for error in classes:
        entry = entries("errors")[error.code]
        assert {"ru", "ru_hint", "en", "en_hint"} <= entry.keys(), error


def test_the_tree_in_the_docstring_names_every_error():
    for name in errors.__all__:
        assert name in (errors.__doc__ or ""), name


def test_placeholders_are_filled():
    error = errors.QuestionTooLongError(length=2001, limit=2000)
    assert error.message("ru") == "Вопрос слишком длинный: 2001 знаков при допустимых 2000."
    assert str(error) == (
        "The question is too long: 2001 characters, 2000 allowed. Shorten the question to 2000 characters."
    )


def test_a_missing_text_is_a_bug():
    with pytest.raises(KeyError):
        text("cli", "no_such_text", "ru")
