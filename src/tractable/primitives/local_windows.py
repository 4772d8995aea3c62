"""Sums of Gaussian windows of many shapes."""

import numpy as np

from tractable.primitives.window_blocks import WindowBlocks

__all__ = ["log_local_windows"]


def log_local_windows(
    x: np.ndarray,
    points: np.ndarray,
    whiten: np.ndarray,
    heights: np.ndarray,
    blocks: WindowBlocks,
    rates: np.ndarray,
    *,
    of_rows: bool = False,
) -> np.ndarray:
    """Return log Σ_j exp(h_j - |W (x_i - x_j)|² / 2) for every row x_i, W the shape of point j or of row i.

    A term of a block of points is at most h - r a², with h the largest height in it, a how far the row is
    from its box, and r half the least eigenvalue of WᵀW. Blocks and terms below e⁻⁴⁵ of the largest before
    them are left out: less than 3e-20 of a sum together, times the number of points.

    Parameters
    ----------
    x : array (q, d)
    points : array (m, d)
        In the order of the blocks, as shapes and heights of points are.
    whiten : array (m, d, d), or (q, d, d) of rows
        Lower triangles: the inverse Cholesky factors of the windows' covariances.
    heights : array (m,)
    blocks : WindowBlocks
    rates : array (m,), or (q,) of rows
        r of each shape.
    of_rows : bool
        Whether shapes belong to the rows.

    Examples
    --------
    >>> from tractable.primitives.window_blocks import window_blocks
    >>> x, one, place = np.array([[0.0], [2.0]]), np.ones((1, 1, 1)), np.zeros((1, 1))
    >>> log_local_windows(x, place, one, np.zeros(1), window_blocks(place), np.full(1, 0.5)).tolist()
    [0.0, -2.0]
    """
    from tractable.primitives._compiled.local_windows import log_local_windows as compiled

    begins = blocks.first[:-1]
    top = np.maximum.reduceat(heights, begins)
    slowest = (1.0 - 1e-9) * (rates if of_rows else np.minimum.reduceat(rates, begins))
    return compiled(x, points, whiten, heights, of_rows, blocks.first, blocks.low, blocks.high, top, slowest)
