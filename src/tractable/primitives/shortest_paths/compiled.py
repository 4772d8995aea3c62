"""Elimination of vertices, and sweeps over what it leaves: see `tractable.primitives.shortest_paths`."""

import numpy as np

from tractable.primitives.compiled_options import entry

_LANES = 64


@entry("OUT_MATRIX INT", fastmath=False)
def eliminate(lengths, most):  # type: ignore[no-untyped-def]
    """Eliminate vertices, the one of fewest neighbours first, while it has at most so many.

    `lengths` (n, n) holds the edges, infinity where there are none, and gains those that are added. Returns
    the order of the vertices, and how many, the last of them, were not eliminated.
    """
    n = len(lengths)
    degree, order = np.zeros(n, np.int64), np.empty(n, np.int64)
    alive, near = np.empty(n, np.int64), np.empty(n, np.int64)
    far = np.empty(n)
    for i in range(n):
        alive[i] = i
        for j in range(n):
            if lengths[i, j] < np.inf:
                degree[i] += 1
    for step in range(n):
        n_alive, at = n - step, 0
        for t in range(1, n_alive):
            if degree[alive[t]] < degree[alive[at]]:
                at = t
        v = alive[at]
        if degree[v] > most:
            for t in range(n_alive):
                order[step + t] = alive[t]
            return order, n_alive
        order[step] = v
        alive[at] = alive[n_alive - 1]
        count = 0
        for t in range(n_alive - 1):
            if lengths[v, alive[t]] < np.inf:
                near[count], far[count] = alive[t], lengths[v, alive[t]]
                count += 1
        for a in range(count):
            i = near[a]
            degree[i] -= 1
            for b in range(a):
                j, through = near[b], far[a] + far[b]
                if through < lengths[i, j]:
                    if lengths[i, j] == np.inf:
                        degree[i] += 1
                        degree[j] += 1
                    lengths[i, j] = through
                    lengths[j, i] = through
    return order, 0


@entry("MATRIX INDICES INDICES INT", fastmath=False)
def later_neighbours(lengths, order, place, n_core):  # type: ignore[no-untyped-def]
    """List the places in the order of the later neighbours of each vertex; in the core, all of the core."""
    n = len(order)
    first = np.zeros(n + 1, np.int64)
    for p in range(n):
        row, after, count = lengths[order[p]], min(p, n - n_core), 0
        for j in range(n):
            if row[j] < np.inf and place[j] > after - (p >= n - n_core) and place[j] != p:
                count += 1
        first[p + 1] = first[p] + count
    later, length = np.empty(first[n], np.int64), np.empty(first[n])
    for p in range(n):
        row, after, e = lengths[order[p]], min(p, n - n_core), first[p]
        for j in range(n):
            if row[j] < np.inf and place[j] > after - (p >= n - n_core) and place[j] != p:
                later[e], length[e] = place[j], row[j]
                e += 1
    return first, later, length


@entry("INDICES INDICES DENSE_VECTOR INDICES INT INDICES OUT_MATRIX", fastmath=False)
def sweep(first, later, length, order, n_core, sources, out):  # type: ignore[no-untyped-def]
    """Fill `out` with the lengths of paths from up to 64 sources, given by their places, in rising order."""
    n = len(order)
    far, here, active = np.empty((n, _LANES)), np.empty(_LANES), np.zeros(n, np.bool_)
    for p in range(n):
        for lane in range(_LANES):
            far[p, lane] = np.inf
    for lane in range(len(sources)):
        far[sources[lane], lane] = 0.0
        active[sources[lane]] = True
    p, again = sources[0], False
    while p < n:  # up from the sources; the core is gone through until it rests
        if active[p]:
            active[p] = False
            row = far[p]
            for lane in range(_LANES):
                here[lane] = row[lane]
            for e in range(first[p], first[p + 1]):
                there, step, better = far[later[e]], length[e], np.int32(0)
                for lane in range(_LANES):
                    through = here[lane] + step
                    shorter = through < there[lane]
                    better |= np.int32(shorter)
                    there[lane] = through if shorter else there[lane]
                if better:
                    active[later[e]] = True
                    again = again or later[e] < p
        p += 1
        if p == n and again:
            p, again = n - n_core, False
    for p in range(n - n_core - 1, -1, -1):  # and down, from later neighbours whose lengths are known
        row = far[p]
        for e in range(first[p], first[p + 1]):
            there, step = far[later[e]], length[e]
            for lane in range(_LANES):
                through = there[lane] + step
                row[lane] = through if through < row[lane] else row[lane]  # noqa: FURB136  (a selection, which is vectorised)
    for lane in range(len(sources)):
        found = out[lane]
        for p in range(n):
            found[order[p]] = far[p, lane]
