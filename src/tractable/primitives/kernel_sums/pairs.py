"""Sums of windows over all pairs of queries and points."""

from collections.abc import Callable

import numpy as np

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives.kernel_sums import agnostic

__all__ = ["KINDS", "kernel_spreads", "left_out_scales", "log_kernel_sums"]

#: Windows that the compiled loops know by name.
KINDS = {
    "gaussian": -1,
    "tophat": 0,
    "triangular": 1,
    "epanechnikov": 2,
    "biweight": 3,
    "cosine": 4,
    "laplace": 5,
}

NONE = np.empty(0)


def log_kernel_sums(
    queries: Array,
    points: Array,
    weights: Array,
    log_profile: Callable[[Array], Array],
    kind: str | None = None,
    left: Array | None = None,
    first: int = 0,
    scale: float = 1.0,
) -> Array:
    """Return log Σ_i w_i k(|q - x_i|²) of every query q.

    Every term is summed, to 1e-12 relative at any distance: where all terms of a Gaussian or Laplace window
    are below the least number, they are added about the largest. The compiled loop makes no array of the
    size of the pairs.

    Parameters
    ----------
    queries : array (m, d)
        In units of the bandwidth, as the points are.
    points : array (n, d)
    weights : array (n,)
    log_profile : callable
        log k of squared distances.
    kind : str, optional
        The name of the window, if it is one of `KINDS`.
    left : array (m,), optional
        Query j is then point first + j, of whose weight so much is left out.
    first : int
    scale : float
        What differences are divided by, where the window has no name.

    Examples
    --------
    >>> x = np.array([[0.0], [2.0]])
    >>> sums = log_kernel_sums(x[:1], x, np.ones(2), lambda s: -0.5 * s, "gaussian")
    >>> np.exp(sums).round(6)
    array([1.135335])
    """
    if kind is None or not is_numpy_array(points):
        return agnostic.log_kernel_sums(queries, points, weights, log_profile, left, first, scale)
    from tractable.primitives.kernel_sums.compiled_pairs import log_kernel_sums as compiled

    out = np.empty(len(queries))
    columns, given = _columns(points), NONE if left is None else left
    compiled(
        np.ascontiguousarray(queries, dtype=np.float64), columns, weights, KINDS[kind], given, first, out
    )
    return out


def left_out_scales(
    queries: np.ndarray, points: np.ndarray, weights: np.ndarray, first: int, rates: np.ndarray, n_own: int
) -> np.ndarray:
    """Return Σ_{i ≠ j} w_i exp(-rate_k |x_j - x_i|²), (m, K), for queries that are points first + j.

    Rate k is twice rate k - n_own, so that most exponentials are squares of others.
    """
    from tractable.primitives.kernel_sums.compiled_pairs import left_out_scales as compiled

    out = np.empty((len(queries), len(rates)))
    compiled(np.ascontiguousarray(queries), _columns(points), weights, first, rates, n_own, out)
    return out


def kernel_spreads(
    queries: np.ndarray, points: np.ndarray, weights: np.ndarray, first: int, log_sums: np.ndarray
) -> np.ndarray:
    """Return the mean of |q - x|² weighted by w_i exp(-|q - x_i|²/2) / S, for queries that are points."""
    from tractable.primitives.kernel_sums.compiled_pairs import spreads

    out = np.empty(len(queries))
    spreads(np.ascontiguousarray(queries), _columns(points), weights, first, log_sums, out)
    return out


def _columns(points: np.ndarray) -> np.ndarray:
    """Return points as columns (d, n), side by side in memory; a transposed array is taken as it is."""
    return np.ascontiguousarray(points.T, dtype=np.float64)
