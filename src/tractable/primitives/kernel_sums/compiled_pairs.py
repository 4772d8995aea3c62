"""The exponential of a tile of numbers, written so that it vectorises: see `softmax`."""

import numpy as np
from numba import njit

__all__ = [
    "LOWEST",
    "TILE",
    "exp_tile",
    "left_out_scales",
    "log_kernel_sums",
    "spreads",
    "tile_heights",
    "tile_squares",
    "tile_sum",
]

_TAYLOR = tuple(1.0 / np.prod(np.arange(1.0, k + 1)) for k in range(11, -1, -1))

#: exp of this is the least normal number, nearly; what lies below counts as zero.
LOWEST = -708.0

#: Adding it to a whole number writes the number into the last bits.
_SHIFT = 6755399441055744.0


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "nsz", "arcp"}, inline="always")
def exp_tile(x, bits, n):  # type: ignore[no-untyped-def]
    """Replace x[:n] ≤ 0 by exp(x), to the last digits; by zero below `LOWEST`."""
    power = bits.view(np.float64)
    for j in range(n):
        v = max(x[j], LOWEST)
        k = np.floor(v * 1.4426950408889634 + 0.5)
        r = (v - k * 0.693147180369123816490) - k * 1.90821492927058770002e-10
        p = 2.08767569878681e-09
        for c in _TAYLOR:
            p = c + r * p
        x[j] = p if v > LOWEST else 0.0
        power[j] = k + _SHIFT
    for j in range(n):
        bits[j] = (bits[j] + 1023) << 52
    for j in range(n):
        x[j] *= power[j]


#: Points met at a time: their squared distances and exponentials stay in the first-level cache.
TILE = 512

