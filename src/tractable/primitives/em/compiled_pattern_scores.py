"""See `tractable.primitives.em`."""

import numpy as np
from numba import njit, types

from tractable.primitives.em.compiled_blocks import factor_pattern, observed_first

__all__ = ["pattern_scores"]

_LOG_2PI = np.log(2.0 * np.pi)

_flat = types.Array(types.float64, 1, "C", readonly=True)
_places = types.Array(types.int64, 1, "C", readonly=True)
_masks = types.Array(types.boolean, 2, "C", readonly=True)
_means = types.Array(types.float64, 2, "C", readonly=True)
_matrices = types.Array(types.float64, 3, "C", readonly=True)


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
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
    [(_flat, _places, _places, _masks, _means, _matrices, types.int64, types.int64)],
    nogil=True,
    cache=True,
    error_model="numpy",
)
def pattern_scores(flat, starts, begins, masks, means, covariances, first, last):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.em.pattern_scores`."""
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
