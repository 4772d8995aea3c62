"""The sums of EM for a mixture of Gaussians, row by row in extended precision: obvious, and slow."""

import numpy as np

Q = np.longdouble


def lower_factor(a):
    """Cholesky factor of a matrix in extended precision."""
    a = np.array(a, dtype=Q)
    for j in range(len(a)):
        a[j, j] = np.sqrt(a[j, j] - a[j, :j] @ a[j, :j])
        a[j + 1 :, j] = (a[j + 1 :, j] - a[j + 1 :, :j] @ a[j, :j]) / a[j, j]
        a[j, j + 1 :] = 0
    return a


def solved(lower, b):
    """L⁻¹ b by substitution; b is a vector or a matrix."""
    x = np.array(b, dtype=Q)
    for i in range(len(lower)):
        x[i] = (x[i] - lower[i, :i] @ x[:i]) / lower[i, i]
    return x


def packed(first, second):
    """[1, x, upper triangle of the products], given E x and E x xᵀ."""
    return np.concatenate([[Q(1)], first, second[np.triu_indices(len(first))]])


def log_sum(values):
    top = values.max()
    return top if np.isneginf(top) else top + np.log(np.exp(values - top).sum())


def whitened_sums(z, weights, means, whiteners, log_constants, *, white=False):
    """The sums about the means, and the evidence, for rows z and whiteners W_k."""
    z, means, whiteners, log_constants = (np.asarray(a, Q) for a in (z, means, whiteners, log_constants))
    d = z.shape[1]
    sums, evidence = np.zeros((len(means), 1 + d + d * (d + 1) // 2), Q), Q(0)
    for row, w in zip(z, weights, strict=True):
        y = np.einsum("kij,kj->ki", whiteners, row - means)
        log_joint = log_constants - (y * y).sum(1) / 2
        total = log_sum(log_joint)
        evidence += w * total
        for k, share in enumerate(w * np.exp(log_joint - total)):
            v = y[k] if white else row - means[k]
            sums[k] += share * packed(v, np.outer(v, v))
    return sums, evidence


def pattern_sums(z, weights, log_weights, means, covariances):
    """The sums about the means completed with conditional moments, and the evidence, for rows with NaN."""
    K, d = means.shape
    means, covariances = np.asarray(means, Q), np.asarray(covariances, Q)
    sums, evidence = np.zeros((K, 1 + d + d * (d + 1) // 2), Q), Q(0)
    for row, w in zip(np.asarray(z, Q), weights, strict=True):
        seen = np.isfinite(row)
        if not seen.any():
            continue
        log_joint, complete = np.full(K, -np.inf, Q), np.zeros((K, sums.shape[1]), Q)
        for k in np.flatnonzero(np.isfinite(log_weights)):
            log_joint[k], complete[k] = _completed(row, seen, means[k], covariances[k])
            log_joint[k] += log_weights[k]
        total = log_sum(log_joint)
        evidence += w * total
        sums += w * np.exp(log_joint - total)[:, None] * complete
    return sums, evidence


def _completed(row, seen, mean, covariance):
    """log N of the entries that are seen, and the expectation of [1, x, x xᵀ] about the mean given them."""
    lower = lower_factor(covariance[np.ix_(seen, seen)])
    y = solved(lower, row[seen] - mean[seen])
    gain = solved(lower, covariance[np.ix_(seen, ~seen)])
    expected, left = np.zeros(len(row), Q), np.zeros((len(row), len(row)), Q)
    expected[seen], expected[~seen] = row[seen] - mean[seen], gain.T @ y
    left[np.ix_(~seen, ~seen)] = covariance[np.ix_(~seen, ~seen)] - gain.T @ gain
    log_density = -(y @ y) / 2 - np.log(np.diag(lower)).sum() - seen.sum() * np.log(2 * Q(np.pi)) / 2
    return log_density, packed(expected, np.outer(expected, expected) + left)
