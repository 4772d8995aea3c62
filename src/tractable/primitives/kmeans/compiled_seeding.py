"""Seeding by k-means++."""

import numpy as np
from numba import njit

from tractable.primitives.compiled_options import ROWS, SINGLE_ROWS, VECTOR

__all__ = ["kmeans_plus_plus"]


BLOCK = 512


@njit(nogil=True, cache=True, error_model="numpy")
def _mass(w, closest, even, i):  # type: ignore[no-untyped-def]
    count = w[i] if len(w) else 1.0
    return count if even else count * closest[i]


@njit(nogil=True, cache=True, error_model="numpy")
def _draw(w, closest, even, levels, rows):  # type: ignore[no-untyped-def]
    """Fill in the rows in which the cumulative mass first exceeds each share of the whole."""
    n = len(closest)
    total, last = 0.0, 0
    for i in range(n):
        m = _mass(w, closest, even, i)
        total += m
        last = i if m > 0.0 else last
    order = np.argsort(levels)
    held, i = 0.0, -1
    for t in order:
        while i < last and (i < 0 or held <= levels[t] * total):
            i += 1
            held += _mass(w, closest, even, i)
        rows[t] = i


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _nearer(block, n, center, closest, out):  # type: ignore[no-untyped-def]
    """Fill in min(closest, |x - center|²) for the columns of a transposed block."""
    for j in range(n):
        out[j] = 0.0
    for i in range(len(center)):
        for j in range(n):
            out[j] += (block[i, j] - center[i]) ** 2
    for j in range(n):
        out[j] = min(out[j], closest[j])


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _costs(x, w, closest, centers, keep, costs):  # type: ignore[no-untyped-def]
    """Sum w min(closest, |x - c|²) for each candidate; with `keep`, write it down for the only one."""
    n, d = x.shape
    block, out = np.empty((d, BLOCK)), np.empty(BLOCK)
    costs[:] = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        for i in range(d):
            for j in range(m):
                block[i, j] = x[start + j, i]
        for t in range(len(centers)):
            _nearer(block, m, centers[t], closest[start : start + m], out)
            for j in range(m):
                costs[t] += out[j] * (w[start + j] if len(w) else 1.0)
            if keep:
                closest[start : start + m] = out[:m]


@njit([(ROWS, VECTOR, ROWS), (SINGLE_ROWS, VECTOR, ROWS)], nogil=True, cache=True, error_model="numpy")
def kmeans_plus_plus(x, w, uniforms):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.kmeans.kmeans_plus_plus`; no weights are an empty array."""
    n, d = x.shape
    K, trials = uniforms.shape
    chosen, tried = np.empty(K, np.int64), np.empty(trials, np.int64)
    centers, one, costs = np.empty((trials, d)), np.empty((1, d)), np.empty(trials)
    closest = np.full(n, np.inf)
    total = np.inf
    for k in range(K):
        greedy = 0.0 < total < np.inf
        m = trials if greedy else 1
        _draw(w, closest, not greedy, uniforms[k, :m].copy(), tried)
        best = 0
        if greedy:
            for t in range(trials):
                for i in range(d):
                    centers[t, i] = x[tried[t], i]
            _costs(x, w, closest, centers, False, costs)
            best = int(np.argmin(costs))
        chosen[k] = tried[best]
        for i in range(d):
            one[0, i] = x[tried[best], i]
        _costs(x, w, closest, one, True, costs[:1])
        total = costs[0]
    return chosen
