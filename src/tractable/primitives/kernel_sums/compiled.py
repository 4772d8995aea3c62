"""Sums of windows over all pairs, over the boxes of a k-d tree, and of windows of different shapes."""

import numpy as np

from tractable.primitives.compiled_options import compiled, entry
from tractable.primitives.compiled_tiles import LOWEST, exp_tile, tile_squares
from tractable.primitives.neighbors.compiled_kd_tree import deepest

#: Points met at a time: their squared distances and exponentials stay in the first-level cache.
TILE = 512

#: Sums below this are taken again about their largest term.
_FAR = 1e-280


@entry("MATRIX MATRIX DENSE_VECTOR INT DENSE_VECTOR INT OUT_VECTOR", fastmath={"contract", "reassoc"})
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


@compiled(fastmath={"contract", "reassoc"})
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


@entry("MATRIX MATRIX DENSE_VECTOR INT DENSE_VECTOR OUT_VECTOR", fastmath={"contract", "reassoc"})
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
            exp_tile(values, bits, size, LOWEST)
            for j in range(size):
                values[j] *= squares[j]
            total += tile_sum(values, weights, start, size, -1)
        out[q] = total


@entry("MATRIX MATRIX DENSE_VECTOR INT DENSE_VECTOR INT OUT_MATRIX", fastmath={"contract", "reassoc"})
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
            for k in range(n_rates):
                row = terms[k % n_own]
                if k < n_own:
                    rate = rates[k]
                    for j in range(size):
                        row[j] = -rate * squares[j]
                    exp_tile(row, bits, size, LOWEST)
                    if own >= 0 and own < size:
                        row[own] = 0.0
                else:
                    for j in range(size):
                        # Squares below the least normal number would be a hundred times slower.
                        kept = row[j] if row[j] > 1e-145 else 0.0
                        row[j] = kept * kept
                out[q, k] += tile_sum(row, weights, start, size, -1)


@compiled(fastmath={"contract", "reassoc"})
def tile_heights(kind, values, bits, size, shift):  # type: ignore[no-untyped-def]
    """Turn squared distances into heights of the window; -1 is the Gaussian, 5 the Laplace."""
    if kind == -1:
        for j in range(size):
            values[j] = min(shift - 0.5 * values[j], 0.0)
        exp_tile(values, bits, size, LOWEST)
    elif kind == 5:
        for j in range(size):
            values[j] = min(shift - np.sqrt(values[j]), 0.0)
        exp_tile(values, bits, size, LOWEST)
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


@compiled(fastmath={"contract", "reassoc"})
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


@entry("INDEX_MATRIX DENSE_VECTOR INT OUT_MATRICES", fastmath=False)
def boxes_of(nodes, packed, d, boxes):  # type: ignore[no-untyped-def]
    """Write the least box (d, 2) about the points of every node; children come after their parents."""
    for node in range(len(nodes) - 1, -1, -1):
        first, last, right = nodes[node, 0], nodes[node, 1], nodes[node, 2]
        for c in range(d):
            if right == 0:
                tile = packed[first * d + c * (last - first) : first * d + (c + 1) * (last - first)]
                low = high = tile[0]
                for v in tile:
                    low, high = min(low, v), max(high, v)
                boxes[node, c, 0], boxes[node, c, 1] = low, high
            else:
                boxes[node, c, 0] = min(boxes[node + 1, c, 0], boxes[right, c, 0])
                boxes[node, c, 1] = max(boxes[node + 1, c, 1], boxes[right, c, 1])


