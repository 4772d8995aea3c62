"""Rows as places: equal rows are one place that counts as often as there are rows."""

import numpy as np

from tractable.base import Rows
from tractable.value import value

__all__ = ["Places", "places_of"]

#: A column that never varies is given so many roundings of its values as a spread.
ROUNDINGS = 8.0


@value
class Places:
    """The distinct rows, in units in which every column has mean zero and variance one."""

    points: np.ndarray  # (m, d), in the order of their first column, then of the second, …
    weights: np.ndarray  # (m,), rows at each
    middle: np.ndarray  # (d,)
    spread: np.ndarray  # (d,)
    constant: np.ndarray  # (d,), columns that do not vary

    def inside(self, x: np.ndarray) -> np.ndarray:
        """Return rows in these units."""
        return (x - self.middle) / self.spread

    def some(self, chosen: np.ndarray) -> "Places":
        """Return some of the places, in the same units."""
        return Places(
            points=np.ascontiguousarray(self.points[chosen]),
            weights=self.weights[chosen],
            middle=self.middle,
            spread=self.spread,
            constant=self.constant,
        )


def places_of(rows: Rows) -> Places:
    """Group equal rows and standardise columns, whatever their units.

    Examples
    --------
    >>> found = places_of(Rows(data=np.array([[3.0], [1.0], [3.0], [1.0]])))
    >>> found.points.ravel().tolist(), found.weights.tolist()
    ([-1.0, 1.0], [2.0, 2.0])
    """
    given = np.ones(len(rows.data)) if rows.weights is None else rows.weights
    points, number = np.unique(rows.data, axis=0, return_inverse=True)
    weights = np.bincount(number.ravel(), given, minlength=len(points))
    reach = np.ptp(points, axis=0)
    unit = np.where(reach > 0.0, reach, 1.0)
    part = (points - points[0]) / unit
    middle = weights @ part / weights.sum()
    spread = np.sqrt(weights @ (part - middle) ** 2 / weights.sum())
    centre, eps = points[0] + unit * middle, float(np.finfo(float).eps)
    rounding = ROUNDINGS * eps * np.where(centre != 0.0, np.abs(centre), 1.0)
    width = np.where(reach > 0.0, unit * spread, rounding)
    inside = (part - middle) * unit / width
    return Places(points=inside, weights=weights, middle=centre, spread=width, constant=reach == 0.0)
