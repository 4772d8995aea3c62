"""Lengths of shortest paths in a graph, from every vertex or from some.

Vertices are eliminated in the order of their degrees, as in sparse Cholesky factorisation: when v goes, each
pair of its neighbours is joined by an edge no longer than the way through v. A shortest path then has a form
in which it first rises and then falls in that order, so that one sweep up and one down from each source find
all lengths, many sources at a time, without a queue. Graphs of neighbours of rows on a surface have small
separators, and few edges are added. Where vertices have too many neighbours, only those of few are
eliminated, and the others, the core, are relaxed until nothing changes.
"""

import numpy as np

from tractable.primitives import runs_compiled
from tractable.primitives.shortest_paths import agnostic
from tractable.primitives.threads import ordered_map

__all__ = ["shortest_paths"]

#: Sources that are swept at a time.
LANES = 64

#: Vertices of at most so many neighbours are eliminated; where some have more, those of the second number.
DEGREES = (160, 15)

#: Graphs of more vertices are searched one source after another: elimination holds n² numbers.
MOST = 6_000


def shortest_paths(
    indptr: np.ndarray, indices: np.ndarray, lengths: np.ndarray, sources: np.ndarray | None = None
) -> np.ndarray:
    """Return the lengths of the shortest paths from sources to all vertices, (m, n); infinity where none is.

    Parameters
    ----------
    indptr, indices, lengths : arrays
        Edges as a sparse matrix (CSR), each in both directions; lengths are not negative.
    sources : array (m,) of int, optional
        Vertices to start from; all when not given.

    Examples
    --------
    >>> indptr, indices = np.array([0, 1, 3, 4, 4]), np.array([1, 0, 2, 1])
    >>> shortest_paths(indptr, indices, np.array([2.0, 2.0, 3.0, 3.0]))[0].tolist()
    [0.0, 2.0, 5.0, inf]
    """
    n = len(indptr) - 1
    starts = np.arange(n) if sources is None else np.asarray(sources)
    few = len(starts) < LANES and n > LANES  # elimination pays for many sources
    if few or n > MOST or not runs_compiled(lengths, float(n) * n):
        return agnostic.shortest_paths(indptr, indices, lengths, starts)
    from tractable.primitives.shortest_paths import compiled

    joined = np.full((n, n), np.inf)
    rows = np.repeat(np.arange(n), np.diff(indptr))
    for most in DEGREES:
        joined[rows, indices] = lengths
        order, n_core = compiled.eliminate(joined, most)
        if not n_core or most == DEGREES[-1]:
            break
        joined.fill(np.inf)
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    first, later, length = compiled.later_neighbours(joined, order, place, n_core)
    del joined
    out = np.empty((len(starts), n))
    ranked = np.argsort(place[starts], kind="stable")

    def task(start: int) -> None:
        mine = ranked[start : start + LANES]
        block = np.empty((len(mine), n))
        compiled.sweep(first, later, length, order, n_core, place[starts[mine]], block)
        out[mine] = block

    for _ in ordered_map(task, range(0, len(starts), LANES)):
        pass
    return out
