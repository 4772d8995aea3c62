"""Sums of windows of different shapes, in blocks of neighbours most of which a query leaves out."""

import numpy as np

from tractable.primitives.neighbors import kd_build, kd_leaves
from tractable.value import value

__all__ = ["WindowBlocks", "log_local_windows", "window_blocks"]

#: Points of a block.
SIZE = 24


@value
class WindowBlocks:
    """Points in blocks of neighbours, and the boxes of the blocks."""

    order: np.ndarray  # (m,)
    first: np.ndarray  # (b + 1,), where blocks begin in that order
    low: np.ndarray  # (b, d), corners of the boxes that hold their points
    high: np.ndarray  # (b, d)


def window_blocks(points: np.ndarray) -> WindowBlocks:
    """Return the leaves of a k-d tree of points: blocks of neighbours, at most 24 unless they coincide.

    Examples
    --------
    >>> blocks = window_blocks(np.arange(100.0)[::-1, None])
    >>> blocks.first.tolist(), blocks.low.ravel().tolist()
    ([0, 12, 25, 37, 50, 62, 75, 87, 100], [0.0, 12.0, 25.0, 37.0, 50.0, 62.0, 75.0, 87.0])
    """
    tree = kd_build(points, SIZE)
    _, first, low, high = kd_leaves(tree, points)
    return WindowBlocks(order=tree.order, first=first, low=low, high=high)


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
    >>> x, one, point = np.array([[0.0], [2.0]]), np.ones((1, 1, 1)), np.zeros((1, 1))
    >>> log_local_windows(x, point, one, np.zeros(1), window_blocks(point), np.full(1, 0.5)).tolist()
    [0.0, -2.0]
    """
    from tractable.primitives.kernel_sums.compiled_local_windows import log_local_windows as compiled

    begins = blocks.first[:-1]
    top = np.maximum.reduceat(heights, begins)
    slowest = (1.0 - 1e-9) * (rates if of_rows else np.minimum.reduceat(rates, begins))
    return compiled(x, points, whiten, heights, of_rows, blocks.first, blocks.low, blocks.high, top, slowest)
