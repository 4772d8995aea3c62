"""Sums of Gaussian windows over sorted points, by the fast Gauss transform.

Points fall into bins of half a bandwidth h, and every bin keeps moments: with u = (x - c)/h, v = (q - c)/h,
exp(-(u - v)²/2) = exp(-v²/2) Σ_k v^k [exp(-u²/2) u^k / k!]. As |u| ≤ 1/4 and |v| ≤ 10.5, the series is short
and nearly free of cancellation: 26 terms leave 1e-13 of every bin. Differences are taken before they are
divided by h, so that points far from zero keep their digits.
"""

import numpy as np

from tractable.primitives.compiled_options import compiled, entry
from tractable.primitives.compiled_search import first_above, first_at_least

ORDER = 26
#: Bins whose centres are farther than this are summed point by point.
_REACH = 10.5
#: Queries farther than this from every point are answered in logarithms.
_NEAR = 5.0
#: What may be missing of a sum.
_TOLERANCE = 1e-13
_RECIPROCALS = 1.0 / np.arange(1.0, ORDER + 1.0)


def _terms() -> np.ndarray:
    """How many terms of exp(uv) leave 1e-14 of it, for |u| ≤ 0.255 and |v| ≤ 0, 1, 2, …"""
    found = []
    for v in np.arange(0.0, 12.0):
        product, k, term = 0.255 * v, 0, 1.0
        while term > 1e-14 * np.exp(-product) and k < ORDER:
            k += 1
            term *= product / k
        found.append(max(k, 2))
    return np.array(found, dtype=np.int64)


_TERMS = _terms()

_points = "DENSE_VECTOR DENSE_VECTOR FLOAT"  # x, weights, h
_bins = "DENSE_VECTOR INDICES DENSE_VECTOR"  # starts, first, centres


@entry("DENSE_VECTOR FLOAT", fastmath=False)
def bin_points(x, width):  # type: ignore[no-untyped-def]
    """Cut sorted points into bins no wider than `width`: where each begins, its first point, its centre."""
    first = np.empty(len(x) + 1, dtype=np.int64)
    count, end = 0, -np.inf
    for i in range(len(x)):
        if x[i] > end:
            first[count] = i
            count += 1
            end = x[i] + width
            if abs((end - x[i]) - width) > 0.01 * width:
                end = x[i]  # numbers lie as far apart as bins are wide: each has its own
    first[count] = len(x)
    first = first[: count + 1].copy()
    starts, centres = np.empty(count), np.empty(count)
    for b in range(count):
        start = x[first[b]]
        centre = start + 0.5 * width
        exact = abs((centre - start) - 0.5 * width) <= 0.01 * width
        starts[b], centres[b] = start, centre if exact else start
    return starts, first, centres


@entry(f"{_points} {_bins}", fastmath={"contract", "reassoc"})
def gauss_moments(x, weights, h, starts, first, centres):  # type: ignore[no-untyped-def]
    """Σ w exp(-u²/2) u^k / k! about the centre of every bin, (bins, ORDER)."""
    moments = np.zeros((len(starts), ORDER))
    tile = 64
    u, term = np.empty(tile), np.empty(tile)
    for b in range(len(starts)):
        centre = centres[b]
        for begin in range(first[b], first[b + 1], tile):
            size = min(tile, first[b + 1] - begin)
            for j in range(size):
                u[j] = (x[begin + j] - centre) / h
                term[j] = weights[begin + j] * np.exp(-0.5 * u[j] * u[j])
            for k in range(ORDER):
                total, reciprocal = 0.0, _RECIPROCALS[k]
                for j in range(size):
                    total += term[j]
                    term[j] *= u[j] * reciprocal
                moments[b, k] += total
    return moments


