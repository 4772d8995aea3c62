"""Bandwidths by what they leave out: the likelihood of left-out rows, and the integrated squared error."""

import math
from typing import Any

import numpy as np

from tractable.smoothing.rows import as_lengths, as_rows
from tractable.smoothing.sums import WindowSums
from tractable.smoothing.windows import WINDOWS, Window, check_window
from tractable.value import replace, value

__all__ = ["loo_nll", "lscv", "prepared"]


@value
class Criterion:
    """A criterion at one bandwidth, and its derivative by the logarithm of a common factor."""

    value: float
    slope: float


@value
class Prepared:
    """Rows about their middle, how often each counts, and how much of each is left out."""

    X: np.ndarray
    weights: np.ndarray
    left: np.ndarray
    window: Window

    @property
    def total(self) -> float:
        """Σ w."""
        return float(self.weights.sum())

    @property
    def dim(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    def sorted(self) -> "Prepared":
        """Return rows of one column in order, which every bandwidth would sort for itself."""
        order = np.argsort(self.X[:, 0], kind="stable")
        return replace(self, X=self.X[order], weights=self.weights[order], left=self.left[order])

    def sums(self, h: np.ndarray) -> WindowSums:
        """Return the sums of windows of bandwidth h."""
        return WindowSums(points=self.X / h, weights=self.weights, window=self.window)

    def log_scale(self, h: np.ndarray) -> float:
        """Return the log of the window's normaliser at bandwidth h."""
        return self.window.log_normaliser(self.dim) + float(np.sum(np.log(h)))

    def nll(self, log_sums: np.ndarray, h: np.ndarray) -> float:
        """Return -(1/W) Σ_i w_i log p_{-i}(x_i) from log Σ_j w_j k_ij - left_i k(0)."""
        rest = np.log(self.total - self.left)
        some = self.weights > 0
        # Summed by NumPy: threads of BLAS would wait for those that took the sums, longer than for them.
        said = float(np.sum(self.weights[some] * (log_sums - rest)[some]))
        return -said / self.total + self.log_scale(h)

    def squared_error(self, left_out: np.ndarray, wide: np.ndarray, h: np.ndarray) -> float:
        """Return ∫ p² - (2/W) Σ_i w_i p_{-i}(x_i), the first from sums of windows √2 as wide."""
        some = self.weights > 0
        w, log_scale = self.weights[some], self.log_scale(h)
        root = log_scale + 0.5 * self.dim * math.log(2.0)
        square = float(np.sum(w * np.exp(wide[some] - root))) / self.total**2
        rest = np.log(self.total - self.left[some])
        return square - 2.0 * float(np.sum(w * np.exp(left_out[some] - rest - log_scale))) / self.total


def loo_nll(X: Any, bandwidth: Any, weights: Any = None, kernel: Any = "gaussian") -> float:
    """Return -(1/N) Σ_i log [1/(N-1) Σ_{j≠i} k(x_i, x_j; h)]: how unlikely rows are to the others.

    Weights are frequencies, of which one (or all, where it is less) is left out. Infinite where a window with
    an end leaves a row without a neighbour.

    Parameters
    ----------
    X : array (n, d) or (n,)
    bandwidth : float or array (d,)
    weights : array (n,), optional
    kernel : str, Window or callable

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 3.0])
    >>> round(loo_nll(x, 1.0), 4), loo_nll(x, 1.0, kernel="epanechnikov")
    (2.5126, inf)
    """
    rows = prepared(X, weights, kernel)
    h = as_lengths("bandwidth", bandwidth, rows.dim)
    return rows.nll(rows.sums(h).log_left_out(rows.left), h)


def lscv(X: Any, bandwidth: Any, weights: Any = None) -> float:
    """Return ∫ p̂² - (2/N) Σ_i p̂_{-i}(x_i): the integrated squared error, up to a constant.

    For a Gaussian window, in closed form. The cross term leaves each row out; with the row itself in it the
    criterion would fall without bound as the bandwidth goes to zero. Arguments as of `loo_nll`.

    Examples
    --------
    >>> round(lscv(np.array([0.0, 1.0, 3.0]), 1.0), 4)
    -0.0277
    """
    rows = prepared(X, weights, "gaussian")
    h = as_lengths("bandwidth", bandwidth, rows.dim)
    wide = rows.sums(math.sqrt(2.0) * h).log_left_out(np.zeros(len(rows.X)))
    return rows.squared_error(rows.sums(h).log_left_out(rows.left), wide, h)


def loo_slope(rows: Prepared, h: np.ndarray) -> Criterion:
    """Return the left-out likelihood of a Gaussian window and its slope."""
    logs, spread = rows.sums(h).left_out_spreads(rows.left)
    some = rows.weights > 0
    slope = -float(rows.weights[some] @ (spread[some] - rows.dim)) / rows.total
    return Criterion(value=rows.nll(logs, h), slope=slope)


def lscv_slope(rows: Prepared, h: np.ndarray) -> Criterion:
    """Return the squared error of a Gaussian window and its slope."""
    logs, spread = rows.sums(h).left_out_spreads(rows.left)
    wide, wide_spread = rows.sums(math.sqrt(2.0) * h).left_out_spreads(np.zeros(len(rows.X)))
    some = rows.weights > 0
    w, log_scale = rows.weights[some], rows.log_scale(h)
    root = log_scale + 0.5 * rows.dim * math.log(2.0)
    square = float(w @ (np.exp(wide[some] - root) * (wide_spread[some] - rows.dim))) / rows.total**2
    rest = np.log(rows.total - rows.left[some])
    cross = float(w @ (np.exp(logs[some] - rest - log_scale) * (spread[some] - rows.dim))) / rows.total
    return Criterion(value=rows.squared_error(logs, wide, h), slope=square - 2.0 * cross)


def prepared(X: Any, weights: Any, kernel: Any) -> Prepared:
    """Return checked rows, ready for criteria; far from the origin they keep their digits."""
    X, weights = as_rows(X, weights)
    w = np.ones(len(X)) if weights is None else weights
    left = np.minimum(w, 1.0)
    if np.count_nonzero(w) < 2 and not w.sum() > 1.0:
        raise ValueError("X must have at least two rows to leave one out: it has 1 sample")
    found = Prepared(X=X - X[np.argmax(w)], weights=w, left=left, window=check_window(kernel))
    return found if found.dim > 1 else found.sorted()


GAUSSIAN = WINDOWS["gaussian"]
