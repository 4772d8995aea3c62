"""What searches return beside distances and indices."""

from collections.abc import Iterator

import numpy as np

from tractable.value import value

__all__ = ["Neighbors", "SearchReport"]


@value
class Neighbors:
    """The neighbours of each row within a radius, as the three arrays of a sparse matrix (CSR).

    The neighbours of row i are ``indices[indptr[i]:indptr[i + 1]]``, the nearest first and of equals the
    smaller index.

    Examples
    --------
    >>> found = Neighbors(indptr=np.array([0, 2]), indices=np.array([4, 1]), distances=np.array([0.0, 0.5]))
    >>> len(found), found.counts.tolist(), found[0]
    (1, [2], (array([0. , 0.5]), array([4, 1])))
    """

    indptr: np.ndarray  # (m + 1,)
    indices: np.ndarray
    distances: np.ndarray

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, row: int) -> tuple[np.ndarray, np.ndarray]:
        """Return the distances and indices of one row."""
        if not -len(self) <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        part = slice(self.indptr[row % len(self)], self.indptr[row % len(self) + 1])
        return self.distances[part], self.indices[part]

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        return (self[row] for row in range(len(self)))

    @property
    def counts(self) -> np.ndarray:
        """How many neighbours each row has, (m,)."""
        return np.diff(self.indptr)


@value
class SearchReport:
    """What a search cost.

    Examples
    --------
    >>> SearchReport(visited=np.array([3, 5]), measured=np.array([20, 40]), n_nodes=9, memory=4096).visited
    array([3, 5])
    """

    visited: np.ndarray  # (m,), nodes opened for each row; a scan opens one
    measured: np.ndarray  # (m,), points whose distance from each row was looked at
    n_nodes: int  # of the index
    memory: int  # bytes the index holds beside its points
