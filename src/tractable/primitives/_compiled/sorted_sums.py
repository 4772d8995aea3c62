"""See `tractable.primitives.line_sums`: sums of windows with an end, and of the Laplace, over sorted points.

Points fall into bins of a quarter of the window. Within a bin the window is a sum of few functions of the
point about the centre (powers, or a sine and a cosine), whose running totals are kept: a part of a bin is one
difference. Where that difference might not leave eleven digits, the points are added one by one.
"""

import math

import numpy as np
from numba import njit

__all__ = ["laplace_passes", "log_disc_sums", "log_laplace_sums", "normal_lower_sums", "running_totals"]

#: Fewer points than this are added one by one.
_FEW = 24
#: What a sum of running totals may lose, beside what it is: see `_settled`.
_TOLERANCE = 1e-11


@njit(nogil=True, cache=True)
def running_totals(x, weights, starts, first, kind):  # type: ignore[no-untyped-def]
    """Running totals within every bin of w times the functions of the window, (n, 5)."""
    totals = np.zeros((len(x), 5))
    for b in range(len(starts)):
        centre = starts[b] + 0.125
        for i in range(first[b], first[b + 1]):
            u, w = x[i] - centre, weights[i]
            if kind == 4:
                totals[i, 0] = w
                totals[i, 1] = w * np.cos(0.5 * np.pi * u)
                totals[i, 2] = w * np.sin(0.5 * np.pi * u)
            else:
                for k in range(5):
                    totals[i, k] = w
                    w *= u
            if i > first[b]:
                totals[i] += totals[i - 1]
    return totals


@njit(nogil=True, cache=True, error_model="numpy")
def log_disc_sums(x, weights, starts, first, totals, kind, queries, left, begin, out):  # type: ignore[no-untyped-def]
    """Write log Σ_i w_i k(q - x_i); or, where `left` is not empty, of points without so much of them."""
    for j in range(len(queries)):
        q, own = queries[j], begin + j if left.size else -1
        low, high = np.searchsorted(x, q - 1.0), np.searchsorted(x, q + 1.0, "right")
        away = left[j] if left.size else 0.0
        total = 0.0
        settled = high - low > _FEW
        if settled:
            middle = np.searchsorted(x, q) if kind == 1 else high
            lower, lost = _ranged(starts, first, totals, kind, q, low, middle, 1.0)
            upper, gone = _ranged(starts, first, totals, kind, q, middle, high, -1.0)
            total = lower + upper - away
            settled = lost + gone <= _TOLERANCE * total and total > 1e-3 * away
        if not settled:
            total = 0.0
            for i in range(low, high):
                w = max(weights[i] - away, 0.0) if i == own else weights[i]
                total += w * _height(kind, abs(q - x[i]))
        out[j] = np.log(total) if total > 0.0 else -np.inf


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _height(kind, r):  # type: ignore[no-untyped-def]
    if r > 1.0:
        return 0.0
    if kind == 0:
        return 1.0
    if kind == 1:
        return 1.0 - r
    if kind == 2:
        return 1.0 - r * r
    if kind == 3:
        return (1.0 - r * r) ** 2
    return np.sin(0.5 * np.pi * (1.0 - r))


@njit(nogil=True, cache=True, error_model="numpy")
def _ranged(starts, first, totals, kind, q, low, high, side):  # type: ignore[no-untyped-def]
    """The sum over points low to high, and a bound on its rounding."""
    total, lost = 0.0, 0.0
    if high <= low:
        return total, lost
    b = np.searchsorted(first, low, "right") - 1
    m = np.zeros(5)
    while b < len(starts) and first[b] < high:
        begin, end = max(low, first[b]), min(high, first[b + 1])
        for k in range(5):
            m[k] = totals[end - 1, k] - (totals[begin - 1, k] if begin > first[b] else 0.0)
        lost += 1e-15 * (8.0 + np.sqrt(end - first[b])) * totals[end - 1, 0]
        total += _combined(kind, q - starts[b] - 0.125, m, side)
        b += 1
    return total, lost


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _combined(kind, v, m, side):  # type: ignore[no-untyped-def]
    """Σ w k(v - u) from the sums of w u^k (or of cosine and sine)."""
    if kind == 0:
        return m[0]
    if kind == 1:  # 1 - |v - u|, on one side of the query
        return m[0] - side * (v * m[0] - m[1])
    if kind == 2:
        return (1.0 - v * v) * m[0] + 2.0 * v * m[1] - m[2]
    if kind == 3:  # (1 - (v-u)²)², the square written out
        c = 1.0 - v * v
        return c * c * m[0] + 4.0 * v * c * m[1] + (4.0 * v * v - 2.0 * c) * m[2] - 4.0 * v * m[3] + m[4]
    return np.cos(0.5 * np.pi * v) * m[1] + np.sin(0.5 * np.pi * v) * m[2]


@njit(nogil=True, cache=True)
def laplace_passes(x, weights):  # type: ignore[no-untyped-def]
    """Σ w exp(-(x_i - x_j)) over the points up to each, and over those from each on, in two passes."""
    n = len(x)
    below, above = np.empty(n), np.empty(n)
    total = 0.0
    for i in range(n):
        total = weights[i] + (total * np.exp(x[i - 1] - x[i]) if i else 0.0)
        below[i] = total
    total = 0.0
    for i in range(n - 1, -1, -1):
        total = weights[i] + (total * np.exp(x[i] - x[i + 1]) if i + 1 < n else 0.0)
        above[i] = total
    return below, above


@njit(nogil=True, cache=True, error_model="numpy")
def log_laplace_sums(x, weights, below, above, queries, left, begin, out):  # type: ignore[no-untyped-def]
    """Write log Σ_i w_i exp(-|q - x_i|); all terms are positive, and none is lost far away."""
    n = len(x)
    for j in range(len(queries)):
        q = queries[j]
        at = begin + j if left.size else np.searchsorted(x, q)
        after = at + 1 if left.size else at
        lower = np.log(below[at - 1]) - (q - x[at - 1]) if at > 0 else -np.inf
        upper = np.log(above[after]) - (x[after] - q) if after < n else -np.inf
        top = max(lower, upper)
        kept = max(weights[at] - left[j], 0.0) if left.size else 0.0
        if kept > 0.0:
            top = max(top, np.log(kept))
        if top == -np.inf:
            out[j] = -np.inf
        else:
            own = kept * np.exp(-top) if kept > 0.0 else 0.0
            out[j] = top + np.log(np.exp(lower - top) + np.exp(upper - top) + own)


@njit(nogil=True, cache=True, error_model="numpy")
def normal_lower_sums(x, weights, running, queries, out):  # type: ignore[no-untyped-def]
    """Write Σ w_i Φ(q - x_i): points far below count in full, points far above not at all."""
    for j in range(len(queries)):
        q = queries[j]
        low, high = np.searchsorted(x, q - 9.0), np.searchsorted(x, q + 39.0)
        total = running[low]
        for i in range(low, high):
            total += weights[i] * 0.5 * math.erfc((x[i] - q) * 0.7071067811865476)
        out[j] = total
