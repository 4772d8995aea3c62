"""Moments, triangular factors, exact residual sums, gradient steps, and Mahalanobis distances."""

import numpy as np

from tractable.primitives.compiled_options import FAST, compiled, entry

#: Sums of squares about a point p exceed the scatter s of a column by n (mean - p)². Where that is at most
#: this many times s, subtracting it loses at most so many times rounding. First rows of a class that are
#: eight standard deviations from its mean are rare.
NEAR = 64.0

#: Passes over the rows, each about the mean that the last one found, until it is near: the mean of rows of
#: next to no weight may have none of the digits of the others.
MOST_PASSES = 3

#: Rows, evenly spread over a block, whose mean is the first point: it is about a twentieth of a standard
#: deviation from that of all rows, whatever their order.
SPREAD_ROWS = 512


@entry("ROWS ROWS VECTOR INT", fastmath={"contract", "nsz", "arcp"})
def moments(x, y, weights, rows):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.linear.joint_moments`."""
    n, d = len(x), x.shape[1] + y.shape[1]
    all_rows, mean, scatter, rest = np.arange(0), np.empty(d), np.empty((d, d)), np.empty(d)
    z, product = np.empty((rows, d)), np.empty((d, d))
    first = _first_that_counts(all_rows, n, weights)
    for j in range(d):
        mean[j] = x[first, j] if j < x.shape[1] else y[first, j - x.shape[1]]
    # The mean of these rows is mostly so near that of all that one pass over all is enough.
    some = np.arange(0, n, max(1, n // SPREAD_ROWS))
    _moments_about(x, y, some, len(some), weights, 1.0, z, product, mean, scatter, rest)
    total = _moments_near(x, y, all_rows, n, weights, 1.0, z, product, mean, scatter, rest)
    return total, mean, scatter, rest


@entry("MATRIX INDICES DENSE_VECTOR INT INT FLOAT", fastmath={"contract", "nsz", "arcp"})
def class_moments(x, codes, weights, K, rows, smallest):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.linear.class_moments`."""
    (n, d), edges, y = x.shape, np.zeros(K + 1, np.int64), x[:, :0]
    for i in range(n):
        edges[codes[i] + 1] += 1
    for c in range(K):
        edges[c + 1] += edges[c]
    order, place = np.empty(n, np.int64), edges.copy()
    for i in range(n):
        order[place[codes[i]]] = i
        place[codes[i]] += 1
    total, mean, scatter = np.zeros(K), np.zeros((K, d)), np.zeros((K, d, d))
    z, product, rest = np.empty((rows, d)), np.empty((d, d)), np.empty(d)
    for c in range(K):
        row_numbers, m = order[edges[c] : edges[c + 1]], edges[c + 1] - edges[c]
        first = _first_that_counts(row_numbers, m, weights)
        for j in range(d if m else 0):
            mean[c, j] = x[first, j]
        total[c] = _moments_near(x, y, row_numbers, m, weights, NEAR, z, product, mean[c], scatter[c], rest)
        for j in range(d):
            if not (np.isfinite(mean[c, j]) and np.isfinite(scatter[c, j, j])):
                return total, mean, scatter, False
            if scatter[c, j, j] < smallest:
                least = 4.0 * np.finfo(np.float64).eps * abs(mean[c, j])
                for i in row_numbers:
                    if abs(x[i, j] - mean[c, j]) > least:
                        return total, mean, scatter, False
    return total, mean, scatter, True


@compiled()
def _first_that_counts(row_numbers, n, weights):  # type: ignore[no-untyped-def]
    """Return the number of the first of n rows whose weight is not zero: others may hold anything."""
    for i in range(n):
        at = row_numbers[i] if len(row_numbers) else i
        if not len(weights) or weights[at] > 0.0:
            return at
    return 0


@compiled()
def _moments_near(  # type: ignore[no-untyped-def]
    x, y, row_numbers, n, weights, largest_ratio, z, product, mean, scatter, rest
):
    """Set mean and scatter as `_moments_about` does, until the mean given is near; return the weight."""
    total, is_near, passes = 0.0, False, 0
    while not is_near and passes < MOST_PASSES:
        total, is_near = _moments_about(
            x, y, row_numbers, n, weights, largest_ratio, z, product, mean, scatter, rest
        )
        passes += 1
    if total == 0.0:
        mean[:] = 0.0
        rest[:] = 0.0
    return total


# Not reassociated: sums of x - mean would be sums of x less multiples of the mean, of fewer digits.
@compiled(fastmath={"contract"})
def _moments_about(  # type: ignore[no-untyped-def]
    x, y, row_numbers, n, weights, largest_ratio, z, product, mean, scatter, rest
):
    """Set mean and scatter of n rows [x, y], and the rest of the mean, by sums about the mean given.

    Returns the weight of the rows, and whether the mean given was near: whether n (mean - given)² is at most
    `largest_ratio` times the scatter of every column. The rows are those of `row_numbers`, or where that is
    empty the first n.
    """
    (rows, d), p, total = z.shape, x.shape[1], 0.0
    sums, part = np.zeros(d), np.empty(d)
    for j in range(d):
        for k in range(d):
            scatter[j, k] = 0.0
    for start in range(0, n, rows):
        m = min(rows, n - start)
        part[:] = 0.0
        for i in range(m):
            at = row_numbers[start + i] if len(row_numbers) else start + i
            w = weights[at] if len(weights) else 1.0
            root = np.sqrt(w)
            total += w
            for j in range(p):
                step = x[at, j] - mean[j]
                part[j] += w * step
                z[i, j] = root * step
            for j in range(p, d):
                step = y[at, j - p] - mean[j]
                part[j] += w * step
                z[i, j] = root * step
        np.dot(z[:m].T, z[:m], product)
        for j in range(d):
            sums[j] += part[j]
            for k in range(d):
                scatter[j, k] += product[j, k]
    is_near = True
    for j in range(d if total > 0.0 else 0):
        shift, before = sums[j] / total, mean[j]
        mean[j] = before + shift
        rest[j] = shift - (mean[j] - before)
        for k in range(j + 1):
            scatter[j, k] -= shift * sums[k]
            scatter[k, j] = scatter[j, k]
        is_near &= shift * sums[j] <= largest_ratio * scatter[j, j]
    return total, is_near


# Not reassociated: x - shift - center would be x - (shift + center), of fewer digits. Four rows at a time, so
# that the sums of columns are read and written a quarter as often.
@entry("MATRIX DENSE_VECTOR INT", fastmath={"contract"})
def diagonal_moments(x, weights, rows):  # type: ignore[no-untyped-def]
    n, d = x.shape
    total, mean, scatter = 0.0, np.zeros(d), np.zeros(d)
    center, remainder, square, w = np.empty(d), np.empty(d), np.empty(d), np.ones(rows + 3)
    shift, first = np.empty(d), _first_that_counts(np.arange(0), n, weights)
    for j in range(d):
        shift[j] = x[first, j]
    for start in range(0, n, rows):
        m = min(rows, n - start)
        weight = 0.0
        for i in range(m):
            w[i] = weights[start + i] if len(weights) else 1.0
            weight += w[i]
        if weight == 0.0:
            continue
        for i in range(m, m + 3):
            w[i] = 0.0
        for j in range(d):
            center[j], remainder[j], square[j] = 0.0, 0.0, 0.0
        for i in range(0, m, 4):
            a = start + i
            b, c, e = min(a + 1, n - 1), min(a + 2, n - 1), min(a + 3, n - 1)  # those beyond have no weight
            for j in range(d):
                s = shift[j]
                center[j] += (w[i] * (x[a, j] - s) + w[i + 1] * (x[b, j] - s)) + (
                    w[i + 2] * (x[c, j] - s) + w[i + 3] * (x[e, j] - s)
                )
        for j in range(d):
            center[j] /= weight
        for i in range(0, m, 4):
            a = start + i
            b, c, e = min(a + 1, n - 1), min(a + 2, n - 1), min(a + 3, n - 1)
            for j in range(d):
                s, t = shift[j], center[j]
                z0, z1, z2, z3 = x[a, j] - s - t, x[b, j] - s - t, x[c, j] - s - t, x[e, j] - s - t
                remainder[j] += (w[i] * z0 + w[i + 1] * z1) + (w[i + 2] * z2 + w[i + 3] * z3)
                square[j] += (w[i] * z0 * z0 + w[i + 1] * z1 * z1) + (w[i + 2] * z2 * z2 + w[i + 3] * z3 * z3)
        both = total + weight
        for j in range(d):
            remainder[j] /= weight
            center[j] += remainder[j]
            between = total * weight / both * (center[j] - mean[j]) ** 2
            scatter[j] += square[j] - weight * remainder[j] ** 2 + between
            mean[j] += weight / both * (center[j] - mean[j])
        total = both
    rest = np.zeros(d)
    for j in range(d if total > 0.0 else 0):
        step = mean[j]
        mean[j] = shift[j] + step
        rest[j] = step - (mean[j] - shift[j])
    return total, mean, scatter, rest


@entry("ROWS ROWS VECTOR INT BOOL")
def centred_triangle(x, y, weights, rows, centred):  # type: ignore[no-untyped-def]
    """See `tractable.primitives.linear.centred_triangle` and `tractable.primitives.linear.triangle`."""
    (n, d), columns = x.shape, x.shape[1] + y.shape[1]
    total, mean, factor = 0.0, np.zeros(columns), np.zeros((columns, columns))
    panel = np.empty((columns, rows + 1))  # transposed: reflections run along columns
    w, root, shift = np.ones(rows), np.ones(rows), np.zeros(columns)
    if centred:
        first = _first_that_counts(np.arange(0), n, weights)
        for j in range(columns):
            shift[j] = x[first, j] if j < d else y[first, j - d]
    for start in range(0, n, rows):
        m = min(rows, n - start)
        for i in range(m):
            for j in range(d):
                panel[j, i] = x[start + i, j] - shift[j]
            for j in range(d, columns):
                panel[j, i] = y[start + i, j - d] - shift[j]
        if len(weights):
            for i in range(m):
                w[i] = weights[start + i]
                root[i] = np.sqrt(w[i])
        weight = w[:m].sum()
        if weight == 0.0:
            continue
        both = total + weight
        between = np.sqrt(total * weight / both)
        for j in range(columns):
            column, center = panel[j], 0.0
            if centred:
                center = _center(column, w, m, weight)
                center += _center(column, w, m, weight)  # what rounding left
            if len(weights):
                for i in range(m):
                    column[i] *= root[i]
            # The step between the means is one row more: the pairwise update, by reflections.
            step = center - mean[j]
            column[m] = between * step
            mean[j] += weight / both * step
        total = both
        _reflect(factor, panel, m + 1 if centred else m)
    if total == 0.0:
        shift[:] = 0.0
    return total, shift, mean, factor


@compiled(fastmath=FAST)
def _center(column, w, m, weight):  # type: ignore[no-untyped-def]
    """Return the weighted mean of m numbers, which is subtracted from them."""
    center = 0.0
    for i in range(m):
        center += w[i] * column[i]
    center /= weight
    for i in range(m):
        column[i] -= center
    return center


@compiled(fastmath=FAST)
def _reflect(factor, panel, m):  # type: ignore[no-untyped-def]
    """Reflect m rows, the columns of the panel, into the factor above them; both are overwritten."""
    columns = len(factor)
    for k in range(columns):
        v, alpha = panel[k], factor[k, k]
        length = _length(v, m)
        if length == 0.0:
            continue
        beta = -np.copysign(np.hypot(alpha, length), alpha)
        tau, scale = (beta - alpha) / beta, 1.0 / (alpha - beta)
        for i in range(m):
            v[i] *= scale
        factor[k, k] = beta
        j = k + 1
        while j + 4 <= columns:  # four at a time: v is read from memory for all of them
            a, b, c, d = panel[j], panel[j + 1], panel[j + 2], panel[j + 3]
            p, q, r, s = factor[k, j], factor[k, j + 1], factor[k, j + 2], factor[k, j + 3]
            for i in range(m):
                p += v[i] * a[i]
                q += v[i] * b[i]
                r += v[i] * c[i]
                s += v[i] * d[i]
            p, q, r, s = tau * p, tau * q, tau * r, tau * s
            factor[k, j] -= p
            factor[k, j + 1] -= q
            factor[k, j + 2] -= r
            factor[k, j + 3] -= s
            for i in range(m):
                a[i] -= p * v[i]
                b[i] -= q * v[i]
                c[i] -= r * v[i]
                d[i] -= s * v[i]
            j += 4
        while j < columns:
            a, p = panel[j], factor[k, j]
            for i in range(m):
                p += v[i] * a[i]
            p *= tau
            factor[k, j] -= p
            for i in range(m):
                a[i] -= p * v[i]
            j += 1


@compiled(fastmath=FAST)
def _length(v, m):  # type: ignore[no-untyped-def]
    """Return the Euclidean length of m numbers, whose squares may be too large or too small."""
    square, largest = 0.0, 0.0
    for i in range(m):
        square += v[i] * v[i]
    if 1e-280 < square < 1e280:
        return np.sqrt(square)
    for i in range(m):
        largest = max(largest, abs(v[i]))
    if largest == 0.0:
        return 0.0
    square = 0.0
    for i in range(m):
        square += (v[i] / largest) ** 2
    return largest * np.sqrt(square)


# No fastmath below: every rounding error is wanted.


@entry("ROWS ROWS VECTOR DENSE_VECTOR MATRIX MATRIX DENSE_VECTOR DENSE_VECTOR", fastmath=False)
def residual_sums(x, y, weights, centre, coef_high, coef_low, offset_high, offset_low):  # type: ignore[no-untyped-def]
    n, d = x.shape
    t = y.shape[1]
    high, low = np.zeros((t, d + 2)), np.zeros((t, d + 2))
    row, rest = np.empty(d), np.empty(d)
    for i in range(n):
        for j in range(d):
            row[j], rest[j] = _two_sum(x[i, j], -centre[j])
        for k in range(t):
            r, e = _plus_product(y[i, k], 0.0, -1.0, 0.0, offset_high[k], offset_low[k])
            for j in range(d):
                r, e = _plus_product(r, e, row[j], rest[j], -coef_high[k, j], -coef_low[k, j])
            u, v = _plus_product(0.0, 0.0, r, e, weights[i], 0.0)
            high[k, 0], low[k, 0] = _plus_product(high[k, 0], low[k, 0], u, v, 1.0, 0.0)
            for j in range(d):
                high[k, j + 1], low[k, j + 1] = _plus_product(
                    high[k, j + 1], low[k, j + 1], row[j], rest[j], u, v
                )
            high[k, d + 1], low[k, d + 1] = _plus_product(high[k, d + 1], low[k, d + 1], r, e, u, v)
    return high, low


@compiled()
def _two_sum(a, b):  # type: ignore[no-untyped-def]
    """Knuth: the rounded sum and its error."""
    s = a + b
    b_part = s - a
    return s, (a - (s - b_part)) + (b - b_part)


@compiled()
def _plus_product(h, l, a, al, b, bl):  # type: ignore[no-untyped-def]
    """(h + l) + (a + al)(b + bl); the product by Dekker's splitting."""
    scaled = 134217729.0 * a
    a_high = scaled - (scaled - a)
    a_low = a - a_high
    scaled = 134217729.0 * b
    b_high = scaled - (scaled - b)
    b_low = b - b_high
    p = a * b
    error = ((a_high * b_high - p) + a_high * b_low + a_low * b_high) + a_low * b_low
    s, e = _two_sum(h, p)
    return _two_sum(s, e + (error + (a * bl + al * b)) + l)


