"""A journal gives back what was put, and after a crash what was whole."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from pipeline.ports import EmbedderSpec
from pipeline.stores.journal import Journal
from pipeline.stores.vector_book import MemoryBook, VectorBook, text_key

Entry = tuple[bytes, NDArray[np.float32], tuple[NDArray[np.int8], NDArray[np.int32]] | None]


def entries(count: int, dimension: int = 3) -> list[Entry]:
    rng = np.random.default_rng(5)
    made: list[Entry] = []
    for number in range(count):
        tokens = None
        if number % 2:
            values = rng.integers(-127, 128, (number, dimension)).astype(np.int8)
            tokens = (values, rng.integers(-1, 999, (number, 2)).astype(np.int32))
        made.append((bytes([number]) * 32, rng.standard_normal(dimension).astype(np.float32), tokens))
    return made


def assert_holds(book: VectorBook, entry: Entry) -> None:
    key, vector, tokens = entry
    assert book.has(key, with_tokens=False)
    assert book.has(key, with_tokens=True) is (tokens is not None)
    assert np.array_equal(book.vector(key), vector)
    assert book.vector(key).dtype == np.float32
    if tokens is not None:
        values, spans = book.tokens(key)
        assert (values.dtype, spans.dtype) == (np.int8, np.int32)
        assert np.array_equal(values, tokens[0])
        assert np.array_equal(spans, tokens[1])
        assert book.count(key) == len(values)


def filled(path: Path, count: int = 6) -> list[int]:
    """Write entries; where each one ends in the file."""
    ends = []
    with Journal(path) as journal:
        for entry in entries(count):
            journal.put(*entry)
            ends.append(path.stat().st_size)
    return ends


@pytest.mark.parametrize("kind", ["memory", "file"])
def test_what_is_put_comes_back(tmp_path: Path, kind: str) -> None:
    book: VectorBook = MemoryBook() if kind == "memory" else Journal(tmp_path / "journal")
    for entry in entries(6):
        assert not book.has(entry[0], with_tokens=False)
        book.put(*entry)
        assert_holds(book, entry)
    book.flush()
    for entry in reversed(entries(6)):
        assert_holds(book, entry)
    with pytest.raises(KeyError):
        book.tokens(bytes(32))
    with pytest.raises(KeyError):
        book.vector(b"?")
    if isinstance(book, Journal):
        book.remove()
        assert not list(tmp_path.iterdir())


def test_nothing_is_written_before_the_first_record(tmp_path: Path) -> None:
    with Journal(tmp_path / "journal") as journal:
        journal.flush()
        assert len(journal) == 0
        journal.remove()
    assert not list(tmp_path.iterdir())


def test_the_next_run_finds_everything_and_goes_on(tmp_path: Path) -> None:
    filled(tmp_path / "journal", 4)
    with Journal(tmp_path / "journal") as journal:
        assert len(journal) == 4
        for entry in entries(6)[4:]:
            journal.put(*entry)
    with Journal(tmp_path / "journal") as journal:
        for entry in entries(6):
            assert_holds(journal, entry)


def test_tokens_that_come_later_win(tmp_path: Path) -> None:
    key, vector, tokens = entries(2)[1]
    with Journal(tmp_path / "journal") as journal:
        journal.put(key, vector, None)
        journal.put(key, vector, tokens)
    with Journal(tmp_path / "journal") as journal:
        assert_holds(journal, (key, vector, tokens))


def test_a_file_cut_anywhere_keeps_the_whole_records(tmp_path: Path) -> None:
    """A crash in the middle of a record."""
    ends = filled(tmp_path / "whole")
    data = (tmp_path / "whole").read_bytes()
    path = tmp_path / "journal"
    for size in range(len(data)):
        path.write_bytes(data[:size])
        with Journal(path) as journal:
            whole = sum(end <= size for end in ends)
            assert len(journal) == whole
            for entry in entries(6)[:whole]:
                assert_holds(journal, entry)
            journal.put(*entries(6)[5])
        with Journal(path) as journal:
            assert len(journal) == whole + 1


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(place=st.integers(0, 10**6), bit=st.integers(0, 7))
def test_a_flipped_bit_is_never_believed(tmp_path: Path, place: int, bit: int) -> None:
    path = tmp_path / "journal"
    path.unlink(missing_ok=True)
    ends = filled(path)
    data = bytearray(path.read_bytes())
    place %= len(data)
    data[place] ^= 1 << bit
    path.write_bytes(data)
    with Journal(path) as journal:
        assert len(journal) == sum(end <= place for end in ends)
        for entry in entries(6)[: len(journal)]:
            assert_holds(journal, entry)


@pytest.mark.parametrize("tail", [b"\0" * 4096, random.Random(3).randbytes(4096), b"OVJ1" * 1000])
def test_noise_after_the_last_record_is_dropped(tmp_path: Path, tail: bytes) -> None:
    """A power loss can leave zeros or anything else where data had not arrived."""
    path = tmp_path / "journal"
    size = filled(path)[-1]
    with path.open("ab") as stream:
        stream.write(tail)
    with Journal(path) as journal:
        assert len(journal) == 6
    assert path.stat().st_size == size


def test_a_key_tells_embedders_and_texts_apart() -> None:
    spec = EmbedderSpec("a/int8", 384, "e5", 500)
    others = [
        EmbedderSpec("b/int8", 384, "e5", 500),
        EmbedderSpec("a/int8", 383, "e5", 500),
        EmbedderSpec("a/int8", 384, "none", 500),
    ]
    keys = {text_key(spec, "x"), text_key(spec, "y"), text_key(spec, "\ud800")}
    keys |= {text_key(other, "x") for other in others}
    assert len(keys) == 6
    assert text_key(EmbedderSpec("a/int8", 384, "e5", 9), "x") in keys
