"""Widths of neighbourhoods, and forces in maps: see `tractable.primitives.tsne`."""

import numpy as np

from tractable.primitives.compiled_options import FAST, compiled, entry

_STEPS, _WIDEST, _NARROWEST = 100, -40.0, 100.0
_TILE = 512


@entry("MATRIX MATRIX FLOAT OUT_MATRIX")
def neighbor_probabilities(squared, counts, target, out):  # type: ignore[no-untyped-def]
    """Fill each row with the probabilities of its neighbours: bracketed Newton on the logarithm of β."""
    k = squared.shape[1]
    u = np.empty(k)
    for i in range(len(squared)):
        least, mean, some, p = np.inf, 0.0, 0, out[i]
        for j in range(k):
            if counts[i, j] > 0.0:
                least = min(least, squared[i, j])
        for j in range(k):
            u[j] = squared[i, j] - least if counts[i, j] > 0.0 else 0.0
            mean += u[j]
            some += counts[i, j] > 0.0
        mean = mean / some if mean > 0.0 else 1.0
        for j in range(k):
            u[j] /= mean
        log_beta, low, high = 0.0, _WIDEST, _NARROWEST
        for _ in range(_STEPS):
            beta = np.exp(log_beta)
            total = first = second = 0.0
            for j in range(k):
                v = beta * u[j]
                p[j] = counts[i, j] * np.exp(-v)
                total += p[j]
                first += p[j] * v
                second += p[j] * v * v
            first /= total
            for j in range(k):
                p[j] /= total
            gap = np.log(total) + first - target
            if abs(gap) < 1e-12 or high - low < 1e-9:
                break
            if gap > 0.0:
                low = log_beta
            else:
                high = log_beta
            slope = max(second / total - first * first, 1e-300)
            newton = log_beta + gap / slope
            log_beta = newton if low < newton < high else 0.5 * (low + high)


@entry("MATRIX DENSE_VECTOR MATRIX INT OUT_MATRIX OUT_MATRIX OUT_DENSE_VECTOR")
def pair_forces(joint, weights, columns, start, drawn, driven, fields):  # type: ignore[no-untyped-def]
    """Sum over all points, for those from `start` on: attraction, repulsion times Z, and the potential."""
    dim, n = columns.shape
    near, pull = np.empty(_TILE), np.empty(_TILE)
    for i in range(len(joint)):
        total = 0.0
        for c in range(dim):
            drawn[i, c] = 0.0
            driven[i, c] = 0.0
        for first in range(0, n, _TILE):
            p, w = joint[i, first : first + _TILE], weights[first : first + _TILE]
            m = len(p)
            total += _nearness(columns, start + i, first, m, w, near)
            for t in range(m):
                pull[t] = p[t] * near[t]
                near[t] *= near[t] * w[t]
            for c in range(dim):
                here, column, a, b = columns[c, start + i], columns[c, first : first + m], 0.0, 0.0
                for t in range(m):
                    a += pull[t] * (here - column[t])
                    b += near[t] * (here - column[t])
                drawn[i, c] += a
                driven[i, c] += b
        fields[i] = total


@compiled(fastmath=FAST)
def _nearness(columns, i, first, m, w, near):  # type: ignore[no-untyped-def]
    """Fill 1 / (1 + |y_i - y_j|²) of a tile of points and return their weighted sum."""
    for t in range(m):
        near[t] = 1.0
    for c in range(len(columns)):
        here, column = columns[c, i], columns[c, first : first + m]
        for t in range(m):
            near[t] += (here - column[t]) ** 2
    total = 0.0
    for t in range(m):
        near[t] = 1.0 / near[t]
        total += w[t] * near[t]
    return total


@entry("MATRIX MATRIX DENSE_VECTOR OUT_DENSE_VECTOR OUT_MATRIX")
def potential(points, columns, weights, fields, driven):  # type: ignore[no-untyped-def]
    """Sum over references, whose coordinates are the rows of `columns`, for each point."""
    dim, n = columns.shape
    near = np.empty(_TILE)
    for i in range(len(points)):
        total = 0.0
        for c in range(dim):
            driven[i, c] = 0.0
        for first in range(0, n, _TILE):
            w = weights[first : first + _TILE]
            m = len(w)
            for t in range(m):
                near[t] = 1.0
            for c in range(dim):
                here, column = points[i, c], columns[c, first : first + m]
                for t in range(m):
                    near[t] += (here - column[t]) ** 2
            for t in range(m):
                near[t] = 1.0 / near[t]
                total += w[t] * near[t]
                near[t] *= near[t] * w[t]
            for c in range(dim):
                here, column, sum_ = points[i, c], columns[c, first : first + m], 0.0
                for t in range(m):
                    sum_ += near[t] * (here - column[t])
                driven[i, c] += sum_
        fields[i] = total


