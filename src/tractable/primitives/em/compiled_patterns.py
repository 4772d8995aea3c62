"""The E-step of Gaussian mixtures over rows with missing entries."""

import numpy as np
from numba import njit

from tractable.primitives.compiled_options import (
    DENSE_VECTOR,
    INDICES,
    INT,
    MASKS,
    MATRICES,
    MATRIX,
    ROWS,
    VECTOR,
)
from tractable.primitives.em.compiled_blocks import (
    add_completed,
    centred_products,
    diagonal_log_joint,
    diagonal_products,
    factor_pattern,
    log_joints,
    observed_first,
    softmax_columns,
)

__all__ = ["pattern_diagonal_pass", "pattern_pass"]

_LOG_2PI = np.log(2.0 * np.pi)
#: Most rows in a block: with their copy they stay in the first-level cache.
_BLOCK = 256


@njit(nogil=True, cache=True, error_model="numpy")
def _load(flat, start, z):  # type: ignore[no-untyped-def]
    """Fill the columns of z with rows of entries."""
    d, n = z.shape
    for j in range(n):
        for i in range(d):
            z[i, j] = flat[start + j * d + i]


@njit(
    [(DENSE_VECTOR, INDICES, INDICES, MASKS, VECTOR, VECTOR, ROWS, MATRICES, INT, INT)],
    nogil=True,
    cache=True,
    error_model="numpy",
)
def pattern_pass(flat, starts, begins, masks, w, log_weights, means, covariances, first, last):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.em.pattern_pass`; sums are upper triangles (K, 1 + d, 1 + d).

    The last answer is a component whose covariance has no factor, or -1.
    """
    K, D = means.shape
    order, lower = np.empty(D, np.int64), np.empty((K, D, D))
    gain, crossed = np.empty((D, D)), np.empty((D, D + 1))
    constants, bits = np.empty(K), np.empty(_BLOCK, np.int64)
    top, total, scratch = np.empty(_BLOCK), np.empty(_BLOCK), np.empty(_BLOCK)
    z_buffer, centred_buffer, buffer = np.empty(D * _BLOCK), np.empty(D * _BLOCK), np.empty((D + 1) * _BLOCK)
    joint_buffer, white_buffer, mean_buffer = np.empty(K * _BLOCK), np.empty(K * D * D), np.empty(K * D)
    scatter_buffer, sums = np.empty(K * (D + 1) * (D + 1)), np.zeros((K, D + 1, D + 1))
    evidence = 0.0
    p = np.searchsorted(begins, first, side="right") - 1
    while p < masks.shape[0] and begins[p] < last:
        d = observed_first(masks[p], order)
        start, stop = max(first, begins[p]), min(last, begins[p + 1])
        if d > 0:
            whiteners, centres = (
                white_buffer[: K * d * d].reshape(K, d, d),
                mean_buffer[: K * d].reshape(K, d),
            )
            scatter = scatter_buffer[: K * (d + 1) * (d + 1)].reshape(K, d + 1, d + 1)
            scatter[:] = 0.0
            for k in range(K):
                constants[k] = log_weights[k]
                if log_weights[k] > -np.inf:
                    half = factor_pattern(covariances[k], order, d, lower[k], whiteners[k])
                    constants[k] -= half + 0.5 * d * _LOG_2PI
                    if np.isnan(half):
                        return sums, evidence, k
                for i in range(d):
                    centres[k, i] = means[k, order[i]]
            for a in range(start, stop, _BLOCK):
                n = min(_BLOCK, stop - a)
                z, centred = z_buffer[: d * n].reshape(d, n), centred_buffer[: d * n].reshape(d, n)
                log_joint = joint_buffer[: K * n].reshape(K, n)
                _load(flat, starts[p] + (a - begins[p]) * d, z)
                log_joints(z, centres, whiteners, constants, centred, scratch[:n], log_joint)
                evidence += softmax_columns(log_joint, n, w[a : a + n], top[:n], total[:n], bits[:n])
                for k in range(K):
                    centred_products(
                        z,
                        log_joint[k],
                        centres[k],
                        whiteners[k, :0],
                        bits[:n],
                        scratch[:n],
                        buffer,
                        scatter[k],
                    )
            for k in range(K):
                if scatter[k, 0, 0] > 0.0:
                    add_completed(scatter[k], lower[k], whiteners[k], order, d, gain, crossed, sums[k])
        p += 1
    return sums, evidence, -1


@njit(
    [(DENSE_VECTOR, INDICES, INDICES, MASKS, VECTOR, VECTOR, ROWS, MATRIX, INT, INT)],
    nogil=True,
    cache=True,
    error_model="numpy",
)
def pattern_diagonal_pass(flat, starts, begins, masks, w, log_weights, means, variances, first, last):  # type: ignore[no-untyped-def]
    K, D = means.shape
    order, part, sums = np.empty(D, np.int64), np.empty(1 + 2 * D), np.zeros((K, 1 + 2 * D))
    mean, whitener, bits = np.empty(D), np.empty(D), np.empty(_BLOCK, np.int64)
    top, total = np.empty(_BLOCK), np.empty(_BLOCK)
    z_buffer, joint_buffer = np.empty(D * _BLOCK), np.empty(K * _BLOCK)
    scale = 1.0 / np.sqrt(variances)
    log_scale = np.log(scale) - 0.5 * _LOG_2PI
    evidence = 0.0
    p = np.searchsorted(begins, first, side="right") - 1
    while p < masks.shape[0] and begins[p] < last:
        d = observed_first(masks[p], order)
        start, stop = max(first, begins[p]), min(last, begins[p + 1])
        for a in range(start, stop if d > 0 else start, _BLOCK):
            n = min(_BLOCK, stop - a)
            z, log_joint = z_buffer[: d * n].reshape(d, n), joint_buffer[: K * n].reshape(K, n)
            _load(flat, starts[p] + (a - begins[p]) * d, z)
            for k in range(K):
                log_joint[k] = log_weights[k]
                if log_weights[k] > -np.inf:
                    for i in range(d):
                        mean[i], whitener[i] = means[k, order[i]], scale[k, order[i]]
                        log_joint[k] += log_scale[k, order[i]]
                    diagonal_log_joint(z, mean[:d], whitener[:d], log_joint[k])
            evidence += softmax_columns(log_joint, n, w[a : a + n], top[:n], total[:n], bits[:n])
            for k in range(K):
                for i in range(d):
                    mean[i] = means[k, order[i]]
                part[: 1 + 2 * d] = 0.0
                diagonal_products(z, log_joint[k], mean[:d], part[: 1 + 2 * d])
                if part[0] > 0.0:
                    sums[k, 0] += part[0]
                    for i in range(d):
                        sums[k, 1 + order[i]] += part[1 + i]
                        sums[k, 1 + D + order[i]] += part[1 + d + i]
                    for i in range(d, D):
                        sums[k, 1 + D + order[i]] += part[0] * variances[k, order[i]]
        p += 1
    return sums, evidence
