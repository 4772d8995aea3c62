"""The E-steps of mixtures over blocks of rows: natural parameters, whitened coordinates, missing entries."""

import numpy as np

from tractable.primitives.compiled_options import FAST, compiled, entry
from tractable.primitives.compiled_search import first_above
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


@compiled(fastmath=FAST)
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
@entry("ROWS VECTOR VECTOR VECTOR MATRIX INT INT")
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


@compiled(fastmath=FAST)
def _load_rows(x, start, n, shift, scale, z):  # type: ignore[no-untyped-def]
    """Fill the first n columns of z with shifted and scaled rows."""
    for i in range(z.shape[0]):
        for j in range(n):
            z[i, j] = (x[start + j, i] - shift[i]) * scale[i]


@entry("ROWS VECTOR VECTOR VECTOR MATRIX MATRICES VECTOR BOOL INT")
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
        _load_rows(x, start, n, shift, scale, z)
        log_joints(z, means, whiteners, log_constants, centred, scratch, log_joint)
        evidence += softmax_columns(log_joint, n, w[start : start + n], top, total, bits)
        for k in range(K):
            whitener = whiteners[k, : d if white else 0]
            centred_products(z, log_joint[k], means[k], whitener, bits, scratch, buffer, sums[k])
    return sums, evidence


@entry("ROWS VECTOR VECTOR VECTOR MATRIX MATRIX VECTOR INT")
def whitened_diagonal_pass(x, w, shift, scale, means, whiteners, log_constants, block):  # type: ignore[no-untyped-def]
    n_rows, d = x.shape
    K = log_constants.size
    z, log_joint = np.zeros((d, block)), np.empty((K, block))
    top, total, bits = np.empty(block), np.empty(block), np.empty(block, np.int64)
    sums = np.zeros((K, 1 + 2 * d))
    evidence = 0.0
    for start in range(0, n_rows, block):
        n = min(block, n_rows - start)
        _load_rows(x, start, n, shift, scale, z)
        for k in range(K):
            log_joint[k] = log_constants[k]
            if log_constants[k] > -np.inf:
                diagonal_log_joint(z, means[k], whiteners[k], log_joint[k])
        evidence += softmax_columns(log_joint, n, w[start : start + n], top, total, bits)
        for k in range(K):
            diagonal_products(z, log_joint[k], means[k], sums[k])
    return sums, evidence


_LOG_2PI = np.log(2.0 * np.pi)
#: Most rows in a block: with their copy they stay in the first-level cache.
_BLOCK = 256


@compiled()
def _load_entries(flat, start, z):  # type: ignore[no-untyped-def]
    """Fill the columns of z with rows of entries."""
    d, n = z.shape
    for j in range(n):
        for i in range(d):
            z[i, j] = flat[start + j * d + i]


@entry("DENSE_VECTOR INDICES INDICES MASKS VECTOR VECTOR ROWS MATRICES INT INT")
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
    p = first_above(begins, first) - 1
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
                _load_entries(flat, starts[p] + (a - begins[p]) * d, z)
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


@entry("DENSE_VECTOR INDICES INDICES MASKS VECTOR VECTOR ROWS MATRIX INT INT")
def pattern_diagonal_pass(flat, starts, begins, masks, w, log_weights, means, variances, first, last):  # type: ignore[no-untyped-def]
    K, D = means.shape
    order, part, sums = np.empty(D, np.int64), np.empty(1 + 2 * D), np.zeros((K, 1 + 2 * D))
    mean, whitener, bits = np.empty(D), np.empty(D), np.empty(_BLOCK, np.int64)
    top, total = np.empty(_BLOCK), np.empty(_BLOCK)
    z_buffer, joint_buffer = np.empty(D * _BLOCK), np.empty(K * _BLOCK)
    evidence = 0.0
    p = first_above(begins, first) - 1
    while p < masks.shape[0] and begins[p] < last:
        d = observed_first(masks[p], order)
        start, stop = max(first, begins[p]), min(last, begins[p + 1])
        for a in range(start, stop if d > 0 else start, _BLOCK):
            n = min(_BLOCK, stop - a)
            z, log_joint = z_buffer[: d * n].reshape(d, n), joint_buffer[: K * n].reshape(K, n)
            _load_entries(flat, starts[p] + (a - begins[p]) * d, z)
            for k in range(K):
                constant = log_weights[k] - 0.5 * d * _LOG_2PI
                if log_weights[k] > -np.inf:
                    for i in range(d):
                        mean[i], variance = means[k, order[i]], variances[k, order[i]]
                        whitener[i] = 1.0 / np.sqrt(variance)
                        constant -= 0.5 * np.log(variance)
                log_joint[k] = constant
                if log_weights[k] > -np.inf:
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


@compiled(fastmath=FAST)
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


@entry("DENSE_VECTOR INDICES INDICES MASKS MATRIX MATRICES INT INT")
def pattern_scores(flat, starts, begins, masks, means, covariances, first, last):  # type: ignore[no-untyped-def]
    K, D = means.shape
    order, lower, whitener = np.empty(D, np.int64), np.empty((D, D)), np.empty((D, D))
    mean, centred, out = np.empty(D), np.empty(D), np.zeros((last - first, K))
    p = first_above(begins, first) - 1
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
