"""See `tractable.primitives.leaf_join`."""

import numpy as np
from numba import njit

from tractable.primitives._compiled.nearest import in_order, pair_distance

__all__ = ["finish", "join", "mend"]

#: Columns compared at a time: Numba makes an OR of comparisons a few vector instructions.
GROUP = 64

FAR = np.float32(1e30)


@njit(nogil=True, cache=True)
def _offer(near, ids, apart, i):  # type: ignore[no-untyped-def]
    """Insert i into a list sorted by distance, unless it is there."""
    for other in ids:
        if other == i:
            return
    t = len(near) - 1
    while t > 0 and near[t - 1] > apart:
        near[t], ids[t] = near[t - 1], ids[t - 1]
        t -= 1
    near[t], ids[t] = apart, i


@njit(nogil=True, cache=True, fastmath={"contract"})
def _square(a, b, scale):  # type: ignore[no-untyped-def]
    total = 0.0
    for c in range(len(a)):
        step = (a[c] - b[c]) * scale
        total += step * step
    return np.float32(total)


@njit(nogil=True, cache=True, fastmath={"contract"})
def _about_itself(x, held, scale, rows, squares):  # type: ignore[no-untyped-def]
    """Write the points of a leaf about their mean, and |y|², far where there is none; return the largest."""
    n, d = len(held), x.shape[1]
    mean = np.zeros(d)
    for i in held:
        for c in range(d):
            mean[c] += x[i, c]
    mean /= n
    rows[n:], squares[n:] = 0.0, FAR
    for i in range(n):
        total = 0.0
        for c in range(d):
            step = (x[held[i], c] - mean[c]) * scale
            rows[i, c] = np.float32(step)
            total += step * step
        squares[i] = np.float32(total)
    return squares[:n].max()


@njit(nogil=True, cache=True, fastmath={"contract"})
def join(x, ptr, members, scale, near, ids, measured):  # type: ignore[no-untyped-def]
    """Measure all pairs of each leaf as |y|² + |z|² - 2 y·z, in single precision."""
    d, widest = x.shape[1], 0
    for leaf in range(len(ptr) - 1):
        widest = max(widest, ptr[leaf + 1] - ptr[leaf])
    widest = -(-widest // GROUP) * GROUP
    room, every = np.empty((widest, d), np.float32), np.empty(widest, np.float32)
    strip = np.empty(GROUP * widest, np.float32)
    for leaf in range(len(ptr) - 1):
        held = members[ptr[leaf] : ptr[leaf + 1]]
        n = len(held)
        wide = -(-n // GROUP) * GROUP
        rows, squares = room[:wide], every[:wide]
        if n < 2:
            continue
        # What is nearer than rounding to single precision can tell is measured in double precision.
        doubt = np.float32((d + 8) * 2.0**-19) * _about_itself(x, held, scale, rows, squares)
        gram = strip[: GROUP * wide].reshape(GROUP, wide)
        for top in range(0, n, GROUP):
            np.dot(rows[top : top + GROUP], rows.T, gram)
            for i in range(top, min(top + GROUP, n)):
                me, products = held[i], gram[i - top]
                measured[me] += n - 1
                products[i] = -FAR
                limit = max(near[me, -1], doubt) - squares[i]
                for g in range(0, wide, GROUP):
                    part, square, hit = products[g : g + GROUP], squares[g : g + GROUP], np.int32(0)
                    for j in range(GROUP):
                        hit |= np.int32(square[j] - np.float32(2.0) * part[j] < limit)
                    if hit:  # of a list that is not full, by padding and by the point itself as well
                        for j in range(min(GROUP, n - g)):
                            apart = square[j] - np.float32(2.0) * part[j]
                            if apart < limit and g + j != i:
                                other, apart = held[g + j], apart + squares[i]
                                if apart < doubt:
                                    apart = _square(x[me], x[other], scale)
                                if apart < near[me, -1]:
                                    _offer(near[me], ids[me], apart, other)
                                    limit = max(near[me, -1], doubt) - squares[i]


@njit(nogil=True, cache=True, fastmath={"contract", "reassoc"})
def mend(x, start, end, scale, old, near, ids, measured):  # type: ignore[no-untyped-def]
    """Offer points start to end the neighbours of their neighbours in the lists `old`."""
    d = x.shape[1]
    seen = np.full(len(x), -1, np.int32)
    for i in range(start, end):
        row, seen[i] = x[i], i
        for a in old[i]:
            if a >= 0:
                seen[a] = i
        for a in old[i]:
            if a < 0:
                break
            for j in old[a]:
                if j < 0:
                    break
                if seen[j] == i:
                    continue
                seen[j] = i
                measured[i] += 1
                other, total = x[j], 0.0
                for c in range(d):
                    step = row[c] - other[c]
                    total += step * step
                apart = np.float32(total * scale * scale)
                if apart < near[i, -1]:
                    _offer(near[i], ids[i], apart, j)


@njit(nogil=True, cache=True)
def finish(x, start, end, order, ids, distances, indices):  # type: ignore[no-untyped-def]
    """Measure the candidates of points start to end in double precision and write the nearest, in order."""
    width, k = ids.shape[1], distances.shape[1]
    apart, names = np.empty(width), np.empty(width, np.int64)
    for i in range(start, end):
        m = 0
        for j in ids[i]:
            if j >= 0:
                apart[m], names[m] = pair_distance(x[i], x[j], 0, 2.0), order[j]
                m += 1
        in_order(apart, names, m)
        m, row = min(m, k), order[i]
        distances[row, :m], indices[row, :m] = apart[:m], names[:m]
        distances[row, m:], indices[row, m:] = np.inf, -1
