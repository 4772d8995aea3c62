"""Sums of windows by a walk over the boxes of a k-d tree, for every query."""

import numpy as np
from numba import njit

from tractable.primitives.kernel_sums.compiled_pairs import TILE, tile_heights, tile_squares, tile_sum

__all__ = ["boxes_of", "log_tree_sums"]


@njit(nogil=True, cache=True)
def boxes_of(nodes, packed, d, boxes):  # type: ignore[no-untyped-def]
    """Write the least box (d, 2) about the points of every node; children come after their parents."""
    for node in range(len(nodes) - 1, -1, -1):
        first, last, right = nodes[node, 0], nodes[node, 1], nodes[node, 2]
        for c in range(d):
            if right == 0:
                tile = packed[first * d + c * (last - first) : first * d + (c + 1) * (last - first)]
                boxes[node, c, 0], boxes[node, c, 1] = tile.min(), tile.max()
            else:
                boxes[node, c, 0] = min(boxes[node + 1, c, 0], boxes[right, c, 0])
                boxes[node, c, 1] = max(boxes[node + 1, c, 1], boxes[right, c, 1])


@njit(nogil=True, cache=True, error_model="numpy", fastmath={"contract", "reassoc"})
def log_tree_sums(queries, tree, weights, kind, left, positions, tol, out, met):  # type: ignore[no-untyped-def]
    """Write log Σ_i w_i k(|q - x_i|²), and in `met` how many terms were added.

    Empty weights are ones. Where `left` is not empty, query j is the point at positions[j] of the tree, which
    counts for w - left.
    """
    nodes, packed, boxes, whole = tree
    values, bits = np.empty(TILE), np.empty(TILE, dtype=np.int64)
    stack = np.empty(nodes[:, 3].max() + 2, dtype=np.int64)
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


@njit(nogil=True, cache=True, error_model="numpy")
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


@njit(nogil=True, cache=True, error_model="numpy", inline="always")
def _apart(query, box):  # type: ignore[no-untyped-def]
    """Squared distance from a query to a box."""
    total = 0.0
    for c in range(len(query)):
        step = max(box[c, 0] - query[c], query[c] - box[c, 1], 0.0)
        total += step * step
    return total
