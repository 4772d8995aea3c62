"""Softmax regression of two classes, by the difference of their coefficients."""

import numpy as np
from numba import njit

from tractable.primitives.compiled_options import CODES, FAST, INT, MATRIX, ROWS, VECTOR
from tractable.primitives.em.compiled_blocks import exp_in_place
from tractable.primitives.glm.compiled import fill

__all__ = ["two_class_loss"]


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FAST)
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


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FAST)
def _counted(z, small, n, codes, targets, w, start):  # type: ignore[no-untyped-def]
    """Return the loss of a block of weighted rows, or of rows with soft targets; turn z into p - t."""
    loss = 0.0
    for first in range(0, n, 32):
        run = 0.0
        for j in range(first, min(first + 32, n)):
            i = start + j
            weight = w[i] if w.size else 1.0
            one = targets[i, 1] if targets.size else float(codes[i])
            other = targets[i, 0] if targets.size else 1.0 - one
            target = one + other
            run += weight * (one * max(-z[j], 0.0) + other * max(z[j], 0.0) + target * np.log1p(small[j]))
            z[j] = weight * (target * (1.0 if z[j] >= 0.0 else small[j]) / (1.0 + small[j]) - one)
        loss += run
    return loss


@njit(
    [(ROWS, CODES, ROWS, VECTOR, VECTOR, VECTOR, MATRIX, INT)],
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath=FAST,
)
def two_class_loss(x, codes, targets, w, shift, scale, coef, block):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.glm.softmax_loss`, for two classes."""
    n_rows, P = x.shape[0], coef.shape[1]
    features, z, small = np.ones((block, P)), np.empty(block), np.empty(block)
    bits = np.empty(block, np.int64)
    coef_difference, slope, loss = coef[1] - coef[0], np.zeros(P), 0.0
    for start in range(0, n_rows, block):
        n = min(block, n_rows - start)
        fill(features, x, start, n, shift, scale)
        np.dot(features, coef_difference, z)
        for j in range(block):
            small[j] = -abs(z[j])
        exp_in_place(small, bits)
        if w.size or targets.size:
            loss += _counted(z, small, n, codes, targets, w, start)
        else:
            loss += _counted_once(z, small, n, codes, start)
        z[n:] = 0.0
        slope += np.dot(z, features)
    gradient = np.empty((2, P))
    gradient[0], gradient[1] = -slope, slope
    return loss, gradient