@entry(f"{_points} FLOAT {_bins} MATRIX DENSE_VECTOR OUT_VECTOR", fastmath={"contract"})
def log_sums(x, weights, h, total_weight, starts, first, centres, moments, queries, out):  # type: ignore[no-untyped-def]
    """Write log Σ_i w_i exp(-((q - x_i)/h)²/2) for every query; weights are positive."""
    n = len(x)
    for j in range(len(queries)):
        q = queries[j]
        at = first_at_least(x, q)
        nearest = min(at, n - 1)
        if at > 0 and abs(q - x[at - 1]) < abs(q - x[nearest]):
            nearest = at - 1
        near = abs(q - x[nearest]) / h
        beyond = 2.0 * np.log(total_weight / (weights[nearest] * _TOLERANCE))
        if near > _NEAR:
            out[j] = _about_nearest(x, weights, h, q, near, beyond, -1, 0.0)
        else:
            reach = np.sqrt(near * near + beyond)
            out[j] = np.log(_binned(x, weights, h, starts, first, centres, moments, q, reach))


@entry(
    f"{_points} FLOAT {_bins} MATRIX DENSE_VECTOR DENSE_VECTOR INT OUT_VECTOR OUT_VECTOR",
    fastmath={"contract"},
)
def log_left_out(  # type: ignore[no-untyped-def]
    x, weights, h, total_weight, starts, first, centres, moments, whole, left, begin, out, spread
):
    """Write log Σ_j w_j exp(-((x_i - x_j)/h)²/2) - left_i for the points from `begin` on.

    The sums themselves are known, `whole`. Where `spread` is not empty, also the mean of ((x_i - x_j)/h)²
    weighted by the terms of the sum.
    """
    n = len(x)
    for j in range(len(out)):
        i = begin + j
        q, kept = x[i], max(weights[i] - left[j], 0.0)
        reach = np.sqrt(2.0 * np.log(total_weight / (weights[i] * _TOLERANCE)))
        rest = whole[j] - left[j]
        direct = rest <= 1e-3 * left[j]
        if direct:
            near, weight = 0.0, kept
            if kept <= 0.0:
                near = np.inf
                if i > 0:
                    near, weight = (q - x[i - 1]) / h, weights[i - 1]
                if i + 1 < n and (x[i + 1] - q) / h < near:
                    near, weight = (x[i + 1] - q) / h, weights[i + 1]
            if near == np.inf:
                out[j] = -np.inf
            else:
                beyond = 2.0 * np.log(total_weight / (weight * _TOLERANCE))
                out[j] = _about_nearest(x, weights, h, q, near, beyond, i, kept)
        else:
            out[j] = np.log(rest)
        if spread.size:
            if direct:
                spread[j] = _spread_about(x, weights, h, q, i, out[j])
            else:
                spread[j] = _binned_spread(x, weights, h, starts, first, centres, moments, q, reach) / rest


@compiled(inline="always")
def _bins_within(starts, q, h, reach):  # type: ignore[no-untyped-def]
    return range(first_at_least(starts, q - (reach + 0.5) * h), first_at_least(starts, q + reach * h))


@compiled(fastmath={"contract"}, inline="always")
def _binned(x, weights, h, starts, first, centres, moments, q, reach):  # type: ignore[no-untyped-def]
    total = 0.0
    for b in _bins_within(starts, q, h, reach):
        v = (q - centres[b]) / h
        if abs(v) <= _REACH:
            s = 0.0
            for k in range(_TERMS[int(abs(v)) + 1] - 1, -1, -1):
                s = s * v + moments[b, k]
            total += s * np.exp(-0.5 * v * v)
        else:
            for i in range(first[b], first[b + 1]):
                total += weights[i] * np.exp(-0.5 * ((q - x[i]) / h) ** 2)
    return total


@compiled(fastmath={"contract"})
def _binned_spread(x, weights, h, starts, first, centres, moments, q, reach):  # type: ignore[no-untyped-def]
    """Σ w u² exp(-u²/2), from the second derivative of the sum: exp(-v²/2) (P'' - 2 v P' + v² P)."""
    total = 0.0
    for b in _bins_within(starts, q, h, reach):
        v = (q - centres[b]) / h
        if abs(v) <= _REACH:
            p = dp = ddp = 0.0
            for k in range(ORDER - 1, -1, -1):
                ddp = ddp * v + 2.0 * dp
                dp = dp * v + p
                p = p * v + moments[b, k]
            total += (ddp - 2.0 * v * dp + v * v * p) * np.exp(-0.5 * v * v)
        else:
            for i in range(first[b], first[b + 1]):
                square = ((q - x[i]) / h) ** 2
                total += weights[i] * square * np.exp(-0.5 * square)
    return total


