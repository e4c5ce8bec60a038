"""Token vectors in one byte a number."""

from __future__ import annotations

import numpy as np
import pytest

from pipeline.stores.token_store import pack_tokens, quantise


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
