"""Token vectors in one byte a number."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.stores.token_store import GatheredTokens, pack_tokens, quantise, starts_of


def rows(count: int, dimension: int = 384) -> np.ndarray:
    vectors = np.random.default_rng(1).standard_normal((count, dimension)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_rows_come_back_with_length_one_and_the_same_direction() -> None:
    vectors = rows(50)
    spans = np.stack([np.arange(50), np.arange(50) + 1], axis=1).astype(np.int32)
    store = pack_tokens([(quantise(vectors[:20]), spans[:20]), (quantise(vectors[20:]), spans[20:])], 384)
    assert len(store) == 2
    found = np.concatenate([store[0].vectors, store[1].vectors])
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-6)
    assert (np.einsum("ij,ij->i", found, vectors) > 0.9995).all()
    assert np.array_equal(store[1].spans, spans[20:])
    assert found.dtype == np.float32


def test_a_small_example_by_hand() -> None:
    store = pack_tokens(
        [(quantise(np.array([[0.6, -0.8]], dtype=np.float32)), np.zeros((1, 2), np.int32))], 2
    )
    # 0.6 / 0.8 * 127 = 95.25 -> 95, and 0.8 becomes 127; (95, -127) has length 158.6
    assert store.values.tolist() == [[95, -127]]
    assert store[0].vectors[0] == pytest.approx([0.5990, -0.8008], abs=1e-4)


def test_texts_without_tokens_and_zero_rows() -> None:
    zero = quantise(np.zeros((1, 4), dtype=np.float32))
    store = pack_tokens([(zero[:0], np.zeros((0, 2), np.int32)), (zero, np.zeros((1, 2), np.int32))], 4)
    assert store[0].vectors.shape == (0, 4)
    assert store[1].vectors.tolist() == [[0, 0, 0, 0]]
    assert len(pack_tokens([], 4)) == 0
    with pytest.raises(IndexError):
        store[2]


def test_blocks_give_the_tokens_in_order_wherever_they_lie(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.stores.token_store._BLOCK", 3)
    lengths = [2, 0, 5, 4, 1]
    texts = []
    for number, length in enumerate(lengths):
        spans = np.arange(2 * length, dtype=np.int32).reshape(-1, 2)
        texts.append((quantise(rows(length + 1, 8)[:length] * (number + 1)), spans))
    known = pack_tokens(texts, 8)
    own = (quantise(rows(3, 8)), np.zeros((3, 2), np.int32))
    # Known rows 2, 3, then one of its own, then 0, 1, 4, 4.
    sources = [2, 3, -1, 0, 1, 4, 4]
    gathered = [own if source < 0 else texts[source] for source in sources]
    store = GatheredTokens(
        starts_of([len(values) for values, _ in gathered]),
        lambda row: gathered[row],
        known,
        np.array(sources),
    )
    expected = pack_tokens(gathered, 8)
    for tokens in (store, expected):
        blocks = list(tokens.blocks(0, len(sources)))
        for part, name in enumerate(("values", "spans", "scales")):
            assert np.array_equal(np.concatenate([block[part] for block in blocks]), getattr(expected, name))
        assert max(len(values) for values, _, _ in blocks) <= 3
    for row in range(len(sources)):
        assert np.array_equal(store[row].vectors, expected[row].vectors)
        assert np.array_equal(store[row].spans, expected[row].spans)
    with pytest.raises(IndexError):
        store[7]
