"""Bandwidths by rule: what would be best if the rows were Gaussian, in the units of each column."""

from typing import Any

import numpy as np

from tractable.smoothing.checks import as_rows
from tractable.smoothing.window import Window
from tractable.smoothing.windows import WINDOWS
from tractable.statistics import DiagonalMoments

__all__ = ["column_scales", "scott", "silverman", "window_factor"]


def silverman(X: Any, weights: Any = None, window: Window = WINDOWS["gaussian"]) -> np.ndarray:
    """Return h_j = (4 / ((d + 2) n))^(1/(d+4)) σ_j, the best for Gaussian rows.

    Best is the least mean integrated squared error.

    Parameters
    ----------
    X : array (n, d) or (n,)
    weights : array (n,), optional
        How often each row counts; n is then their sum.
    window : Window
        Other windows than the Gaussian are made as wide as smooths alike.

    Returns
    -------
    array (d,)

    Examples
    --------
    >>> silverman(np.array([[1.0, 100.0], [2.0, 300.0], [4.0, 200.0]])).round(3)
    array([ 1.272, 83.268])
    """
    total, scales = column_scales(X, weights)
    d = len(scales)
    return scales * (4.0 / ((d + 2.0) * total)) ** (1.0 / (d + 4.0)) * window_factor(window, d)


def scott(X: Any, weights: Any = None, window: Window = WINDOWS["gaussian"]) -> np.ndarray:
    """Return h_j = n^(-1/(d+4)) σ_j, Scott's rule of thumb; arguments as of `silverman`.

    Examples
    --------
    >>> scott(np.array([[1.0], [2.0], [4.0]])).round(3)
    array([1.226])
    """
    total, scales = column_scales(X, weights)
    d = len(scales)
    return scales * total ** (-1.0 / (d + 4.0)) * window_factor(window, d)


def window_factor(window: Window, dim: int) -> float:
    """Return how many times as wide a window must be as the Gaussian to smooth alike: δ(K)/δ(φ)."""
    return window.canonical(dim) / WINDOWS["gaussian"].canonical(dim)


def column_scales(X: Any, weights: Any = None) -> tuple[float, np.ndarray]:
    """Return the total weight and the standard deviations (ddof=1) of columns that vary."""
    X, weights = as_rows(X, weights)
    size = np.max(np.abs(X), axis=0)
    unit = np.where(size > 0, size, 1.0)
    moments = DiagonalMoments.of(X / unit, weights)
    total = float(np.max(moments.weight))
    if not total > 1.0:
        raise ValueError(
            "a bandwidth by rule needs more than one row: X has 1 sample, or the total of sample_weight "
            f"is {total:g}; give bandwidth as a number"
        )
    scales = np.sqrt(moments.scatter / (total - 1.0))
    constant = np.flatnonzero(scales <= 4.0 * np.finfo(float).eps)
    if len(constant):
        raise ValueError(
            f"X has constant columns {constant.tolist()}, which give no scale for a bandwidth; "
            "give bandwidth as a number, or leave them out"
        )
    return total, scales * unit
