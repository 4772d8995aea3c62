"""See `tractable.primitives.tail_sums`: sums of distribution functions of windows over sorted points.

`side` is 1 for the mass below a query and -1 for the mass above it. Bins on the far side count in full, by
running totals of weight; those whose windows hold the query by moments about their centres, with
u = (x - c)/h and v = (q - c)/h: for the Gaussian, Φ(v - u) = Φ(v) - φ(v) Σ_k He_{k-1}(v) u^k / k!.
"""

import math

import numpy as np
from numba import njit

from tractable.primitives._compiled.sorted_sums import COLUMNS, FEW, part_of_bin, within

__all__ = ["disc_tails", "laplace_tails", "normal_tails", "plain_moments"]

ORDER = 28
#: Beyond so many bandwidths a Gaussian window lies on one side of a query, but for less than a rounding.
_WHOLE = 8.5
#: Bins farther on the wrong side are summed point by point, since their series cancel.
_SERIES = 10.5
_TOLERANCE = 1e-14


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
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


@njit(nogil=True, cache=True, error_model="numpy")
def _below(z):  # type: ignore[no-untyped-def]
    return 0.5 * math.erfc(-0.7071067811865476 * z)


@njit(nogil=True, cache=True, error_model="numpy")
def normal_tails(x, weights, h, starts, first, centres, moments, running, side, queries, out):  # type: ignore[no-untyped-def]
    """Write Σ w_i Φ(side (q - x_i)/h); `running` is the weight before each point, as that side counts it."""
    bins = len(starts)
    for j in range(len(queries)):
        q = queries[j]
        if side > 0:
            b = max(np.searchsorted(starts, q - (_WHOLE + 0.5) * h) - 1, 0)
            total, end = running[first[b]], bins
        else:
            b = np.searchsorted(starts, q + _WHOLE * h, "right")
            total, end = running[first[b]], -1
            b -= 1
        while b != end:
            # No point of this bin or of those to come is nearer, or farther on this side.
            edge = side * (q - starts[b]) / h if side > 0 else side * (q - x[first[b + 1] - 1]) / h
            rest = running[-1] - running[first[b]] if side > 0 else running[0] - running[first[b + 1]]
            if edge < -2.0 and rest * _below(edge) <= _TOLERANCE * total:
                break
            v = (q - centres[b]) / h
            if side * v < -_SERIES:
                for i in range(first[b], first[b + 1]):
                    total += weights[i] * _below(side * (q - x[i]) / h)
            else:
                total += _bin_tail(moments[b], v, side)
            b += side
        out[j] = total


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract"})
def _bin_tail(m, v, side):  # type: ignore[no-untyped-def]
    total = m[0] * _below(side * v)
    if side * v < _WHOLE + 0.5:
        before, he, s = 0.0, 1.0, 0.0
        for k in range(1, ORDER):
            s += he * m[k]
            before, he = he, v * he - (k - 1.0) * before
        total -= side * s * math.exp(-0.5 * v * v) * 0.3989422804014327
    return total


@njit(nogil=True, cache=True, error_model="numpy")
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
            middle = np.searchsorted(x, q) if kind == 1 else high
            b = np.searchsorted(first, low, "right") - 1
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


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
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


@njit(nogil=True, cache=True, error_model="numpy")
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


@njit(nogil=True, cache=True, error_model="numpy")
def laplace_tails(x, h, below, above, running, side, queries, out):  # type: ignore[no-untyped-def]
    """Write Σ w_i F(side (q - x_i)/h) of the Laplace window, from the passes in either direction."""
    n = len(x)
    for j in range(len(queries)):
        q = queries[j]
        at = np.searchsorted(x, q, "right") if side > 0 else np.searchsorted(x, q)
        lower = 0.5 * below[at - 1] * math.exp(-(q - x[at - 1]) / h) if at > 0 else 0.0
        upper = 0.5 * above[at] * math.exp(-(x[at] - q) / h) if at < n else 0.0
        out[j] = running[at] + side * (upper - lower)
