"""Rows by place: those that coincide are left out together."""

import numpy as np

from tractable.base import Rows
from tractable.value import value

__all__ = ["RowPlaces", "places_of"]


@value
class RowPlaces:
    """At which of the distinct places each row is; places with few rows come first."""

    number: np.ndarray  # (n,), the place of each row
    order: np.ndarray  # (n,), rows by place
    ends: np.ndarray  # (n_places + 1,), where the rows of each place begin in that order
    heaviest: float  # the weight of the place that has the most

    def __len__(self) -> int:
        return len(self.ends) - 1

    @property
    def first(self) -> np.ndarray:
        """The first row at each place, (n_places,)."""
        return self.order[self.ends[:-1]]

    @property
    def sizes(self) -> np.ndarray:
        """How many rows each place has, (n_places,)."""
        return np.diff(self.ends)


def places_of(rows: Rows) -> RowPlaces:
    """Group rows that coincide.

    Examples
    --------
    >>> found = places_of(Rows(data=np.array([[3.0], [1.0], [-0.0], [3.0], [0.0], [3.0]])))
    >>> found.number.tolist(), found.first.tolist(), found.heaviest
    ([2, 0, 1, 2, 1, 2], [1, 2, 0], 3.0)
    """
    x = np.ascontiguousarray(rows.data + 0.0)  # no zero is negative
    keys = x.view(f"V{x.itemsize * x.shape[1]}").ravel()
    _, first, which, sizes = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.lexsort((first, sizes))] = np.arange(len(first))
    number = rank[which.ravel()]
    weights = np.bincount(number, rows.weights)
    return RowPlaces(
        number=number,
        order=np.argsort(number, kind="stable"),
        ends=np.concatenate([[0], np.cumsum(np.bincount(number))]),
        heaviest=float(weights.max()),
    )
