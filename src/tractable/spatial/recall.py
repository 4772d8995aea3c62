"""How many of the true neighbours an index finds."""

from typing import Any

import numpy as np

from tractable.spatial.brute import Brute
from tractable.spatial.index import Index

__all__ = ["recall"]


def recall(index: Index, points: Any, k: int, *, exclude: Any = None, n_threads: int | None = None) -> float:
    """Return the share of the k nearest neighbours of rows, or of a graph, that an index finds.

    1 for an exact index.

    A neighbour counts that is no farther than the k-th of the exact search, so that ties do not.

    Parameters
    ----------
    index : Index
    points : array (m, d) or None
        Rows to search for. None asks for the recall of ``index.graph(k)``: that of every point's neighbours.
    k : int
    exclude, n_threads
        Those of `Index.query`; a graph leaves out each point itself.

    Examples
    --------
    >>> index = Brute([[0.0], [1.0], [3.0]])
    >>> recall(index, [[0.4], [2.0]], k=2)
    1.0
    >>> recall(index, None, k=1)
    1.0
    """
    exact = Brute(index.points, index.metric)
    if points is None:
        if exclude is not None:
            raise ValueError("exclude must not be given for a graph, which leaves out each point itself")
        found, true = (one.graph(k, n_threads=n_threads)[0] for one in (index, exact))
        return _share(found, true)
    options: dict[str, Any] = {"exclude": exclude, "n_threads": n_threads}
    found, _ = index.query(points, k, **options)
    if not len(found):
        raise ValueError("points must hold at least one row to search for")
    return _share(found, exact.query(points, k, **options)[0])


def _share(found: np.ndarray, true: np.ndarray) -> float:
    return float(np.mean(found <= true[:, -1:]))
