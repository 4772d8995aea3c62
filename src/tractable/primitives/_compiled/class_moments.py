"""See `tractable.primitives.class_moments`."""

import numpy as np
from numba import njit

__all__ = ["class_moments"]

_FAST = {"contract", "nsz", "arcp"}


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def class_moments(x, codes, w, K):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.class_moments.class_moments`; an empty `w` counts every row once."""
    n, d = x.shape
    total, sums = np.zeros(K), np.zeros((K, d))
    for i in range(n):
        c, row = codes[i], x[i]
        one = 1.0 if w.size == 0 else w[i]
        total[c] += one
        into = sums[c]
        if w.size == 0:
            for j in range(d):
                into[j] += row[j]
        else:
            for j in range(d):
                into[j] += one * row[j]
    weight = np.empty((K, d))
    complete = True
    for c in range(K):
        for j in range(d):
            weight[c, j] = total[c]
            complete &= np.isfinite(sums[c, j])
    if not complete:  # a missing entry spoils its sum, so complete blocks pay nothing for the question
        _observed_sums(x, codes, w, weight, sums)
    for c in range(K):
        for j in range(d):
            sums[c, j] /= weight[c, j] if weight[c, j] > 0.0 else 1.0
    left, scatter = np.zeros((K, d)), np.zeros((K, d))
    if complete:
        _scatter(x, codes, w, sums, left, scatter)
    else:
        _observed_scatter(x, codes, w, sums, left, scatter)
    for c in range(K):
        for j in range(d):
            step = left[c, j] / (weight[c, j] if weight[c, j] > 0.0 else 1.0)
            sums[c, j] += step
            scatter[c, j] -= weight[c, j] * step * step
    return weight, sums, scatter, total


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def _scatter(x, codes, w, mean, left, scatter):  # type: ignore[no-untyped-def]
    n, d = x.shape
    for i in range(n):
        c, row = codes[i], x[i]
        centre, first, second = mean[c], left[c], scatter[c]
        if w.size == 0:
            for j in range(d):
                step = row[j] - centre[j]
                first[j] += step
                second[j] += step * step
        else:
            one = w[i]
            for j in range(d):
                step = row[j] - centre[j]
                first[j] += one * step
                second[j] += one * step * step


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def _observed_sums(x, codes, w, weight, sums):  # type: ignore[no-untyped-def]
    n, d = x.shape
    weight[:], sums[:] = 0.0, 0.0
    for i in range(n):
        c = codes[i]
        one = 1.0 if w.size == 0 else w[i]
        for j in range(d):
            if not np.isnan(x[i, j]):
                weight[c, j] += one
                sums[c, j] += one * x[i, j]


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def _observed_scatter(x, codes, w, mean, left, scatter):  # type: ignore[no-untyped-def]
    n, d = x.shape
    for i in range(n):
        c = codes[i]
        one = 1.0 if w.size == 0 else w[i]
        for j in range(d):
            if not np.isnan(x[i, j]):
                step = x[i, j] - mean[c, j]
                left[c, j] += one * step
                scatter[c, j] += one * step * step
