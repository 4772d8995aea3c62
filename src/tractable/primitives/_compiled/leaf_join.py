"""See `tractable.primitives.leaf_join`."""

import numpy as np
from numba import njit

__all__ = ["join", "mend"]

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
def join(x, ptr, members, scale, near, ids, measured):  # type: ignore[no-untyped-def]
    """Measure all pairs of each leaf, about one of its own points, in single precision."""
    d, widest = x.shape[1], 0
    for leaf in range(len(ptr) - 1):
        widest = max(widest, ptr[leaf + 1] - ptr[leaf])
    widest = -(-widest // GROUP) * GROUP
    room, squares = np.empty((d, widest), np.float32), np.empty(widest, np.float32)
    for leaf in range(len(ptr) - 1):
        held = members[ptr[leaf] : ptr[leaf + 1]]
        n = len(held)
        if not n:
            continue
        wide = -(-n // GROUP) * GROUP
        block = room[:, :wide]
        first, span = x[held[0]], 0.0
        for i in range(n):
            row = x[held[i]]
            for c in range(d):
                step = (row[c] - first[c]) * scale
                span = max(span, abs(step))
                block[c, i] = np.float32(step)
        block[:, n:] = np.float32(1e18)
        # What is nearer than rounding to single precision can tell is measured in double precision.
        doubt = np.float32(d * (span * 2.0**-19) ** 2)
        for i in range(n):
            me = held[i]
            limit = max(near[me, -1], doubt)
            measured[me] += n - 1
            apart = squares[:wide]
            apart[:] = 0.0
            for c in range(d):
                y, column = block[c, i], block[c]
                for j in range(wide):
                    step = column[j] - y
                    apart[j] += step * step
            apart[i] = FAR
            for g in range(0, wide, GROUP):
                part, hit = apart[g : g + GROUP], np.int32(0)
                for j in range(GROUP):
                    hit |= np.int32(part[j] < limit)
                if hit:
                    for j in range(GROUP):
                        if part[j] < limit:
                            other, square = held[g + j], part[j]
                            if square < doubt:
                                square = _square(x[me], x[other], scale)
                            if square < near[me, -1]:
                                _offer(near[me], ids[me], square, other)
                                limit = max(near[me, -1], doubt)


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
