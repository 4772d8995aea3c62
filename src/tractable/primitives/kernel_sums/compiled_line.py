"""Sums of windows of bounded support, and of the Laplace window, over sorted points.

Points fall into bins of a quarter of the window. Within a bin the window is a sum of few functions of the
point about the centre (powers, or a sine and a cosine), whose running totals are kept: a part of a bin is one
difference. Where that difference might not leave eleven digits, the points are added one by one.
"""

import math

import numpy as np

from tractable.primitives.compiled_options import compiled, entry
from tractable.primitives.compiled_search import first_above, first_at_least

_points = "DENSE_VECTOR DENSE_VECTOR FLOAT"  # x, weights, h
_bins = "INDICES DENSE_VECTOR"  # first, centres

#: Fewer points than this are added one by one.
FEW = 24
#: How many running totals are kept of every point.
COLUMNS = 6
#: What a sum of running totals may lose, beside what it is: see `_settled`.
_TOLERANCE = 1e-11


@entry(f"{_points} {_bins} INT", fastmath=False)
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
                for k in range(COLUMNS):
                    totals[i, k] += totals[i - 1, k]
    return totals


@compiled()
def within(x, q, h):  # type: ignore[no-untyped-def]
    """The first sorted point that is no farther than h, and the first beyond."""
    low, high = first_at_least(x, q - h), first_above(x, q + h)
    # The ends of the window are rounded, and may have met a number that is farther than they are.
    if low < high and q - x[low] > h:
        low = first_above(x, x[low])
    if low < high and x[high - 1] - q > h:
        high = first_at_least(x, x[high - 1])
    return low, high


@entry(f"{_points} {_bins} MATRIX INT DENSE_VECTOR DENSE_VECTOR INT OUT_VECTOR", fastmath=False)
def log_disc_sums(x, weights, h, first, centres, totals, kind, queries, left, begin, out):  # type: ignore[no-untyped-def]
    """Write log Σ_i w_i k((q - x_i)/h); or, where `left` is not empty, of points without so much of them."""
    for j in range(len(queries)):
        q, own = queries[j], begin + j if left.size else -1
        low, high = within(x, q, h)
        away = left[j] if left.size else 0.0
        total = 0.0
        settled = high - low > FEW
        if settled:
            middle = first_at_least(x, q) if kind == 1 else high
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


@compiled(inline="always")
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


@compiled()
def _ranged(h, first, centres, totals, kind, q, low, high, side):  # type: ignore[no-untyped-def]
    """The sum over points low to high, and a bound on its rounding."""
    total, lost = 0.0, 0.0
    if high <= low:
        return total, lost
    b = first_above(first, low) - 1
    m = np.zeros(COLUMNS)
    while b < len(centres) and first[b] < high:
        lost += part_of_bin(first, totals, b, low, high, m)
        total += _combined(kind, (q - centres[b]) / h, m, side)
        b += 1
    return total, lost


@compiled(inline="always")
def part_of_bin(first, totals, b, low, high, m):  # type: ignore[no-untyped-def]
    """Write the sums over the points of a bin from low to high, and return a bound on their rounding."""
    begin, end = max(low, first[b]), min(high, first[b + 1])
    for k in range(COLUMNS):
        m[k] = totals[end - 1, k] - (totals[begin - 1, k] if begin > first[b] else 0.0)
    return 1e-15 * (8.0 + np.sqrt(end - first[b])) * totals[end - 1, 0]


@compiled(inline="always")
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


@entry(_points, fastmath=False)
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


@entry(f"{_points} DENSE_VECTOR DENSE_VECTOR DENSE_VECTOR DENSE_VECTOR INT OUT_VECTOR", fastmath=False)
def log_laplace_sums(x, weights, h, below, above, queries, left, begin, out):  # type: ignore[no-untyped-def]
    """Write log Σ_i w_i exp(-|q - x_i|/h); all terms are positive, and none is lost far away."""
    n = len(x)
    for j in range(len(queries)):
        q = queries[j]
        at = begin + j if left.size else first_at_least(x, q)
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


ORDER = 28
#: Beyond so many bandwidths a Gaussian window lies on one side of a query, but for less than a rounding.
_WHOLE = 8.5
#: Bins farther on the wrong side are summed point by point, since their series cancel.
_SERIES = 10.5
_TAIL_TOLERANCE = 1e-14


@entry(f"{_points} {_bins}", fastmath={"contract", "reassoc"})
def plain_moments(x, weights, h, first, centres):  # type: ignore[no-untyped-def]
    """Σ w u^k / k! about the centre of every bin, (bins, ORDER)."""
    moments = np.zeros((len(centres), ORDER))
    for b in range(len(centres)):
        row = moments[b]
        for i in range(first[b], first[b + 1]):
            u, term = (x[i] - centres[b]) / h, weights[i]
            for k in range(ORDER):
                row[k] += term
                term *= u / (k + 1.0)
    return moments


@compiled()
def _below(z):  # type: ignore[no-untyped-def]
    return 0.5 * math.erfc(-0.7071067811865476 * z)