@entry("INDICES UNSIGNED SINGLE_VECTOR SINGLE_MATRIX INT INT OUT_MATRIX")
def attraction(indptr, indices, joint, y, start, stop, out):  # type: ignore[no-untyped-def]
    """Sum over the neighbours of points, in single precision, so that lanes are many."""
    across, up = y[0], y[1]
    for i in range(start, stop):
        x0, x1 = across[i], up[i]
        sum0, sum1 = np.float32(0.0), np.float32(0.0)
        near, p = indices[indptr[i] : indptr[i + 1]], joint[indptr[i] : indptr[i + 1]]
        for e in range(len(near)):
            d0, d1 = x0 - across[near[e]], x1 - up[near[e]]
            pull = p[e] / (np.float32(1.0) + d0 * d0 + d1 * d1)
            sum0 += pull * d0
            sum1 += pull * d1
        out[0, i], out[1, i] = sum0, sum1


@compiled(fastmath=FAST, inline="always")
def _splines(t):  # type: ignore[no-untyped-def]
    """The quintic B-splines of the six nodes about a point that lies t after the third."""
    u = 1.0 - t
    t2, u2 = t * t, u * u
    t4, u4 = t2 * t2, u2 * u2
    return (
        u * u4 / 120,
        (26 - 50 * t + 20 * t2 + 20 * t * t2 - 20 * t4 + 5 * t * t4) / 120,
        (66 - 60 * t2 + 30 * t4 - 10 * t * t4) / 120,
        (66 - 60 * u2 + 30 * u4 - 10 * u * u4) / 120,
        (26 - 50 * u + 20 * u2 + 20 * u * u2 - 20 * u4 + 5 * u * u4) / 120,
        t * t4 / 120,
    )


@compiled(fastmath=FAST, inline="always")
def _slopes(t):  # type: ignore[no-untyped-def]
    u = 1.0 - t
    t2, u2 = t * t, u * u
    return (
        -u2 * u2 / 24,
        (-50 + 40 * t + 60 * t2 - 80 * t * t2 + 25 * t2 * t2) / 120,
        (-12 * t + 12 * t * t2 - 5 * t2 * t2) / 12,
        (12 * u - 12 * u * u2 + 5 * u2 * u2) / 12,
        (50 - 40 * u - 60 * u2 + 80 * u * u2 - 25 * u2 * u2) / 120,
        t2 * t2 / 24,
    )


@entry("MATRIX DENSE_VECTOR OUT_MATRIX")
def spread(at, weights, masses):  # type: ignore[no-untyped-def]
    """Give the weight of each point to the 36 nodes about it."""
    for i in range(len(weights)):
        a, b = int(at[0, i]), int(at[1, i])
        across, up = _splines(at[0, i] - a), _splines(at[1, i] - b)
        for r in range(6):
            share = weights[i] * across[r]
            for c in range(6):
                masses[a - 2 + r, b - 2 + c] += share * up[c]


@entry("MATRIX DENSE_VECTOR MATRIX MATRICES INT INT OUT_MATRIX OUT_DENSE_VECTOR")
def read(at, weights, phi, own, start, stop, slopes, fields):  # type: ignore[no-untyped-def]
    """Read a spline and its slopes at points from the 36 nodes about each, less what it gives to itself."""
    bins = len(own)
    for i in range(start, stop):
        a, b = int(at[0, i]), int(at[1, i])
        s, t = at[0, i] - a, at[1, i] - b
        across, up, d_across, d_up = _splines(s), _splines(t), _slopes(s), _slopes(t)
        mine, w = own[int(s * bins), int(t * bins)], weights[i]
        total, first, second = -w * mine[0], -w * mine[1], -w * mine[2]
        for r in range(6):
            inner = slope = 0.0
            for c in range(6):
                inner += up[c] * phi[a - 2 + r, b - 2 + c]
                slope += d_up[c] * phi[a - 2 + r, b - 2 + c]
            total += across[r] * inner
            first += d_across[r] * inner
            second += across[r] * slope
        slopes[0, i], slopes[1, i], fields[i] = first, second, total
