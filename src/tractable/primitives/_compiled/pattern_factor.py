"""What one pattern of missing entries makes of one component: factor, regression, conditional covariance."""

import numpy as np
from numba import njit

__all__ = ["add_completed", "factor_pattern", "observed_first"]


@njit(nogil=True, cache=True, error_model="numpy")
def observed_first(mask, order):  # type: ignore[no-untyped-def]
    """Write the columns that are there, then those that are missing; return how many are there."""
    d = 0
    for i in range(mask.size):
        if mask[i]:
            order[d] = i
            d += 1
    end = d
    for i in range(mask.size):
        if not mask[i]:
            order[end] = i
            end += 1
    return d


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def _combine_rows(coefficients, triangle, d, out):  # type: ignore[no-untyped-def]
    """Write Σ_l coefficients[l] times row l of a lower triangle, over the first d."""
    for j in range(d):
        out[j] = 0.0
    for l in range(d):
        a, row = coefficients[l], triangle[l]
        for j in range(l + 1):
            out[j] += a * row[j]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def factor_pattern(covariance, order, d, lower, whitener):  # type: ignore[no-untyped-def]
    """Write the Cholesky factor in the given order, and the inverse of its first d rows; return Σ log L_ii.

    A conditional variance that rounding made negative is zero; one of an entry that is there makes the
    answer NaN.
    """
    for j in range(order.size):
        for i in range(j, order.size):
            t = covariance[order[i], order[j]]
            for l in range(j):
                t -= lower[i, l] * lower[j, l]
            if i == j:
                pivot = np.sqrt(t) if j < d or t > 0.0 else 0.0
                lower[j, j] = pivot
                inverse = 1.0 / pivot if j < d or pivot > 0.0 else 0.0
            else:
                lower[i, j] = t * inverse
    log_det = 0.0
    for i in range(d):
        log_det += np.log(lower[i, i])
        inverse = 1.0 / lower[i, i]
        _combine_rows(lower[i], whitener, i, whitener[i])
        for j in range(i):
            whitener[i, j] *= -inverse
        whitener[i, i] = inverse
    return log_det


@njit(nogil=True, cache=True, error_model="numpy")
def _add(sums, a, b, value):  # type: ignore[no-untyped-def]
    sums[min(a, b), max(a, b)] += value


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def add_completed(scatter, lower, whitener, order, d, gain, crossed, sums):  # type: ignore[no-untyped-def]
    """Add the scatter of [1, entries that are there] to that of [1, all], completed; upper triangles."""
    n_missing, weight = order.size - d, scatter[0, 0]
    for i in range(d + 1):
        a = 1 + order[i - 1] if i > 0 else 0
        for l in range(i, d + 1):
            scatter[l, i] = scatter[i, l]
            sums[a, 1 + order[l - 1] if l > 0 else 0] += scatter[i, l]
    for i in range(n_missing):
        _combine_rows(lower[d + i], whitener, d, gain[i])
        for l in range(d + 1):
            t = 0.0
            for j in range(d):
                t += gain[i, j] * scatter[l, 1 + j]
            crossed[i, l] = t
            _add(sums, 1 + order[l - 1] if l > 0 else 0, 1 + order[d + i], t)
    for i in range(n_missing):
        for l in range(i, n_missing):
            t = 0.0
            for j in range(d):
                t += crossed[i, 1 + j] * gain[l, j]
            for j in range(i + 1):
                t += weight * lower[d + i, d + j] * lower[d + l, d + j]
            sums[1 + order[d + i], 1 + order[d + l]] += t
