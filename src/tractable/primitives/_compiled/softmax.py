"""Responsibilities of a block of rows: the exponential and the softmax, written so that they vectorise.

Numba has no library of vector mathematics, so the exponential is a polynomial of its own: two loops, the
second of which multiplies by the power of two that the first wrote as exponent bits.
"""

import numpy as np
from numba import njit

__all__ = ["exp_below_top", "exp_in_place", "softmax_columns"]

_TAYLOR = tuple(1.0 / np.prod(np.arange(1.0, k + 1)) for k in range(12, -1, -1))
#: Below exp(-230) a responsibility counts for nothing; denormals would make products a hundred times slower.
_FLOOR = -230.0


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def exp_in_place(x, bits):  # type: ignore[no-untyped-def]
    """Replace x ≤ 0 by exp(x), to the last digits; by zero below `_FLOOR`."""
    for j in range(x.size):
        v = max(x[j], _FLOOR)
        k = np.floor(v * 1.4426950408889634 + 0.5)
        r = (v - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
        p = 1.6059043836821613e-10
        for c in _TAYLOR:
            p = c + r * p
        x[j] = p if v > _FLOOR else 0.0
        bits[j] = (np.int64(k) + 1023) << 52
    power = bits.view(np.float64)
    for j in range(x.size):
        x[j] *= power[j]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def exp_below_top(scores, top, total, bits):  # type: ignore[no-untyped-def]
    """Turn columns of scores, (K, B), into exp(score - top), and write their tops and sums."""
    K, B = scores.shape
    top[:] = scores[0]
    for k in range(1, K):
        for j in range(B):
            top[j] = max(top[j], scores[k, j])
    total[:] = 0.0
    for k in range(K):
        scores[k] -= top
        exp_in_place(scores[k], bits)
        total += scores[k]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def softmax_columns(log_joint, n, w, top, total, bits):  # type: ignore[no-untyped-def]
    """Turn columns of log p(x, k), (K, B), into weighted responsibilities; return the sum of w log p(x).

    Columns from n on are padding and become zero. An empty `w` counts every row once.
    """
    K, B = log_joint.shape
    exp_below_top(log_joint, top, total, bits)
    evidence = 0.0
    if w.size == 0:
        product = 1.0
        for j in range(n):
            evidence += top[j]
            product *= total[j]  # between 1 and K: one logarithm for 32 rows
            if j % 32 == 31:
                evidence += np.log(product)
                product = 1.0
        evidence += np.log(product)
        for j in range(B):
            total[j] = 1.0 / total[j] if j < n else 0.0
    else:
        for j in range(n):
            evidence += w[j] * (top[j] + np.log(total[j]))
        for j in range(B):
            total[j] = w[j] / total[j] if j < n else 0.0
    for k in range(K):
        log_joint[k] *= total
    return evidence
