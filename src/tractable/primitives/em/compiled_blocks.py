"""What the compiled E-steps do with a block of rows: softmax, whitening, products, factors of patterns."""

import numpy as np

from tractable.primitives.compiled_options import FAST, compiled
from tractable.primitives.compiled_tiles import exp_tile

#: Below exp(-230) a responsibility counts for nothing; denormals would make products a hundred times slower.
FLOOR = -230.0


@compiled(fastmath=FAST)
def exp_below_top(scores, top, total, bits):  # type: ignore[no-untyped-def]
    """Turn columns of scores, (K, B), into exp(score - top), and write their tops and sums."""
    K, B = scores.shape
    for j in range(B):
        top[j], total[j] = scores[0, j], 0.0
    for k in range(1, K):
        for j in range(B):
            top[j] = max(top[j], scores[k, j])
    for k in range(K):
        row = scores[k]
        for j in range(B):
            row[j] -= top[j]
        exp_tile(row, bits, B, FLOOR)
        for j in range(B):
            total[j] += row[j]


@compiled(fastmath=FAST)
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
        for j in range(B):
            log_joint[k, j] *= total[j]
    return evidence


@compiled(fastmath=FAST)
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


@compiled(fastmath=FAST)
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


@compiled(fastmath=FAST)
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


@compiled(fastmath=FAST)
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


@compiled()
def _pack_positive(responsibilities, index):  # type: ignore[no-untyped-def]
    """Move positive responsibilities to the front, and write their positions."""
    q = 0
    for j in range(responsibilities.size):
        if responsibilities[j] > 0.0:
            index[q], responsibilities[q] = j, responsibilities[j]
            q += 1


@compiled(fastmath=FAST)
def centred_products(z, responsibilities, mean, whitener, index, scratch, scratch_rows, out):  # type: ignore[no-untyped-def]
    """Add Σ_j r_j u_j u_jᵀ, upper triangle, of u = [1, z - mean]; whitened where there is a whitener.

    Rows without responsibility, and those that no component explains, where it is NaN, are left out first.
    """
    d, n = z.shape
    q = 0
    for j in range(n):
        q += 1 if responsibilities[j] > 0.0 else 0
    if q == 0:
        return
    rows = scratch_rows[: (d + 1) * q].reshape(d + 1, q)
    r, white = responsibilities[:q], scratch[:q]
    if q < n:
        _pack_positive(responsibilities, index)
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
        for j in range(q):
            rows[1 + i, j] = white[j]
    _products(rows, r, out)


@compiled(fastmath=FAST)
def diagonal_log_joint(z, mean, whitener, out):  # type: ignore[no-untyped-def]
    """Subtract Σ_i (whitener_i (z_i - mean_i))² / 2."""
    d, n = z.shape
    for i in range(d):
        m, c, column = mean[i], whitener[i], z[i]
        for j in range(n):
            t = c * (column[j] - m)
            out[j] -= 0.5 * t * t


@compiled(fastmath=FAST)
def diagonal_products(z, responsibilities, mean, out):  # type: ignore[no-untyped-def]
    """Add Σ_j r_j [1, z_j - mean, (z_j - mean)²]; NaN, where no component explains the row, counts as 0."""
    d, n = z.shape
    weight = 0.0
    for j in range(n):
        responsibilities[j] = responsibilities[j] if responsibilities[j] > 0.0 else 0.0  # noqa: FURB136  (max may keep NaN)
        weight += responsibilities[j]
    if weight == 0.0:
        return
    out[0] += weight
    for i in range(d):
        m, column = mean[i], z[i]
        first = second = 0.0
        for j in range(n):
            t = column[j] - m if responsibilities[j] > 0.0 else 0.0
            u = responsibilities[j] * t
            first += u
            second += u * t
        out[1 + i] += first
        out[1 + d + i] += second


@compiled()
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


@compiled(fastmath=FAST)
def _combine_rows(coefficients, triangle, d, out):  # type: ignore[no-untyped-def]
    """Write Σ_l coefficients[l] times row l of a lower triangle, over the first d."""
    for j in range(d):
        out[j] = 0.0
    for l in range(d):
        a, row = coefficients[l], triangle[l]
        for j in range(l + 1):
            out[j] += a * row[j]


@compiled(fastmath=FAST)
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


@compiled()
def _add(sums, a, b, value):  # type: ignore[no-untyped-def]
    sums[min(a, b), max(a, b)] += value


@compiled(fastmath=FAST)
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
