"""Softmax regression of two classes, by the one plane that matters: see `softmax_pass`."""

import numpy as np
from numba import njit, types

from tractable.primitives.em.compiled_blocks import exp_in_place
from tractable.primitives.glm.compiled import fill

__all__ = ["two_class_loss"]

_rows = types.Array(types.float64, 2, "A", readonly=True)
_vector = types.Array(types.float64, 1, "A", readonly=True)
_codes = types.Array(types.int64, 1, "A", readonly=True)
_matrix = types.Array(types.float64, 2, "C", readonly=True)
_FAST = {"contract", "nsz", "arcp", "reassoc"}


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def _counted_once(z, small, n, codes, start):  # type: ignore[no-untyped-def]
    """Return the loss of a block of rows that count once, in short runs; turn z into p - t."""
    loss = 0.0
    for first in range(0, n, 32):
        last = min(first + 32, n)
        run, product = 0.0, 1.0
        for j in range(first, last):
            run += max(z[j] if codes[start + j] == 0 else -z[j], 0.0)
            product *= 1.0 + small[j]  # between 1 and 2: one logarithm for 32 rows
        loss += run + np.log(product)
    for j in range(n):
        z[j] = (1.0 if z[j] >= 0.0 else small[j]) / (1.0 + small[j]) - codes[start + j]
    return loss


@njit(nogil=True, cache=True, error_model="numpy", fastmath=_FAST)
def _counted(z, small, n, codes, shares, w, start):  # type: ignore[no-untyped-def]
    """Return the loss of a block of weighted rows, or of rows with shares in both; turn z into p - t."""
    loss = 0.0
    for first in range(0, n, 32):
        run = 0.0
        for j in range(first, min(first + 32, n)):
            i = start + j
            weight = w[i] if w.size else 1.0
            one = shares[i, 1] if shares.size else float(codes[i])
            other = shares[i, 0] if shares.size else 1.0 - one
            share = one + other
            run += weight * (one * max(-z[j], 0.0) + other * max(z[j], 0.0) + share * np.log1p(small[j]))
            z[j] = weight * (share * (1.0 if z[j] >= 0.0 else small[j]) / (1.0 + small[j]) - one)
        loss += run
    return loss


@njit(
    [(_rows, _codes, _rows, _vector, _vector, _vector, _matrix, types.int64)],
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath=_FAST,
)
def two_class_loss(x, codes, shares, w, shift, scale, coef, block):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.glm.softmax_loss`, for two classes."""
    n_rows, P = x.shape[0], coef.shape[1]
    features, z, small = np.ones((block, P)), np.empty(block), np.empty(block)
    bits = np.empty(block, np.int64)
    plane, slope, loss = coef[1] - coef[0], np.zeros(P), 0.0
    for start in range(0, n_rows, block):
        n = min(block, n_rows - start)
        fill(features, x, start, n, shift, scale)
        np.dot(features, plane, z)
        for j in range(block):
            small[j] = -abs(z[j])
        exp_in_place(small, bits)
        if w.size or shares.size:
            loss += _counted(z, small, n, codes, shares, w, start)
        else:
            loss += _counted_once(z, small, n, codes, start)
        z[n:] = 0.0
        slope += np.dot(z, features)
    gradient = np.empty((2, P))
    gradient[0], gradient[1] = -slope, slope
    return loss, gradient
