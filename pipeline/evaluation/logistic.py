"""Logistic regression in a few lines: the refusal model has six numbers, no library is needed for them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["fit_logistic"]

Floats = NDArray[np.float64]


def fit_logistic(
    features: Floats, labels: Floats, weights: Floats, ridge: float = 1.0
) -> tuple[Floats, float]:
    """Coefficients and intercept of a weighted logistic regression with an L2 penalty on coefficients.

    Newton's method (iteratively reweighted least squares), until a step is below 1e-9.

    Args:
        features: Shape (samples, features), standardised.
        labels: 0 or 1, shape (samples,).
        weights: How much each sample counts, shape (samples,).
        ridge: Strength of the penalty.
    """
    design = np.column_stack([features, np.ones(len(features))])
    penalty = np.eye(design.shape[1]) * ridge
    penalty[-1, -1] = 0.0
    solution = np.zeros(design.shape[1])
    for _ in range(100):
        chance = 1 / (1 + np.exp(-np.clip(design @ solution, -50, 50)))
        gradient = design.T @ (weights * (chance - labels)) + penalty @ solution
        curvature = (design * (weights * chance * (1 - chance))[:, None]).T @ design + penalty
        step = np.linalg.solve(curvature, gradient)
        solution -= step
        if np.abs(step).max() < 1e-9:
            break
    return solution[:-1], float(solution[-1])
