"""How much each neighbour says, by its distance."""

from typing import Any

import numpy as np

from tractable.base import check_choice
from tractable.spatial.counted import Counted

__all__ = ["check_closeness", "closeness"]


def check_closeness(weights: Any) -> None:
    """Refuse what is no weighting of neighbours."""
    if not callable(weights):
        check_choice("weights", weights, ["uniform", "distance"])


def closeness(weights: Any, near: Counted) -> np.ndarray:
    """Return how much neighbours say, (m, k), up to a factor for each row; those that do not count, nothing.

    "uniform" is one each. "distance" is 1/d, relative to the nearest so that no unit overflows; neighbours at
    distance zero speak alone.

    Examples
    --------
    >>> found = {"indices": np.zeros((2, 3), dtype=int), "counts": np.array([[1, 1, 1], [1, 1, 0]])}
    >>> closeness("distance", Counted(distances=np.array([[1.0, 2.0, 4.0], [0.0, 3.0, np.inf]]), **found))
    array([[1.  , 0.5 , 0.25],
           [1.  , 0.  , 0.  ]])
    """
    check_closeness(weights)
    counted = near.counts > 0.0
    # What does not count is given the distance of what does, which every weighting must bear.
    distances = np.where(counted, near.distances, near.distances[:, :1])
    if callable(weights):
        said = _checked(weights(distances.copy()), distances)
        if not np.all((counted & (said > 0.0)).any(axis=1)):
            raise ValueError(
                "weights must return a positive number for a neighbour of each row, all are zero"
            )
    elif weights == "uniform":
        return counted.astype(float)
    else:
        here = distances == 0.0
        apart = np.where(here, 1.0, distances)
        said = np.where(here.any(axis=1, keepdims=True), here, apart[:, :1] / apart)
    return np.where(counted, said, 0.0)


def _checked(said: Any, distances: np.ndarray) -> np.ndarray:
    said = np.asarray(said, dtype=np.float64)
    if said.shape != distances.shape or not np.all((said >= 0.0) & np.isfinite(said)):
        raise ValueError(
            f"weights must return finite numbers, not negative, one for each of {distances.shape} distances"
        )
    return said
