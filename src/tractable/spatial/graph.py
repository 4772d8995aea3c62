"""The graph that joins points with their nearest."""

from typing import Any

from tractable.spatial.index import Index

__all__ = ["neighbor_graph"]


def neighbor_graph(index: Index, k: int, **options: Any) -> tuple[Any, ...]:
    """Return the distances and indices of the k nearest other points of every point.

    This is `Index.graph` as a function.

    Parameters
    ----------
    index : Index
    k : int
        From 1 to n - 1.
    options
        `report` and `n_threads`, those of `Index.graph`.

    Examples
    --------
    >>> from tractable.spatial import Brute
    >>> neighbor_graph(Brute([[0.0], [1.0], [3.0]]), k=1)[1].ravel().tolist()
    [1, 0, 1]
    """
    return index.graph(k, **options)
