"""Bytes of tokens to text that can be shown."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from pipeline.generators.text_stream import TextStream


def _pieces(data: bytes, cuts: list[int]) -> list[bytes]:
    borders = [0, *sorted(cut % (len(data) + 1) for cut in cuts), len(data)]
    return [data[start:end] for start, end in pairwise(borders)]


def _run(stream: TextStream, pieces: list[bytes]) -> list[str]:
    return [*(stream.push(piece) for piece in pieces), stream.close()]


@given(st.text(), st.lists(st.integers(0, 1000)))
def test_any_cut_of_the_bytes_gives_the_text_and_no_broken_character(text: str, cuts: list[int]) -> None:
    out = _run(TextStream(), _pieces(text.encode(), cuts))
    assert "".join(out) == text
    assert all("\ufffd" not in piece for piece in out) or "\ufffd" in text


@given(st.text("аб§", max_size=30), st.text("аб§", min_size=1, max_size=3), st.lists(st.integers(0, 99)))
def test_a_stop_string_ends_the_text_however_it_is_cut(text: str, stop: str, cuts: list[int]) -> None:
    stream = TextStream((stop,))
    out = _run(stream, _pieces(text.encode(), cuts))
    assert "".join(out) == text.split(stop, maxsplit=1)[0]
    assert stream.stopped == (stop in text)


def test_letters_come_out_as_soon_as_they_cannot_belong_to_a_stop_string() -> None:
    stream = TextStream(("\n\nВопрос:",))
    assert stream.push("28 дней".encode()) == "28 дней"
    assert stream.push(b"\n") == ""
    assert stream.push("\nВопрос".encode()) == ""
    assert stream.push("ы есть".encode()) == "\n\nВопросы есть"
    assert not stream.stopped


def test_the_earliest_of_two_stop_strings_counts() -> None:
    stream = TextStream(("###", "\n"))
    assert stream.push(b"one\ntwo###") == "one"
    assert stream.push(b"more") == ""
    assert stream.close() == ""


def test_half_a_character_at_the_end_is_dropped() -> None:
    stream = TextStream()
    assert stream.push("да".encode()[:3]) == "д"
    assert stream.close() == ""


def test_empty_stop_strings_are_ignored() -> None:
    assert TextStream(("",)).push(b"text") == "text"
