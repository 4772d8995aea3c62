"""Gaussian log-densities of rows with missing entries."""

import numpy as np
from numba import njit

from tractable.primitives.compiled_options import DENSE_VECTOR, FAST, INDICES, INT, MASKS, MATRICES, MATRIX
from tractable.primitives.em.compiled_blocks import factor_pattern, observed_first

__all__ = ["pattern_scores"]

_LOG_2PI = np.log(2.0 * np.pi)


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FAST)
def _squared_length(row, mean, whitener, d, centred):  # type: ignore[no-untyped-def]
    """Return |W (row - mean)|² for a lower triangular W."""
    for i in range(d):
        centred[i] = row[i] - mean[i]
    total = 0.0
    for i in range(d):
        y = 0.0
        for j in range(i + 1):
            y += whitener[i, j] * centred[j]
        total += y * y
    return total


@njit(
    [(DENSE_VECTOR, INDICES, INDICES, MASKS, MATRIX, MATRICES, INT, INT)],
    nogil=True,
    cache=True,
    error_model="numpy",
)
def pattern_scores(flat, starts, begins, masks, means, covariances, first, last):  # type: ignore[no-untyped-def]
    K, D = means.shape
    order, lower, whitener = np.empty(D, np.int64), np.empty((D, D)), np.empty((D, D))
    mean, centred, out = np.empty(D), np.empty(D), np.zeros((last - first, K))
    p = np.searchsorted(begins, first, side="right") - 1
    while p < masks.shape[0] and begins[p] < last:
        d = observed_first(masks[p], order)
        start, stop = max(first, begins[p]), min(last, begins[p + 1])
        constant = 0.0
        for k in range(K if d > 0 else 0):
            if k < covariances.shape[0]:
                half = factor_pattern(covariances[k], order[:d], d, lower, whitener)
                constant = -half - 0.5 * d * _LOG_2PI
            for i in range(d):
                mean[i] = means[k, order[i]]
            for a in range(start, stop):
                at = starts[p] + (a - begins[p]) * d
                squared = _squared_length(flat[at : at + d], mean, whitener, d, centred)
                out[a - first, k] = constant - 0.5 * squared
        p += 1
    return out
