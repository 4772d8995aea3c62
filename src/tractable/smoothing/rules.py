"""Bandwidths by rule, optimal for Gaussian rows, in the units of each column."""

import math
from itertools import pairwise
from typing import Any

import numpy as np

from tractable.arrays.devices import on_host
from tractable.arrays.namespace import is_foreign_array
from tractable.primitives.bins import linear_binning
from tractable.smoothing.rows import as_rows
from tractable.smoothing.windows import WINDOWS, Window
from tractable.statistics import DiagonalMoments, column_varies


def silverman(X: Any, weights: Any = None, window: Window = WINDOWS["gaussian"]) -> np.ndarray:
    """Return (d,) lengths h_j = (4 / ((d + 2) n))^(1/(d+4)) σ_j, the best for Gaussian rows.

    Best is the least mean integrated squared error.

    Parameters
    ----------
    X : array (n, d) or (n,)
        Rows, or the values of one column.
    weights : array (n,), optional
        How often each row counts; n is then their sum.
    window : Window
        Other windows than the Gaussian are made as wide as smooths alike.

    Examples
    --------
    >>> silverman(np.array([[1.0, 100.0], [2.0, 300.0], [4.0, 200.0]])).round(3)
    array([ 1.272, 83.268])
    """
    total, scales = column_scales(X, weights)
    d = len(scales)
    return scales * (4.0 / ((d + 2.0) * total)) ** (1.0 / (d + 4.0)) * window_factor(window, d)


def scott(X: Any, weights: Any = None, window: Window = WINDOWS["gaussian"]) -> np.ndarray:
    """Return h_j = n^(-1/(d+4)) σ_j, Scott's rule of thumb.

    Parameters
    ----------
    X : array (n, d) or (n,)
        Rows, or the values of one column.
    weights : array (n,), optional
        Frequencies of the rows, of which n is then the sum.
    window : Window
        The smoothing kernel; the bandwidth of another than the Gaussian smooths as much.

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
    rows = (X, weights) if is_foreign_array(X) else as_rows(X, weights)
    moments = on_host(DiagonalMoments.of(*rows))
    total = float(np.max(moments.weight))
    if not total > 1.0:
        raise ValueError(
            "a bandwidth by rule needs more than one row: X has 1 sample, or the total of sample_weight "
            f"is {total:g}; give bandwidth as a number"
        )
    scales = np.sqrt(moments.scatter / (total - 1.0))
    constant = np.flatnonzero(~column_varies(moments.mean, scales))
    if len(constant):
        raise ValueError(
            f"X has constant columns {constant.tolist()}, which give no scale for a bandwidth; "
            "give bandwidth as a number, or leave them out"
        )
    return total, scales


#: Nodes of the grid on which the density's cosine transform is taken.
NODES = 2**12

_STAGES = 7


def improved_sheather_jones(X: Any, weights: Any = None, window: Window = WINDOWS["gaussian"]) -> np.ndarray:
    """Return the bandwidth of each column by the fixed point t = ξ γ^[7](t) of the diffusion estimate.

    It assumes no Gaussian anywhere, and so finds narrow modes that `silverman` smooths over. Of several fixed
    points, which rounded rows have, the widest is taken. Columns are taken one by one; in d > 1 dimensions
    each is widened by n^(1/5 - 1/(d+4)), as is best for the product estimate.

    Parameters
    ----------
    X : array (n, d) or (n,)
        Rows, or the values of one column.
    weights : array (n,), optional
        Frequencies of the rows; one each by default.
    window : Window
        The smoothing kernel.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(size=(1000, 1))
    >>> x[500:] = 10.0 + 0.1 * x[500:]
    >>> improved_sheather_jones(x).round(3)
    array([0.037])
    """
    X, weights = as_rows(X, weights)
    total, scales = column_scales(X, weights)
    if weights is not None:
        X, weights = X[weights > 0], weights[weights > 0]
    d = X.shape[1]
    wider = total ** (0.2 - 1.0 / (d + 4.0)) * window_factor(window, d)
    found = [_one_column(X[:, j], weights, total, float(scales[j])) for j in range(d)]
    return wider * np.asarray(found)


def _one_column(x: np.ndarray, weights: Any, total: float, scale: float) -> float:
    from scipy.fft import dct
    from scipy.optimize import brentq

    z = (x - x.min()) / scale
    width = 2.0 * float(z.max())
    masses = linear_binning(z, weights, -0.25 * width, width / (NODES - 1), NODES) / total
    orders = np.arange(1.0, NODES) ** 2
    # The squared norm of the derivative of order s is the sum of these coefficients times exp(-orders π² t).
    coefficients = (0.5 * dct(masses)[1:]) ** 2 * orders ** np.arange(_STAGES + 1.0)[:, None]

    def excess(t: float) -> float:
        return t - _fixed_point(t, total, orders, coefficients)

    # Rounded rows have another root, far below the rounding, at which the estimate has a peak at every value:
    # the search begins at the widest.
    times = np.geomspace(0.1, 1e-12, 120)
    for wide, narrow in pairwise(times):
        if excess(wide) >= 0 > excess(narrow):
            return math.sqrt(brentq(excess, narrow, wide, xtol=1e-300, rtol=1e-12)) * width * scale
    raise ValueError(
        'X has a column for which bandwidth="isj" finds no fixed point (few distinct values); '
        'use "silverman" or a number'
    )


def _fixed_point(t: float, total: float, orders: np.ndarray, coefficients: np.ndarray) -> float:
    """Return ξ γ^[7](t): from the 7th derivative's norm down to the bandwidth."""
    norm = _derivative_norm(_STAGES, t, orders, coefficients)
    for s in range(_STAGES - 1, 1, -1):
        odd = math.prod(range(1, 2 * s, 2)) / math.sqrt(2.0 * math.pi)
        factor = (1.0 + 0.5 ** (s + 0.5)) / 3.0
        t = (2.0 * factor * odd / (total * norm)) ** (2.0 / (3.0 + 2.0 * s))
        norm = _derivative_norm(s, t, orders, coefficients)
    return float((2.0 * total * math.sqrt(math.pi) * norm) ** -0.4)


def _derivative_norm(s: int, t: float, orders: np.ndarray, coefficients: np.ndarray) -> float:
    """Return ∫ (f^(s))² of the estimate after time t, from the cosine transform."""
    n_positive = np.searchsorted(orders, 745.0 / (math.pi**2 * t))  # beyond, exp(-orders π² t) is 0
    with np.errstate(under="ignore"):
        decay = np.exp(-orders[:n_positive] * math.pi**2 * t)
        norm = 2.0 * math.pi ** (2 * s) * float(np.sum(coefficients[s, :n_positive] * decay))
    return max(norm, 1e-300)
