"""Sums of Gaussian windows of many shapes."""

import numpy as np

__all__ = ["log_local_windows"]


def log_local_windows(
    x: np.ndarray, points: np.ndarray, whiten: np.ndarray, heights: np.ndarray, *, of_rows: bool = False
) -> np.ndarray:
    """Return log Σ_j exp(h_j - |W (x_i - x_j)|² / 2) for every row x_i, W the shape of point j or of row i.

    Terms that are e⁻⁶⁰ of the largest before them are left out.

    Parameters
    ----------
    x : array (q, d)
    points : array (m, d)
    whiten : array (m, d, d), or (q, d, d) of rows
        Lower triangles: the inverse Cholesky factors of the windows' covariances.
    heights : array (m,)
    of_rows : bool
        Whether shapes belong to the rows.

    Examples
    --------
    >>> x, one = np.array([[0.0], [2.0]]), np.ones((1, 1, 1))
    >>> log_local_windows(x, np.zeros((1, 1)), one, np.zeros(1)).tolist()
    [0.0, -2.0]
    """
    from tractable.primitives._compiled.local_windows import log_local_windows as compiled

    return compiled(x, points, whiten, heights, of_rows)