#: Sums below this are taken again about their largest term.
_FAR = 1e-280


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def log_kernel_sums(queries, columns, weights, kind, left, first, out):  # type: ignore[no-untyped-def]
    """Write log Σ_i w_i k(|q - x_i|²) for every query; points are columns (d, n), empty weights are ones.

    Where `left` is not empty, query j is point first + j, which then counts for w - left.
    """
    n = columns.shape[1]
    values, bits = np.empty(TILE), np.empty(TILE, dtype=np.int64)
    for q in range(len(queries)):
        own = first + q if left.size else -1
        total = 0.0
        for start in range(0, n, TILE):
            size = min(TILE, n - start)
            tile_squares(queries[q], columns, start, size, values)
            tile_heights(kind, values, bits, size, 0.0)
            total += tile_sum(values, weights, start, size, own)
        if own >= 0:
            total += (weights[own] if weights.size else 1.0) - left[q]
        if total >= _FAR or (kind >= 0 and kind < 5):
            out[q] = np.log(total) if total > 0.0 else -np.inf
        else:
            out[q] = _far(queries[q], columns, weights, kind, own, values, bits)


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def _far(query, columns, weights, kind, own, values, bits):  # type: ignore[no-untyped-def]
    """The same in logarithms: about the nearest point, whose own term is then one."""
    n = columns.shape[1]
    nearest = np.inf
    for start in range(0, n, TILE):
        size = min(TILE, n - start)
        tile_squares(query, columns, start, size, values)
        for j in range(size):
            if values[j] < nearest and start + j != own and (weights.size == 0 or weights[start + j] > 0.0):
                nearest = values[j]
    if nearest == np.inf:
        return -np.inf
    shift = 0.5 * nearest if kind < 0 else np.sqrt(nearest)
    total = 0.0
    for start in range(0, n, TILE):
        size = min(TILE, n - start)
        tile_squares(query, columns, start, size, values)
        tile_heights(kind, values, bits, size, shift)
        total += tile_sum(values, weights, start, size, own)
    return np.log(total) - shift


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def spreads(queries, columns, weights, first, log_sums, out):  # type: ignore[no-untyped-def]
    """Write Σ_i w_i |q - x_i|² exp(-|q - x_i|²/2) / S, with log S given; query j is point first + j."""
    n = columns.shape[1]
    values, squares, bits = np.empty(TILE), np.empty(TILE), np.empty(TILE, dtype=np.int64)
    for q in range(len(queries)):
        total = 0.0
        for start in range(0, n, TILE):
            size = min(TILE, n - start)
            tile_squares(queries[q], columns, start, size, values)
            for j in range(size):
                squares[j] = values[j]
                values[j] = -0.5 * values[j] - log_sums[q]
            if first + q >= start and first + q < start + size:
                values[first + q - start] = 2.0 * LOWEST
            exp_tile(values, bits, size)
            if weights.size == 0:
                for j in range(size):
                    total += squares[j] * values[j]
            else:
                for j in range(size):
                    total += squares[j] * values[j] * weights[start + j]
        out[q] = total


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def left_out_scales(queries, columns, weights, first, rates, n_own, out):  # type: ignore[no-untyped-def]
    """Write Σ_{i ≠ j} w_i exp(-rate_k |x_j - x_i|²) for every query j and rate k, (m, K).

    Only the first `n_own` rates are exponentials of their own; rate k is twice rate k - n_own, and its
    exponentials are the squares of those.
    """
    n, n_rates = columns.shape[1], len(rates)
    squares, bits = np.empty(TILE), np.empty(TILE, dtype=np.int64)
    terms = np.empty((n_own, TILE))
    for q in range(len(queries)):
        out[q] = 0.0
        for start in range(0, n, TILE):
            size = min(TILE, n - start)
            tile_squares(queries[q], columns, start, size, squares)
            own = first + q - start
            heavy = weights[start : start + size] if weights.size else weights
            for k in range(n_rates):
                row = terms[k % n_own]
                if k < n_own:
                    rate = rates[k]
                    for j in range(size):
                        row[j] = -rate * squares[j]
                    exp_tile(row, bits, size)
                    if own >= 0 and own < size:
                        row[own] = 0.0
                else:
                    for j in range(size):
                        # Squares below the least normal number would be a hundred times slower.
                        kept = row[j] if row[j] > 1e-145 else 0.0
                        row[j] = kept * kept
                total = 0.0
                if heavy.size == 0:
                    for j in range(size):
                        total += row[j]
                else:
                    for j in range(size):
                        total += row[j] * heavy[j]
                out[q, k] += total


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"}, inline="always")
def tile_squares(query, columns, start, size, values):  # type: ignore[no-untyped-def]
    """Squared distances from a query to a tile of points, four coordinates at a time."""
    d = len(query)
    a0, y0 = query[0], columns[0, start : start + size]
    for j in range(size):
        s0 = y0[j] - a0
        values[j] = s0 * s0
    c = 1
    while c + 4 <= d:
        a0, a1, a2, a3 = query[c], query[c + 1], query[c + 2], query[c + 3]
        y0, y1 = columns[c, start : start + size], columns[c + 1, start : start + size]
        y2, y3 = columns[c + 2, start : start + size], columns[c + 3, start : start + size]
        for j in range(size):
            s0, s1, s2, s3 = y0[j] - a0, y1[j] - a1, y2[j] - a2, y3[j] - a3
            values[j] += (s0 * s0 + s1 * s1) + (s2 * s2 + s3 * s3)
        c += 4
    while c < d:
        a0, y0 = query[c], columns[c, start : start + size]
        for j in range(size):
            s0 = y0[j] - a0
            values[j] += s0 * s0
        c += 1


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"}, inline="always")
def tile_heights(kind, values, bits, size, shift):  # type: ignore[no-untyped-def]
    """Turn squared distances into heights of the window; -1 is the Gaussian, 5 the Laplace."""
    if kind == -1:
        for j in range(size):
            values[j] = min(shift - 0.5 * values[j], 0.0)
        exp_tile(values, bits, size)
    elif kind == 5:
        for j in range(size):
            values[j] = min(shift - np.sqrt(values[j]), 0.0)
        exp_tile(values, bits, size)
    elif kind == 0:
        for j in range(size):
            values[j] = 1.0 if values[j] <= 1.0 else 0.0
    elif kind == 1:
        for j in range(size):
            values[j] = max(1.0 - np.sqrt(values[j]), 0.0)
    elif kind == 2:
        for j in range(size):
            values[j] = max(1.0 - values[j], 0.0)
    elif kind == 3:
        for j in range(size):
            t = max(1.0 - values[j], 0.0)
            values[j] = t * t
    else:
        for j in range(size):
            values[j] = np.sin(0.5 * np.pi * (1.0 - np.sqrt(values[j]))) if values[j] < 1.0 else 0.0


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"}, inline="always")
def tile_sum(values, weights, start, size, own):  # type: ignore[no-untyped-def]
    """Add up a tile, without the point `own`."""
    if own >= start and own < start + size:
        values[own - start] = 0.0
    total = 0.0
    if weights.size == 0:
        for j in range(size):
            total += values[j]
    else:
        heavy = weights[start : start + size]
        for j in range(size):
            total += values[j] * heavy[j]
    return total
