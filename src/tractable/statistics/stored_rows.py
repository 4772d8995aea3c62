"""Stored rows, for models that no smaller statistic suffices for."""

from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import freeze
from tractable.arrays.weights import check_weights
from tractable.statistics.rows import Statistic
from tractable.value import value


@value
class StoredRows(Statistic):
    """Rows and their weights: the sufficient statistic of a kernel density estimate.

    Merging concatenates the rows, so it is as large as the data.

    Parameters
    ----------
    values : array of shape (n, d)
        The rows.
    weights : array of shape (n,)
        Their frequencies.

    Examples
    --------
    >>> both = StoredRows.of([[3.0], [1.0]]) + StoredRows.of([[2.0]], weights=[5.0])
    >>> both.values[:, 0].tolist(), both.weights.tolist(), both.weight
    ([3.0, 1.0, 2.0], [1.0, 1.0, 5.0], 7.0)
    """

    _extensive: ClassVar = ("weights",)
    holds_rows: ClassVar = True  # a cluster refuses it: rows stay on the workers

    values: np.ndarray
    weights: np.ndarray

    def __post_init__(self) -> None:
        for name in ("values", "weights"):
            object.__setattr__(self, name, freeze(np.asarray(getattr(self, name), dtype=np.float64)))

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "StoredRows":
        """Keep a block of rows; those of weight zero are not."""
        x = np.asarray(x, dtype=np.float64)
        if x.ndim != 2:
            raise ValueError(f"x must be a block of rows, two-dimensional; got shape {x.shape}")
        if weights is None:
            return cls(values=x.copy(), weights=np.ones(len(x)))
        w = check_weights(weights, len(x), like=x)
        return cls(values=x[w > 0], weights=w[w > 0])

    @property
    def dim(self) -> int:
        """Number of columns."""
        return int(self.values.shape[1])

    @property
    def weight(self) -> float:
        """Weight of the rows."""
        return float(self.weights.sum())

    def _merged(self, other: "StoredRows") -> "StoredRows":
        """Keep the rows of both."""
        return StoredRows(
            values=np.concatenate([self.values, other.values]),
            weights=np.concatenate([self.weights, other.weights]),
        )

    def canonical(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the distinct rows in order, and their weights: equal for statistics of the same rows."""
        rows, codes = np.unique(self.values, axis=0, return_inverse=True)
        return rows, np.bincount(codes.ravel(), self.weights, len(rows))
