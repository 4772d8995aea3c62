"""A block of rows under several Gaussians: whitened distances, and products about each mean.

Loops over the rows of a block vectorise, and at these sizes they keep up with BLAS, whose calls would each
cost as much as a small block. Rows lie along the last axis.
"""

import numpy as np
from numba import njit

__all__ = ["centred_products", "diagonal_log_joint", "diagonal_products", "log_joints"]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def _combine(coefficients, columns, m, out):  # type: ignore[no-untyped-def]
    """Write Σ_l coefficients[l] columns[l] over the first m, four at a time."""
    n = out.size
    out[:] = 0.0
    l = 0
    while l + 4 <= m:
        a, b, c, e = coefficients[l], coefficients[l + 1], coefficients[l + 2], coefficients[l + 3]
        first, second, third, fourth = columns[l], columns[l + 1], columns[l + 2], columns[l + 3]
        for j in range(n):
            out[j] += a * first[j] + b * second[j] + c * third[j] + e * fourth[j]
        l += 4
    while l < m:
        a, first = coefficients[l], columns[l]
        for j in range(n):
            out[j] += a * first[j]
        l += 1


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def log_joints(z, means, whiteners, log_constants, centred, white, out):  # type: ignore[no-untyped-def]
    """Write c_k - |W_k (z - mean_k)|² / 2 to row k; a component without weight is not looked at."""
    d, n = z.shape
    for k in range(log_constants.size):
        log_joint = out[k]
        log_joint[:] = log_constants[k]
        if log_constants[k] == -np.inf:
            continue
        for i in range(d):
            m, column, target = means[k, i], z[i], centred[i]
            for j in range(n):
                target[j] = column[j] - m
        for i in range(d):
            _combine(whiteners[k, i], centred, i + 1, white)
            for j in range(n):
                log_joint[j] -= 0.5 * white[j] * white[j]


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def _two_rows(x, y, r, rows, l, out_x, out_y):  # type: ignore[no-untyped-def]
    """Add Σ_j r_j x_j rows[l, j] to out_x[l], and likewise for y, from l on; four are read at a time."""
    m, n = rows.shape
    while l + 4 <= m:
        first, second, third, fourth = rows[l], rows[l + 1], rows[l + 2], rows[l + 3]
        a = b = c = e = 0.0
        f = g = h = i = 0.0
        for j in range(n):
            u, v = r[j] * x[j], r[j] * y[j]
            a += u * first[j]
            b += u * second[j]
            c += u * third[j]
            e += u * fourth[j]
            f += v * first[j]
            g += v * second[j]
            h += v * third[j]
            i += v * fourth[j]
        out_x[l] += a
        out_x[l + 1] += b
        out_x[l + 2] += c
        out_x[l + 3] += e
        out_y[l] += f
        out_y[l + 1] += g
        out_y[l + 2] += h
        out_y[l + 3] += i
        l += 4
    while l < m:
        first = rows[l]
        a = b = 0.0
        for j in range(n):
            t = r[j] * first[j]
            a += x[j] * t
            b += y[j] * t
        out_x[l] += a
        out_y[l] += b
        l += 1


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def _products(rows, r, out):  # type: ignore[no-untyped-def]
    """Add Σ_j r_j rows[i, j] rows[l, j] for i ≤ l, two rows at a time."""
    m = rows.shape[0]
    for i in range(0, m - 1, 2):
        x, y = rows[i], rows[i + 1]
        a = b = c = 0.0
        for j in range(r.size):
            u, v = r[j] * x[j], r[j] * y[j]
            a += u * x[j]
            b += u * y[j]
            c += v * y[j]
        out[i, i] += a
        out[i, i + 1] += b
        out[i + 1, i + 1] += c
        _two_rows(x, y, r, rows, i + 2, out[i], out[i + 1])
    if m % 2 == 1:
        last = rows[m - 1]
        a = 0.0
        for j in range(r.size):
            a += r[j] * last[j] * last[j]
        out[m - 1, m - 1] += a


@njit(nogil=True, cache=True, error_model="numpy")
def _squeeze(shares, index):  # type: ignore[no-untyped-def]
    """Move the positive shares to the front, and write down where they stood."""
    q = 0
    for j in range(shares.size):
        if shares[j] > 0.0:
            index[q], shares[q] = j, shares[j]
            q += 1


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def centred_products(z, shares, mean, whitener, index, scratch, room, out):  # type: ignore[no-untyped-def]
    """Add Σ_j shares[j] u_j u_jᵀ, upper triangle, of u = [1, z - mean]; whitened where there is a whitener.

    Rows without a share, and those that no component explains, whose share is NaN, are squeezed out first.
    """
    d, n = z.shape
    q = 0
    for j in range(n):
        q += 1 if shares[j] > 0.0 else 0
    if q == 0:
        return
    rows = room[: (d + 1) * q].reshape(d + 1, q)
    r, white = shares[:q], scratch[:q]
    if q < n:
        _squeeze(shares, index)
    rows[0] = 1.0
    for i in range(d):
        m, column, target = mean[i], z[i], rows[1 + i]
        if q == n:
            for j in range(n):
                target[j] = column[j] - m
        else:
            for j in range(q):
                target[j] = column[index[j]] - m
    for i in range(whitener.shape[0] - 1, -1, -1):
        _combine(whitener[i], rows[1:], i + 1, white)
        rows[1 + i] = white
    _products(rows, r, out)


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def diagonal_log_joint(z, mean, whitener, out):  # type: ignore[no-untyped-def]
    """Subtract Σ_i (whitener_i (z_i - mean_i))² / 2."""
    d, n = z.shape
    for i in range(d):
        m, c, column = mean[i], whitener[i], z[i]
        for j in range(n):
            t = c * (column[j] - m)
            out[j] -= 0.5 * t * t


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp", "reassoc"})
def diagonal_products(z, shares, mean, out):  # type: ignore[no-untyped-def]
    """Add Σ_j shares[j] [1, z_j - mean, (z_j - mean)²]; NaN, where no component explains the row, is none."""
    d, n = z.shape
    weight = 0.0
    for j in range(n):
        shares[j] = shares[j] if shares[j] > 0.0 else 0.0  # noqa: FURB136  (max may keep NaN)
        weight += shares[j]
    if weight == 0.0:
        return
    out[0] += weight
    for i in range(d):
        m, column = mean[i], z[i]
        first = second = 0.0
        for j in range(n):
            t = column[j] - m if shares[j] > 0.0 else 0.0
            u = shares[j] * t
            first += u
            second += u * t
        out[1 + i] += first
        out[1 + d + i] += second
