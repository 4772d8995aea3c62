"""The E-step of Gaussian mixtures in whitened coordinates."""

import numpy as np
from numba import njit

from tractable.primitives.compiled_options import BOOL, FAST, INT, MATRICES, MATRIX, ROWS, VECTOR
from tractable.primitives.em.compiled_blocks import (
    centred_products,
    diagonal_log_joint,
    diagonal_products,
    log_joints,
    softmax_columns,
)

__all__ = ["whitened_diagonal_pass", "whitened_pass"]


@njit(nogil=True, cache=True, error_model="numpy", fastmath=FAST)
def _load(x, start, n, shift, scale, z):  # type: ignore[no-untyped-def]
    """Fill the first n columns of z with shifted and scaled rows."""
    for i in range(z.shape[0]):
        for j in range(n):
            z[i, j] = (x[start + j, i] - shift[i]) * scale[i]


@njit(
    [(ROWS, VECTOR, VECTOR, VECTOR, MATRIX, MATRICES, VECTOR, BOOL, INT)],
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath=FAST,
)
def whitened_pass(x, w, shift, scale, means, whiteners, log_constants, white, block):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.em.whitened_pass`; sums are upper triangles (K, 1 + d, 1 + d)."""
    n_rows, d = x.shape
    K = log_constants.size
    z, centred, log_joint = np.zeros((d, block)), np.empty((d, block)), np.empty((K, block))
    top, total, scratch = np.empty(block), np.empty(block), np.empty(block)
    bits, buffer = np.empty(block, np.int64), np.empty((d + 1) * block)
    sums = np.zeros((K, d + 1, d + 1))
    evidence = 0.0
    for start in range(0, n_rows, block):
        n = min(block, n_rows - start)
        _load(x, start, n, shift, scale, z)
        log_joints(z, means, whiteners, log_constants, centred, scratch, log_joint)
        evidence += softmax_columns(log_joint, n, w[start : start + n], top, total, bits)
        for k in range(K):
            whitener = whiteners[k, : d if white else 0]
            centred_products(z, log_joint[k], means[k], whitener, bits, scratch, buffer, sums[k])
    return sums, evidence


@njit(
    [(ROWS, VECTOR, VECTOR, VECTOR, MATRIX, MATRIX, VECTOR, INT)],
    nogil=True,
    cache=True,
    error_model="numpy",
    fastmath=FAST,
)
def whitened_diagonal_pass(x, w, shift, scale, means, whiteners, log_constants, block):  # type: ignore[no-untyped-def]
    n_rows, d = x.shape
    K = log_constants.size
    z, log_joint = np.zeros((d, block)), np.empty((K, block))
    top, total, bits = np.empty(block), np.empty(block), np.empty(block, np.int64)
    sums = np.zeros((K, 1 + 2 * d))
    evidence = 0.0
    for start in range(0, n_rows, block):
        n = min(block, n_rows - start)
        _load(x, start, n, shift, scale, z)
        for k in range(K):
            log_joint[k] = log_constants[k]
            if log_constants[k] > -np.inf:
                diagonal_log_joint(z, means[k], whiteners[k], log_joint[k])
        evidence += softmax_columns(log_joint, n, w[start : start + n], top, total, bits)
        for k in range(K):
            diagonal_products(z, log_joint[k], means[k], sums[k])
    return sums, evidence
