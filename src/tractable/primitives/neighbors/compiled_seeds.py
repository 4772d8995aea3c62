"""Seeds of the two halves of a node, by k-means++."""

import numpy as np

from tractable.primitives.compiled_options import compiled
from tractable.primitives.kmeans.agnostic import SAME


@compiled(fastmath={"contract"})
def _square(x, i, j):  # type: ignore[no-untyped-def]
    total = 0.0
    for c in range(x.shape[1]):
        total += (x[i, c] - x[j, c]) ** 2
    return total


@compiled()
def _drawn(closest, level):  # type: ignore[no-untyped-def]
    """Return the row in which the cumulative mass first exceeds a level."""
    held, found = 0.0, 0
    for i in range(len(closest)):
        if closest[i] > 0.0:
            found = i
        held += closest[i]
        if held > level:
            break
    return found


@compiled()
def seed_rows(x, uniforms):  # type: ignore[no-untyped-def]
    """Return the rows that `tractable.primitives.kmeans.kmeans_plus_plus` chooses."""
    n = len(x)
    K, trials = uniforms.shape
    chosen, tried, costs = np.empty(K, np.int64), np.empty(trials, np.int64), np.empty(trials)
    closest = np.empty(n)
    total = 0.0
    for k in range(K):
        greedy = total > 0.0
        best, m = 0, trials if greedy else 1
        least = np.inf
        for t in range(m):
            tried[t] = (
                _drawn(closest, uniforms[k, t] * total) if greedy else min(int(uniforms[k, 0] * n), n - 1)
            )
            costs[t] = 0.0
            for i in range(n if greedy else 0):
                costs[t] += min(closest[i], _square(x, i, tried[t]))
            least = min(least, costs[t])
        while costs[best] > least + SAME * total:
            best += 1
        chosen[k], total = tried[best], 0.0
        for i in range(n):
            square = _square(x, i, tried[best])
            closest[i] = min(closest[i], square) if k else square
            total += closest[i]
    return chosen
