"""Points shared out between the two nodes of a grid beside each."""

import numpy as np

__all__ = ["linear_binning"]


def linear_binning(x: np.ndarray, weights: np.ndarray | None, low: float, step: float, n: int) -> np.ndarray:
    """Return the masses of n nodes, low + k step, that have the sum and the mean of the points.

    Parameters
    ----------
    x : array (m,)
        None outside the grid.
    weights : array (m,), optional

    Examples
    --------
    >>> linear_binning(np.array([0.25, 2.0]), None, 0.0, 1.0, 3)
    array([0.75, 0.25, 1.  ])
    """
    from tractable.primitives._compiled.linear_binning import linear_binning as compiled

    given = np.empty(0) if weights is None else weights
    return compiled(np.ascontiguousarray(x, dtype=np.float64), given, float(low), float(step), n)