@entry(f"{_points} DENSE_VECTOR {_bins} MATRIX DENSE_VECTOR INT DENSE_VECTOR OUT_VECTOR", fastmath=False)
def normal_tails(x, weights, h, starts, first, centres, moments, running, side, queries, out):  # type: ignore[no-untyped-def]
    """Write Σ w_i Φ(side (q - x_i)/h); `running` is the weight before each point, as that side counts it."""
    bins = len(starts)
    for j in range(len(queries)):
        q = queries[j]
        if side > 0:
            b = max(first_at_least(starts, q - (_WHOLE + 0.5) * h) - 1, 0)
            total, end = running[first[b]], bins
        else:
            b = first_above(starts, q + _WHOLE * h)
            total, end = running[first[b]], -1
            b -= 1
        while b != end:
            # No point of this bin or of those to come is nearer, or farther on this side.
            edge = side * (q - starts[b]) / h if side > 0 else side * (q - x[first[b + 1] - 1]) / h
            rest = running[-1] - running[first[b]] if side > 0 else running[0] - running[first[b + 1]]
            if edge < -2.0 and rest * _below(edge) <= _TAIL_TOLERANCE * total:
                break
            v = (q - centres[b]) / h
            if side * v < -_SERIES:
                for i in range(first[b], first[b + 1]):
                    total += weights[i] * _below(side * (q - x[i]) / h)
            else:
                total += _bin_tail(moments[b], v, side)
            b += side
        out[j] = total


@compiled(fastmath={"contract"})
def _bin_tail(m, v, side):  # type: ignore[no-untyped-def]
    total = m[0] * _below(side * v)
    if side * v < _WHOLE + 0.5:
        before, he, s = 0.0, 1.0, 0.0
        for k in range(1, ORDER):
            s += he * m[k]
            before, he = he, v * he - (k - 1.0) * before
        total -= side * s * math.exp(-0.5 * v * v) * 0.3989422804014327
    return total


@entry(f"{_points} {_bins} MATRIX INT DENSE_VECTOR INT DENSE_VECTOR OUT_VECTOR", fastmath=False)
def disc_tails(x, weights, h, first, centres, totals, kind, running, side, queries, out):  # type: ignore[no-untyped-def]
    """Write Σ w_i F(side (q - x_i)/h) of a window with an end; where digits might be lost, point by point."""
    m = np.zeros(COLUMNS)
    for j in range(len(queries)):
        q = queries[j]
        low, high = within(x, q, h)
        whole = running[low] if side > 0 else running[high]
        total, lost = whole, 0.0
        settled = high - low > FEW
        if settled:
            middle = first_at_least(x, q) if kind == 1 else high
            b = first_above(first, low) - 1
            while b < len(centres) and first[b] < high:
                v = (q - centres[b]) / h
                begin, end = max(low, first[b]), min(high, first[b + 1])
                if begin < min(end, middle):
                    lost += part_of_bin(first, totals, b, low, middle, m)
                    total += 0.5 * m[0] + side * _odd(kind, v, m, 1.0)
                if max(begin, middle) < end:
                    lost += part_of_bin(first, totals, b, max(low, middle), high, m)
                    total += 0.5 * m[0] + side * _odd(kind, v, m, -1.0)
                b += 1
            settled = lost <= 1e-11 * total
        if not settled:
            total = whole
            for i in range(low, high):
                total += weights[i] * _held(kind, side * (q - x[i]) / h)
        out[j] = total


@compiled(inline="always")
def _odd(kind, v, m, sign):  # type: ignore[no-untyped-def]
    """Σ w (F(t) - 1/2) of t = v - u, an odd function, from the sums of w u^k (or of cosine and sine)."""
    if kind == 4:
        return 0.5 * (math.sin(0.5 * math.pi * v) * m[1] - math.cos(0.5 * math.pi * v) * m[2])
    first = v * m[0] - m[1]
    if kind == 0:
        return 0.5 * first
    if kind == 1:  # t - t|t|/2, on one side of the query
        return first - sign * 0.5 * (v * v * m[0] - 2.0 * v * m[1] + m[2])
    third = v**3 * m[0] - 3.0 * v * v * m[1] + 3.0 * v * m[2] - m[3]
    if kind == 2:
        return 0.75 * first - 0.25 * third
    fifth = v**5 * m[0] - 5.0 * v**4 * m[1] + 10.0 * v**3 * m[2] - 10.0 * v * v * m[3] + 5.0 * v * m[4] - m[5]
    return (15.0 * first - 10.0 * third + 3.0 * fifth) / 16.0


@compiled()
def _held(kind, t):  # type: ignore[no-untyped-def]
    """F(t), the mass of a window below t, with the digits of the lower tail."""
    s = 1.0 - min(abs(t), 1.0)
    if kind == 0:
        below = 0.5 * s
    elif kind == 1:
        below = 0.5 * s * s
    elif kind == 2:
        below = 0.25 * s * s * (3.0 - s)
    elif kind == 3:
        below = s**3 * (20.0 - 15.0 * s + 3.0 * s * s) / 16.0
    else:
        below = math.sin(0.25 * math.pi * s) ** 2
    return 1.0 - below if t > 0.0 else below


@entry(
    "DENSE_VECTOR FLOAT DENSE_VECTOR DENSE_VECTOR DENSE_VECTOR INT DENSE_VECTOR OUT_VECTOR", fastmath=False
)
def laplace_tails(x, h, below, above, running, side, queries, out):  # type: ignore[no-untyped-def]
    """Write Σ w_i F(side (q - x_i)/h) of the Laplace window, from the passes in either direction."""
    n = len(x)
    for j in range(len(queries)):
        q = queries[j]
        at = first_above(x, q) if side > 0 else first_at_least(x, q)
        lower = 0.5 * below[at - 1] * math.exp(-(q - x[at - 1]) / h) if at > 0 else 0.0
        upper = 0.5 * above[at] * math.exp(-(x[at] - q) / h) if at < n else 0.0
        out[j] = running[at] + side * (upper - lower)
