"""The graph that joins points with their nearest."""

from typing import Any

import numpy as np

from tractable.spatial.index import Index

__all__ = ["neighbour_graph"]


def neighbour_graph(index: Index, k: int, **options: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the distances and indices of the k nearest other points of every point.

    A point is not its own neighbour; a duplicate of it is.

    Parameters
    ----------
    index : Index
    k : int
        From 1 to n - 1.
    options
        `report` and `n_threads`, those of `Index.query`.

    Examples
    --------
    >>> from tractable.spatial import Brute
    >>> neighbour_graph(Brute([[0.0], [1.0], [3.0]]), k=1)[1].ravel().tolist()
    [1, 0, 1]
    """
    shorter = getattr(index, "graph", None)  # an index may find them all at once
    if shorter is not None:
        return shorter(k, **options)
    return index.query(index.points, k, exclude=np.arange(len(index)), **options)
