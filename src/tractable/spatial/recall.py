"""How many of the true neighbours an index finds."""

from typing import Any

import numpy as np

from tractable.spatial.brute import Brute
from tractable.spatial.index import Index

__all__ = ["recall"]


def recall(index: Index, points: Any, k: int, *, exclude: Any = None, n_threads: int | None = None) -> float:
    """Return the share of the k nearest neighbours of rows that an index finds; 1 for an exact index.

    A neighbour counts that is no farther than the k-th of the exact search, so that ties do not.

    Parameters
    ----------
    index : Index
    points : array (m, d)
        Rows to search for.
    k : int
    exclude, n_threads
        Those of `Index.query`.

    Examples
    --------
    >>> index = Brute([[0.0], [1.0], [3.0]])
    >>> recall(index, [[0.4], [2.0]], k=2)
    1.0
    """
    options: dict[str, Any] = {"exclude": exclude, "n_threads": n_threads}
    found, _ = index.query(points, k, **options)
    if not len(found):
        raise ValueError("points must hold at least one row to search for")
    true, _ = Brute(index.points, index.metric).query(points, k, **options)
    return float(np.mean(found <= true[:, -1:]))
