"""How much each neighbour says, by its distance."""

from typing import Any

import numpy as np

from tractable.base import check_choice

__all__ = ["check_closeness", "closeness"]


def check_closeness(weights: Any) -> None:
    """Refuse what is no weighting of neighbours."""
    if not callable(weights):
        check_choice("weights", weights, ["uniform", "distance"])


def closeness(weights: Any, distances: np.ndarray) -> np.ndarray:
    """Return how much neighbours say, (m, k), up to a factor for each row.

    "uniform" is one each. "distance" is 1/d, relative to the nearest so that no unit overflows; neighbours at
    distance zero speak alone.

    Examples
    --------
    >>> closeness("distance", np.array([[1.0, 2.0, 4.0], [0.0, 0.0, 3.0]]))
    array([[1.  , 0.5 , 0.25],
           [1.  , 1.  , 0.  ]])
    """
    if callable(weights):
        return _checked(weights(distances.copy()), distances)
    if weights == "uniform":
        return np.ones_like(distances)
    here = distances == 0.0
    apart = np.where(here, 1.0, distances)
    return np.where(here.any(axis=1, keepdims=True), here, apart[:, :1] / apart)


def _checked(said: Any, distances: np.ndarray) -> np.ndarray:
    said = np.asarray(said, dtype=np.float64)
    if said.shape != distances.shape or not np.all((said >= 0.0) & np.isfinite(said)):
        raise ValueError(
            f"weights must return finite numbers, not negative, one for each of {distances.shape} distances"
        )
    if not np.all(said.any(axis=1)):
        raise ValueError("weights must return a positive number for a neighbour of each row, all are zero")
    return said