@entry("MATRIX DENSE_VECTOR DENSE_VECTOR DENSE_VECTOR INT DENSE_VECTOR", fastmath={"contract", "reassoc"})
def gradient_pass(rows, targets, weights, steps, batch_size, start):  # type: ignore[no-untyped-def]
    n, p = rows.shape
    w, total, slope = start.copy(), np.zeros(p), np.empty(p)
    squared = 0.0
    for b in range(len(steps)):
        first, last = b * batch_size, min((b + 1) * batch_size, n)
        slope[:] = 0.0
        for i in range(first, last):
            error = targets[i]
            for j in range(p):
                error -= w[j] * rows[i, j]
            squared += weights[i] * error * error
            for j in range(p):
                slope[j] += weights[i] * error * rows[i, j]
        for j in range(p):
            w[j] += steps[b] * slope[j] / (last - first)
            total[j] += w[j]
    return w, total, squared


#: Rows solved together: sixteen columns of them fit the first-level cache.
_ROWS = 128


@entry("ROWS DENSE_VECTOR MATRIX", fastmath={"contract", "reassoc"})
def squared_mahalanobis(x, mean, lower):  # type: ignore[no-untyped-def]
    n, d = x.shape
    out, white = np.empty(n), np.empty((d, _ROWS))
    for start in range(0, n, _ROWS):
        rows = min(_ROWS, n - start)
        total = out[start : start + rows]
        total[:] = 0.0
        for i in range(rows):
            for j in range(d):
                white[j, i] = x[start + i, j] - mean[j]
        for j in range(d):
            _subtract_known(white, lower[j], j, rows)
            _accumulate(white[j], lower[j, j], total, rows)
    return out


@compiled(fastmath={"contract", "reassoc"}, inline="always")
def _subtract_known(white, row, j, rows):  # type: ignore[no-untyped-def]
    """Step j of forward substitution for every row of the block, four known columns at a time."""
    unknown = white[j]
    k = 0
    while k + 4 <= j:
        a, b, c, e = row[k], row[k + 1], row[k + 2], row[k + 3]
        first, second, third, fourth = white[k], white[k + 1], white[k + 2], white[k + 3]
        for i in range(rows):
            unknown[i] -= a * first[i] + b * second[i] + c * third[i] + e * fourth[i]
        k += 4
    while k < j:
        a, first = row[k], white[k]
        for i in range(rows):
            unknown[i] -= a * first[i]
        k += 1


@compiled(fastmath={"contract", "reassoc"}, inline="always")
def _accumulate(unknown, pivot, total, rows):  # type: ignore[no-untyped-def]
    inverse = 1.0 / pivot
    for i in range(rows):
        solved = unknown[i] * inverse
        unknown[i] = solved
        total[i] += solved * solved
