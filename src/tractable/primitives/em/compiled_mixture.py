"""The E-step of mixtures of exponential families, as two matrix products around a softmax."""

import numpy as np
from numba import njit

from tractable.primitives.compiled_options import FAST, INT, MATRIX, ROWS, VECTOR
from tractable.primitives.em.compiled_blocks import softmax_columns

__all__ = ["mixture_pass"]


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FAST)
def _squares(features, d, kind):  # type: ignore[no-untyped-def]
    """Fill in the second-order features: none (0), their sum (1), squares (2), or all products (3)."""
    block = features.shape[1]
    f = 1 + d
    if kind == 1:
        features[f] = 0.0
        for i in range(d):
            for j in range(block):
                features[f, j] += features[1 + i, j] * features[1 + i, j]
    elif kind >= 2:
        for i in range(d):
            for l in range(i, d if kind == 3 else i + 1):
                for j in range(block):
                    features[f, j] = features[1 + i, j] * features[1 + l, j]
                f += 1


# One signature takes rows of any order, writable or not: it is compiled once.
@njit(
    [(ROWS, VECTOR, VECTOR, VECTOR, MATRIX, INT, INT)],
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath=FAST,
)
def mixture_pass(x, w, shift, scale, natural, kind, block):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.em.mixture_pass`; statistics come back as (P, K)."""
    n_rows, d = x.shape
    K, P = natural.shape
    features, log_joint, transposed = np.ones((P, block)), np.empty((K, block)), np.empty((block, K))
    top, total, bits = np.empty(block), np.empty(block), np.empty(block, np.int64)
    sums, part = np.zeros((P, K)), np.empty((P, K))
    evidence = 0.0
    for start in range(0, n_rows, block):
        n = min(block, n_rows - start)
        for i in range(d):
            for j in range(n):
                features[1 + i, j] = (x[start + j, i] - shift[i]) * scale[i]
        _squares(features, d, kind)
        np.dot(natural, features, log_joint)
        evidence += softmax_columns(log_joint, n, w[start : start + n], top, total, bits)
        for k in range(K):
            for j in range(block):
                transposed[j, k] = log_joint[k, j]
        np.dot(features, transposed, part)  # faster than with the other factor transposed
        sums += part
    return sums, evidence