@compiled(fastmath={"contract"})
def _about_nearest(x, weights, h, q, near, beyond, own, kept):  # type: ignore[no-untyped-def]
    """Sum about the nearest point, in logarithms: only those within reach count, and `own` for `kept`."""
    # √(near² + beyond) - near, without cancellation.
    reach = near + beyond / (near + np.sqrt(near * near + beyond))
    low, high = first_at_least(x, q - reach * h), first_above(x, q + reach * h)
    total = 0.0
    for i in range(low, high):
        away = abs(q - x[i]) / h
        weight = kept if i == own else weights[i]
        if weight > 0.0:
            total += weight * np.exp(-0.5 * (away - near) * (away + near))
    return np.log(total) - 0.5 * near * near


@compiled(fastmath={"contract"})
def _spread_about(x, weights, h, q, own, log_sum):  # type: ignore[no-untyped-def]
    if log_sum == -np.inf:
        return 0.0
    reach = np.sqrt(max(-2.0 * log_sum, 0.0) + 100.0)
    low, high = first_at_least(x, q - reach * h), first_above(x, q + reach * h)
    total = 0.0
    for i in range(low, high):
        if i != own:
            square = ((q - x[i]) / h) ** 2
            total += weights[i] * square * np.exp(-0.5 * square - log_sum)
    return total


NODES = 14
#: Bins of fewer points are summed point by point.
_FEW = 18
_ANGLES = np.pi * (np.arange(NODES) + 0.5) / NODES
_COSINES = np.cos(_ANGLES)
#: From values at the nodes to coefficients of Chebyshev's polynomials.
_COEFFICIENTS = (
    np.cos(np.arange(NODES)[:, None] * _ANGLES) * np.where(np.arange(NODES) > 0, 2.0, 1.0)[:, None]
)
_COEFFICIENTS = _COEFFICIENTS / NODES


@entry(f"{_points} FLOAT {_bins} MATRIX INT OUT_VECTOR", fastmath={"contract"})
def sums_at_points(x, weights, h, total_weight, starts, first, centres, moments, begin, out):  # type: ignore[no-untyped-def]
    """Write Σ_j w_j exp(-((x_i - x_j)/h)²/2) for the sorted points from `begin` on."""
    end, i = begin + len(out), begin
    values, coefficients = np.empty(NODES), np.empty(NODES)
    b = first_above(first, begin) - 1
    while i < end:
        stop = min(first[b + 1], end)
        if stop - i < _FEW or centres[b] == starts[b]:
            for k in range(i, stop):
                reach = np.sqrt(2.0 * np.log(total_weight / (weights[k] * _TOLERANCE)))
                out[k - begin] = _binned(x, weights, h, starts, first, centres, moments, x[k], reach)
        else:
            least = weights[i]
            for k in range(i, stop):
                least = min(least, weights[k])
            reach = np.sqrt(2.0 * np.log(total_weight / (least * _TOLERANCE)))
            for k in range(NODES):
                q = centres[b] + 0.25 * h * _COSINES[k]
                values[k] = _binned(x, weights, h, starts, first, centres, moments, q, reach)
            for m in range(NODES):
                coefficients[m] = 0.0
                for k in range(NODES):
                    coefficients[m] += _COEFFICIENTS[m, k] * values[k]
            _interpolated(x, 4.0 / h, centres[b], coefficients, i, stop, out[i - begin : stop - begin])
        i, b = stop, b + 1


@compiled(fastmath={"contract"})
def _interpolated(x, scale, centre, coefficients, begin, end, out):  # type: ignore[no-untyped-def]
    """Clenshaw's sum of Chebyshev's polynomials at the points of a bin."""
    for i in range(begin, end):
        s = (x[i] - centre) * scale
        later = latest = 0.0
        for m in range(NODES - 1, 0, -1):
            latest, later = later, coefficients[m] + 2.0 * s * later - latest
        out[i - begin] = coefficients[0] + s * later - latest
