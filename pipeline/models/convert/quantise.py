"""Integer weights for onnxruntime's dynamic int8 matrix product."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pipeline.types import FloatMatrix

__all__ = ["equalising_scales", "pack_int4", "quantise_rows"]

# 7 bits, not 8: before VNNI, x86 adds pairs of u8 x s8 products into 16 bits and saturates there
# (255 * 127 * 2 > 32767). With 63 nothing saturates on any CPU, and the cosine stays at .999.
_LARGEST = 63


def quantise_rows(weights: FloatMatrix) -> tuple[NDArray[np.int8], NDArray[np.float32]]:
    """Symmetric quantisation with one scale a row (an output channel).

    Args:
        weights: (out, in).

    Returns:
        Integers in -63..63 of the same shape, and scales (out,), so that ``integers * scale ≈ weights``.
    """
    largest = np.abs(weights).max(axis=1)
    scales = (np.where(largest > 0, largest, 1.0) / _LARGEST).astype(np.float32)
    return np.rint(weights / scales[:, None]).astype(np.int8), scales


def equalising_scales(
    gain: NDArray[np.float32], bias: NDArray[np.float32], weights: FloatMatrix, share: float = 0.7
) -> NDArray[np.float32]:
    """How much smaller to make each channel that goes from a layer normalisation into ``weights``.

    SmoothQuant (https://arxiv.org/abs/2211.10438): dividing a channel by ``s`` and multiplying the
    weights that read it by ``s`` changes nothing but takes outliers out of the activations, which
    share one scale. Their range follows from the normalisation itself (four deviations), so no
    calibration data is needed.

    Args:
        gain: (in,), the normalisation's.
        bias: (in,), the normalisation's.
        weights: (out, in).
        share: How much of the unevenness moves to the weights, 0..1.
    """
    reach = np.abs(gain) * 4 + np.abs(bias)
    load = np.maximum(np.abs(weights).max(axis=0), 1e-6)
    scales = np.maximum(reach, 1e-6) ** share / load ** (1 - share)
    return np.asarray(scales / scales.mean(), dtype=np.float32)


def pack_int4(nibbles: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Stored nibbles (value + 8) as ONNX INT4 bytes: two's complement, the first of a pair low."""
    signed = nibbles.reshape(-1) ^ 8
    return np.asarray(signed[0::2] | (signed[1::2] << 4), dtype=np.uint8)
