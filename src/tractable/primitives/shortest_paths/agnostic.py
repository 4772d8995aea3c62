"""The functions of `tractable.primitives.shortest_paths` by SciPy: Dijkstra's search from each source."""

import numpy as np


def shortest_paths(
    indptr: np.ndarray, indices: np.ndarray, lengths: np.ndarray, sources: np.ndarray
) -> np.ndarray:
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import dijkstra

    n = len(indptr) - 1
    graph = csr_matrix((lengths, indices, indptr), shape=(n, n))
    return np.atleast_2d(dijkstra(graph, directed=True, indices=sources))