@entry(
    "MATRIX INDEX_MATRIX DENSE_VECTOR MATRICES FLOAT DENSE_VECTOR INT DENSE_VECTOR INDICES FLOAT "
    "OUT_VECTOR OUT_INDICES",
    fastmath={"contract", "reassoc"},
)
def log_tree_sums(  # type: ignore[no-untyped-def]
    queries, nodes, packed, boxes, whole, weights, kind, left, positions, tol, out, met
):
    """Write log Σ_i w_i k(|q - x_i|²), and in `met` how many terms were added.

    Empty weights are ones. Where `left` is not empty, query j is the point at positions[j] of the tree, which
    counts for w - left.
    """
    values, bits = np.empty(TILE), np.empty(TILE, dtype=np.int64)
    stack = np.empty(deepest(nodes) + 2, dtype=np.int64)
    endless = kind < 0 or kind == 5
    for q in range(len(queries)):
        own = positions[q] if left.size else -1
        spared = (weights[own] if weights.size else 1.0) - left[q] if own >= 0 else 0.0
        near = 0.0
        if endless and not spared > 0.0:
            near = _nearest(queries[q], nodes, packed, boxes, weights, own, stack, values)
        if near == np.inf:
            out[q], met[q] = -np.inf, 0
            continue
        shift = 0.5 * near if kind < 0 else np.sqrt(near)
        # What is left closed has less than `tol` of the sum, since every unit of its weight has less of it.
        total, top, seen = max(spared, 0.0), 1, 0
        stack[0] = 0
        while top:
            top -= 1
            node = stack[top]
            apart = _apart(queries[q], boxes[node])
            if endless:
                height = shift - (0.5 * apart if kind < 0 else np.sqrt(apart))
                if height < 0.0 and np.exp(height) * whole < tol * total:
                    continue
            elif apart > 1.0:
                continue
            right = nodes[node, 2]
            if right:
                closer = _apart(queries[q], boxes[node + 1]) <= _apart(queries[q], boxes[right])
                stack[top], stack[top + 1] = (right, node + 1) if closer else (node + 1, right)
                top += 2
                continue
            first, last = nodes[node, 0], nodes[node, 1]
            tile = packed[first * queries.shape[1] : last * queries.shape[1]].reshape((-1, last - first))
            seen += last - first
            for start in range(0, last - first, TILE):
                size = min(TILE, last - first - start)
                tile_squares(queries[q], tile, start, size, values)
                tile_heights(kind, values, bits, size, shift)
                some = weights[first : first + start + size] if weights.size else weights
                total += tile_sum(values, some, start, size, own - first)
        out[q] = np.log(total) - (shift if endless else 0.0) if total > 0.0 else -np.inf
        met[q] = seen


@compiled()
def _nearest(query, nodes, packed, boxes, weights, own, stack, values):  # type: ignore[no-untyped-def]
    """Squared distance to the nearest point that counts, other than `own`."""
    near, top = np.inf, 1
    stack[0] = 0
    while top:
        top -= 1
        node = stack[top]
        if _apart(query, boxes[node]) >= near:
            continue
        right = nodes[node, 2]
        if right:
            closer = _apart(query, boxes[node + 1]) <= _apart(query, boxes[right])
            stack[top], stack[top + 1] = (right, node + 1) if closer else (node + 1, right)
            top += 2
            continue
        first, last = nodes[node, 0], nodes[node, 1]
        tile = packed[first * len(query) : last * len(query)].reshape((-1, last - first))
        for start in range(0, last - first, TILE):
            size = min(TILE, last - first - start)
            tile_squares(query, tile, start, size, values)
            for j in range(size):
                i = first + start + j
                if values[j] < near and i != own and (weights.size == 0 or weights[i] > 0.0):
                    near = values[j]
    return near


@compiled(inline="always")
def _apart(query, box):  # type: ignore[no-untyped-def]
    """Squared distance from a query to a box."""
    total = 0.0
    for c in range(len(query)):
        step = max(box[c, 0] - query[c], query[c] - box[c, 1], 0.0)
        total += step * step
    return total


#: Columns after which it is looked whether a block can still count.
_LOOKED_AT = 8


