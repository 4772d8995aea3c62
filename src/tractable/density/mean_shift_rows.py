"""Rows that mean shift climbs over, and where climbs begin."""

from typing import Any

import numpy as np

from tractable.data.blocks import map_rows
from tractable.primitives.kmeans import assign
from tractable.primitives.threads import single_threaded_blas

__all__ = ["binned", "counted", "named", "nearest"]


def binned(z: np.ndarray, weights: np.ndarray | None, least: float) -> np.ndarray:
    """Return the mean of the rows in each cell of a grid of side one that holds a weight of `least`.

    Examples
    --------
    >>> binned(np.array([[0.1], [0.3], [2.1]]), None, 2).tolist()
    [[0.2]]
    """
    w = np.ones(len(z)) if weights is None else weights
    _, cell = np.unique(np.round(z), axis=0, return_inverse=True)
    cell = cell.ravel()
    held = np.bincount(cell, w)
    sums = np.stack([np.bincount(cell, w * column) for column in z.T], axis=1)
    full = held >= least
    if not np.any(full):
        raise ValueError(
            f"min_bin_freq is {least}, and no cell of the grid has a weight above {held.max():g}"
        )
    return sums[full] / held[full][:, None]


def nearest(x: np.ndarray, centers: np.ndarray) -> np.ndarray:
    """Return which centre is nearest to each row."""
    origin = np.zeros(x.shape[1])
    with single_threaded_blas():
        return map_rows(lambda rows: assign(rows, None, origin, 1.0, centers).labels, x)


def counted(X: np.ndarray, weights: np.ndarray | None) -> tuple[np.ndarray, np.ndarray | None]:
    """Leave out rows that do not count, and weights that say nothing."""
    if weights is None or np.all(weights == 1.0):
        return X, None
    return X[weights > 0.0], np.asarray(weights[weights > 0.0], dtype=np.float64)


def named(X: np.ndarray, model: Any) -> Any:
    """Return rows with the names that the model knows its columns by."""
    names = getattr(model, "feature_names_in_", None)
    if names is None:
        return X
    import pandas as pd

    return pd.DataFrame(X, columns=names)
