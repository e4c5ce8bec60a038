"""Errors as values: kept, copied, raised again."""

from __future__ import annotations

import pytest

from pipeline.errors import IndexMismatchError, OtvetError, PromptTooLongError


def test_a_kept_error_is_raised_as_a_copy_that_does_not_grow() -> None:
    kept = PromptTooLongError(tokens=5, limit=4)
    kept.__cause__ = ValueError("engine")
    depths = []
    for _ in range(3):
        with pytest.raises(PromptTooLongError) as caught:
            raise kept.again()
        assert caught.value is not kept
        assert str(caught.value) == str(kept)
        assert caught.value.__cause__ is kept.__cause__
        depths.append(len(caught.traceback))
    assert len(set(depths)) == 1
    assert kept.__traceback__ is None


def test_a_copy_is_of_the_same_class() -> None:
    assert type(IndexMismatchError(reason="x").again()) is IndexMismatchError
    assert type(OtvetError().again()) is OtvetError
