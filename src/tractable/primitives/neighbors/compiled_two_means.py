"""Groups of rows split by k-means with two centres."""

import numpy as np
from numba import njit

from tractable.primitives.kmeans.compiled_seeding import kmeans_plus_plus
from tractable.primitives.neighbors.compiled_hyperplane_trees import projection, unit

__all__ = ["part"]


@njit(nogil=True, cache=True)
def _means(rows, right, centers):  # type: ignore[no-untyped-def]
    """Write the means of both sides; return how many rows are on the right."""
    n, d = rows.shape
    sums, count = np.zeros((2, d)), 0
    for i in range(n):
        side = 1 if right[i] else 0
        count += side
        for c in range(d):
            sums[side, c] += rows[i, c]
    for c in range(d):
        centers[0, c] = sums[0, c] / max(n - count, 1)
        centers[1, c] = sums[1, c] / max(count, 1)
    return count


@njit(nogil=True, cache=True)
def _between(rows, centers, normal, right):  # type: ignore[no-untyped-def]
    """Put rows on the side of the nearer centre; return the offset of the plane and how many changed."""
    unit(centers[0], centers[1], normal)
    offset = 0.5 * (projection(centers[0], normal) + projection(centers[1], normal))
    changed = 0
    for i in range(len(rows)):
        side = projection(rows[i], normal) > offset
        changed += side != right[i]
        right[i] = side
    return offset, changed


@njit(nogil=True, cache=True)
def part(x, ids, ptr, uniforms, max_iter, normals, offsets, parts, ends):  # type: ignore[no-untyped-def]
    widest = 0
    for s in range(len(ptr) - 1):
        widest = max(widest, ptr[s + 1] - ptr[s])
    room, sides = np.empty((widest, x.shape[1])), np.empty(widest, np.bool_)
    centers = np.empty((2, x.shape[1]))
    none = np.empty(0)
    for s in range(len(ptr) - 1):
        held = ids[ptr[s] : ptr[s + 1]]
        n = len(held)
        rows, right = room[:n], sides[:n]
        for i in range(n):
            rows[i] = x[held[i]] - x[held[0]]
        seeds = kmeans_plus_plus(rows, none, uniforms[s])
        centers[0], centers[1] = rows[seeds[0]], rows[seeds[1]]
        right[:] = False
        offset, changed = _between(rows, centers, normals[s], right)
        for _ in range(max_iter):
            if not 0 < _means(rows, right, centers) < n:
                break
            offset, changed = _between(rows, centers, normals[s], right)
            if not changed:
                break
        # The rows were taken about the first; the plane is said where they lie, and parts them as it says.
        offsets[s] = offset + projection(x[held[0]], normals[s])
        count = 0
        for i in range(n):
            right[i] = projection(x[held[i]], normals[s]) > offsets[s]
            count += right[i]
        i, j = ptr[s], ptr[s] + n - count
        ends[2 * s], ends[2 * s + 1] = j, ptr[s + 1]
        for t in range(n):
            if right[t]:
                parts[j] = held[t]
                j += 1
            else:
                parts[i] = held[t]
                i += 1
