"""What a metric says to an index: how rows become such that an elementary distance of them is the metric."""

from abc import ABC, abstractmethod
from typing import Any, ClassVar

import numpy as np

from tractable.primitives.neighbors import distances as all_distances
from tractable.spatial.checks import as_rows
from tractable.spatial.kept import mean_of

__all__ = ["Metric"]


class Metric(ABC):
    """A distance between vectors.

    An index stores ``rows(points)`` and measures these by the elementary distance `form` (one of
    :data:`tractable.primitives.neighbors.FORMS`), from which `outer` makes the metric's own; `inner` inverts.
    Both increase, so neighbours are the same. A Mahalanobis distance is thus Euclidean between whitened
    rows, and the cosine distance half the square of the Euclidean between rows of length one. An index
    serves every metric whose form is among its `forms`.
    """

    #: Whether rows are to be taken about the points' mean before anything else.
    about_mean: ClassVar[bool] = False

    @property
    @abstractmethod
    def form(self) -> str:
        """The elementary distance."""

    @property
    def order(self) -> float:
        """Of a Minkowski distance."""
        return 2.0

    def rows(self, name: str, x: np.ndarray) -> np.ndarray:
        """Return rows as the elementary distance wants them; `name` is what an error calls them."""
        return x

    def outer(self, distances: np.ndarray) -> np.ndarray:
        """Return the metric's distances, given elementary ones."""
        return distances

    def inner(self, distances: np.ndarray) -> np.ndarray:
        """Return elementary distances that are no less than those that belong to the metric's."""
        return distances

    def __call__(self, x: Any, y: Any) -> np.ndarray:
        """Return the distances between rows of x (m, d) and of y (n, d), an array (m, n)."""
        x = as_rows("x", x)
        y = as_rows("y", y, x.shape[1])
        if self.about_mean and len(y):
            x, y = x - mean_of(y), y - mean_of(y)
        return self.outer(all_distances(self.rows("x", x), self.rows("y", y), self.form, self.order))
