"""See `tractable.primitives.line_sums`: sums of windows with an end, and of the Laplace, over sorted points.

Points fall into bins of a quarter of the window. Within a bin the window is a sum of few functions of the
point about the centre (powers, or a sine and a cosine), whose running totals are kept: a part of a bin is one
difference. Where that difference might not leave eleven digits, the points are added one by one.
"""

import numpy as np
from numba import njit

__all__ = [
    "COLUMNS",
    "FEW",
    "laplace_passes",
    "log_disc_sums",
    "log_laplace_sums",
    "part_of_bin",
    "running_totals",
    "within",
]

#: Fewer points than this are added one by one.
FEW = 24
#: How many running totals are kept of every point.
COLUMNS = 6
#: What a sum of running totals may lose, beside what it is: see `_settled`.
_TOLERANCE = 1e-11


@njit(nogil=True, cache=True)
def running_totals(x, weights, h, first, centres, kind):  # type: ignore[no-untyped-def]
    """Running totals within every bin of w times the functions of the window, (n, 6)."""
    totals = np.zeros((len(x), COLUMNS))
    for b in range(len(centres)):
        centre = centres[b]
        for i in range(first[b], first[b + 1]):
            u, w = (x[i] - centre) / h, weights[i]
            if kind == 4:
                totals[i, 0] = w
                totals[i, 1] = w * np.cos(0.5 * np.pi * u)
                totals[i, 2] = w * np.sin(0.5 * np.pi * u)
            else:
                for k in range(COLUMNS):
                    totals[i, k] = w
                    w *= u
            if i > first[b]:
                totals[i] += totals[i - 1]
    return totals


@njit(nogil=True, cache=True, error_model="numpy")
def within(x, q, h):  # type: ignore[no-untyped-def]
    """The first sorted point that is no farther than h, and the first beyond."""
    low, high = np.searchsorted(x, q - h), np.searchsorted(x, q + h, "right")
    # The ends of the window are rounded, and may have met a number that is farther than they are.
    if low < high and q - x[low] > h:
        low = np.searchsorted(x, x[low], "right")
    if low < high and x[high - 1] - q > h:
        high = np.searchsorted(x, x[high - 1])
    return low, high


@njit(nogil=True, cache=True, error_model="numpy")
def log_disc_sums(x, weights, h, first, centres, totals, kind, queries, left, begin, out):  # type: ignore[no-untyped-def]
    """Write log Σ_i w_i k((q - x_i)/h); or, where `left` is not empty, of points without so much of them."""
    for j in range(len(queries)):
        q, own = queries[j], begin + j if left.size else -1
        low, high = within(x, q, h)
        away = left[j] if left.size else 0.0
        total = 0.0
        settled = high - low > FEW
        if settled:
            middle = np.searchsorted(x, q) if kind == 1 else high
            lower, lost = _ranged(h, first, centres, totals, kind, q, low, middle, 1.0)
            upper, gone = _ranged(h, first, centres, totals, kind, q, middle, high, -1.0)
            total = lower + upper - away
            settled = lost + gone <= _TOLERANCE * total and total > 1e-3 * away
        if not settled:
            total = 0.0
            for i in range(low, high):
                w = max(weights[i] - away, 0.0) if i == own else weights[i]
                total += w * _height(kind, abs(q - x[i]) / h)
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
def _ranged(h, first, centres, totals, kind, q, low, high, side):  # type: ignore[no-untyped-def]
    """The sum over points low to high, and a bound on its rounding."""
    total, lost = 0.0, 0.0
    if high <= low:
        return total, lost
    b = np.searchsorted(first, low, "right") - 1
    m = np.zeros(COLUMNS)
    while b < len(centres) and first[b] < high:
        lost += part_of_bin(first, totals, b, low, high, m)
        total += _combined(kind, (q - centres[b]) / h, m, side)
        b += 1
    return total, lost


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def part_of_bin(first, totals, b, low, high, m):  # type: ignore[no-untyped-def]
    """Write the sums over the points of a bin from low to high, and return a bound on their rounding."""
    begin, end = max(low, first[b]), min(high, first[b + 1])
    for k in range(COLUMNS):
        m[k] = totals[end - 1, k] - (totals[begin - 1, k] if begin > first[b] else 0.0)
    return 1e-15 * (8.0 + np.sqrt(end - first[b])) * totals[end - 1, 0]


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
def laplace_passes(x, weights, h):  # type: ignore[no-untyped-def]
    """Σ w exp(-(x_i - x_j)/h) over the points up to each, and over those from each on, in two passes."""
    n = len(x)
    below, above = np.empty(n), np.empty(n)
    total = 0.0
    for i in range(n):
        total = weights[i] + (total * np.exp((x[i - 1] - x[i]) / h) if i else 0.0)
        below[i] = total
    total = 0.0
    for i in range(n - 1, -1, -1):
        total = weights[i] + (total * np.exp((x[i] - x[i + 1]) / h) if i + 1 < n else 0.0)
        above[i] = total
    return below, above


@njit(nogil=True, cache=True, error_model="numpy")
def log_laplace_sums(x, weights, h, below, above, queries, left, begin, out):  # type: ignore[no-untyped-def]
    """Write log Σ_i w_i exp(-|q - x_i|/h); all terms are positive, and none is lost far away."""
    n = len(x)
    for j in range(len(queries)):
        q = queries[j]
        at = begin + j if left.size else np.searchsorted(x, q)
        after = at + 1 if left.size else at
        lower = np.log(below[at - 1]) - (q - x[at - 1]) / h if at > 0 else -np.inf
        upper = np.log(above[after]) - (x[after] - q) / h if after < n else -np.inf
        top = max(lower, upper)
        kept = max(weights[at] - left[j], 0.0) if left.size else 0.0
        if kept > 0.0:
            top = max(top, np.log(kept))
        if top == -np.inf:
            out[j] = -np.inf
        else:
            own = kept * np.exp(-top) if kept > 0.0 else 0.0
            out[j] = top + np.log(np.exp(lower - top) + np.exp(upper - top) + own)