@entry(
    "MATRIX DENSE_VECTOR DENSE_VECTOR DENSE_VECTOR BOOL INDICES MATRIX MATRIX DENSE_VECTOR DENSE_VECTOR "
    "FLOAT OUT_VECTOR",
    fastmath={"contract", "reassoc"},
)
def log_local_windows(  # type: ignore[no-untyped-def]
    x, packed, triangles, heights, of_rows, first, low, high, top, rates, negligible, out
):
    """Write log Σ_j exp(h_j - |W (x_i - x_j)|² / 2) for every row x_i.

    Blocks of points, and their W, are packed: block b is (d, size) from first[b] d on, and its lower
    triangles are (d (d + 1) / 2, size). Triangles of rows are one after another.
    """
    d, n_blocks = x.shape[1], len(top)
    n_entries = d * (d + 1) // 2
    largest = 0
    for b in range(n_blocks):
        largest = max(largest, first[b + 1] - first[b])
    away, white = np.empty((d, largest)), np.empty(largest)
    values, bits, bounds = np.empty(largest), np.empty(largest, dtype=np.int64), np.empty(n_blocks)
    for i in range(len(x)):
        best = 0
        for b in range(n_blocks):
            bounds[b] = top[b] - rates[i if of_rows else b] * _squared_gap(x[i], low[b], high[b])
            if bounds[b] > bounds[best]:
                best = b
        row = triangles[i * n_entries : (i + 1) * n_entries] if of_rows else triangles[:0]
        peak, total, least = -np.inf, 0.0, -np.inf
        # Blocks beside the best one first: they are near it, and their sum leaves out most of the others.
        for step in range(2 * n_blocks):
            b = best + (step + 1) // 2 if step % 2 else best - step // 2
            if b < 0 or b >= n_blocks or bounds[b] < least:
                continue
            start, size = first[b], first[b + 1] - first[b]
            block = triangles[start * n_entries : (start + size) * n_entries] if not of_rows else row
            points = packed[start * d : (start + size) * d]
            tile_exponents(x[i], points, block, of_rows, heights, start, size, least, away, white, values)
            highest = values[0]
            for j in range(size):
                highest = max(highest, values[j])
            if not highest > least:
                continue
            if highest > peak:
                total, peak = total * np.exp(peak - highest), highest
            for j in range(size):
                values[j] -= peak
            exp_tile(values, bits, size, LOWEST)
            for j in range(size):
                total += values[j]
            least = peak + np.log(total) - negligible
        out[i] = peak + np.log(total) if total > 0.0 else -np.inf


@compiled(fastmath={"contract", "reassoc"})
def tile_exponents(  # type: ignore[no-untyped-def]
    row, points, triangles, of_rows, heights, start, size, least, away, white, values
):
    """Write h_j - |W (x - x_j)|² / 2 of a block, or what all of them fell to below `least`."""
    for j in range(size):
        values[j] = heights[start + j]
    entry_at = 0
    for k in range(len(row)):
        step, y, a = away[k], points[k * size : (k + 1) * size], row[k]
        for j in range(size):
            step[j] = a - y[j]
            white[j] = 0.0
        for l in range(k + 1):
            step = away[l]
            if of_rows:
                w = triangles[entry_at + l]
                for j in range(size):
                    white[j] += w * step[j]
            else:
                shape = triangles[(entry_at + l) * size : (entry_at + l + 1) * size]
                for j in range(size):
                    white[j] += shape[j] * step[j]
        entry_at += k + 1
        for j in range(size):
            values[j] -= 0.5 * white[j] * white[j]
        if k % _LOOKED_AT == _LOOKED_AT - 1:
            highest = values[0]
            for j in range(size):
                highest = max(highest, values[j])
            if highest < least:
                return


@compiled()
def _squared_gap(a, low, high):  # type: ignore[no-untyped-def]
    square = 0.0
    for k in range(len(a)):
        gap = max(low[k] - a[k], a[k] - high[k], 0.0)
        square += gap * gap
    return square
