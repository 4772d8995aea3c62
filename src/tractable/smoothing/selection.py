"""Bandwidths by cross-validation: the likelihood of left-out rows, and the integrated squared error."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.data.blocks import map_blocks
from tractable.primitives.kernel_sums import left_out_scales, log_kernel_sums
from tractable.smoothing.rows import as_lengths, as_rows
from tractable.smoothing.rules import improved_sheather_jones, scott, silverman
from tractable.smoothing.sums import WindowSums
from tractable.smoothing.windows import WINDOWS, Window, check_window
from tractable.statistics.rows import counts
from tractable.value import replace, value


@value
class Criterion:
    """A criterion at one bandwidth, and its derivative by the logarithm of a common factor."""

    value: float
    slope: float


@value
class LeaveOneOutRows:
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

    def sorted(self) -> "LeaveOneOutRows":
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
        # Summed by NumPy: waking the threads of BLAS would take longer than the sum.
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
        Rows, or the values of one column.
    bandwidth : float or array (d,)
        The bandwidth h, one for all columns or one for each.
    weights : array (n,), optional
        Frequencies of the rows; one each by default.
    kernel : str, Window or callable
        The smoothing kernel, by name, as a value, or as a function K(u) of numbers u.

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
    criterion would fall without bound as the bandwidth goes to zero.

    Parameters
    ----------
    X : array (n, d) or (n,)
        Rows, or the values of one column.
    bandwidth : float or array (d,)
        The bandwidth h, one for all columns or one for each.
    weights : array (n,), optional
        Frequencies of the rows; one each by default.

    Examples
    --------
    >>> round(lscv(np.array([0.0, 1.0, 3.0]), 1.0), 4)
    -0.0277
    """
    rows = prepared(X, weights, "gaussian")
    h = as_lengths("bandwidth", bandwidth, rows.dim)
    wide = rows.sums(math.sqrt(2.0) * h).log_left_out(np.zeros(len(rows.X)))
    return rows.squared_error(rows.sums(h).log_left_out(rows.left), wide, h)


def loo_slope(rows: LeaveOneOutRows, h: np.ndarray) -> Criterion:
    """Return the left-out likelihood of a Gaussian window and its slope."""
    logs, spread = rows.sums(h).left_out_spreads(rows.left)
    some = rows.weights > 0
    slope = -float(rows.weights[some] @ (spread[some] - rows.dim)) / rows.total
    return Criterion(value=rows.nll(logs, h), slope=slope)


def lscv_slope(rows: LeaveOneOutRows, h: np.ndarray) -> Criterion:
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


def prepared(X: Any, weights: Any, kernel: Any) -> LeaveOneOutRows:
    """Return checked rows, ready for criteria; centred, against rounding far from the origin."""
    X, weights = as_rows(X, weights)
    w = counts(weights, X)
    left = np.minimum(w, 1.0)
    if np.count_nonzero(w) < 2 and not w.sum() > 1.0:
        raise ValueError("X must have at least two rows to leave one out: it has 1 sample")
    found = LeaveOneOutRows(X=X - X[np.argmax(w)], weights=w, left=left, window=check_window(kernel))
    return found if found.dim > 1 else found.sorted()


GAUSSIAN = WINDOWS["gaussian"]


#: Candidates of a grid, eight an octave: every rate is then twice the fourth before it, and its exponentials
#: are squares.
N_CANDIDATES = 40
_AN_OCTAVE = 8

#: How often the grid is moved on where the best candidate is its last.
_MOST_MOVES = 6

RULES = {"silverman": silverman, "scott": scott, "isj": improved_sheather_jones}


class UnsettledBandwidthWarning(UserWarning):
    """Cross-validation found no bandwidth, or no width of bins; a rule's was taken."""


@value
class BandwidthSearch:
    """A chosen bandwidth, and the criterion at every candidate that was tried.

    Parameters
    ----------
    bandwidth : array (d,)
        The chosen bandwidth of each column.
    criterion : float
        The criterion there.
    candidates, criteria : arrays (k, d) and (k,)
        The bandwidths that were tried, and the criterion of each.
    settled : bool
        False where the criterion has no minimum among the candidates, and Silverman's bandwidth is given.

    Examples
    --------
    >>> found = select_bandwidth(np.array([0.0, 1.0, 3.0, 7.0]), "loo")
    >>> bool(found.criterion <= found.criteria.min()), found.settled
    (True, True)
    """

    bandwidth: np.ndarray  # (d,)
    criterion: float
    candidates: np.ndarray  # (k, d)
    criteria: np.ndarray  # (k,)
    settled: bool = True


def select_bandwidth(
    X: Any,
    method: str = "loo",
    *,
    search: str = "gradient",
    grid: Any = None,
    weights: Any = None,
    kernel: Any = "gaussian",
) -> BandwidthSearch:
    """Return the bandwidth that makes left-out rows most likely, or the integrated squared error least.

    Candidates are multiples of Silverman's bandwidth, so that each column keeps its own units.

    Parameters
    ----------
    X : array (n, d) or (n,)
        Rows, or the values of one column.
    method : {"loo", "lscv", "silverman", "scott", "isj"}
        "loo" is the left-out likelihood, for every window; "lscv" least squares, for the Gaussian: of
        several minima the widest, as repeated rows make it fall without bound towards zero.
    search : {"gradient", "grid"}
        The best of a grid of candidates, or the minimum beside it: where the slope is zero for the Gaussian
        window, by golden section for others.
    grid : array (k,) or (k, d), optional
        Candidates, in any order, which are tried from narrow to wide; 40, eight an octave about Silverman's,
        when not given, and more where the last is best.
        Where ever narrower windows are ever better, Silverman's is given with a warning.
    weights : array (n,), optional
        How often each row counts.
    kernel : str, Window or callable
        The smoothing kernel, by name, as a value, or as a function K(u) of numbers u.

    Examples
    --------
    >>> x = np.random.default_rng(1).normal(size=200)
    >>> found = select_bandwidth(x, "loo")
    >>> found.bandwidth.round(3), found.candidates.shape
    (array([0.361]), (40, 1))
    """
    window = check_window(kernel)
    columns, weights = as_rows(X, weights)
    if method in RULES:
        h = RULES[method](columns, weights, window)
        return BandwidthSearch(
            bandwidth=h, criterion=math.nan, candidates=h[None], criteria=np.array([np.nan])
        )
    if method not in ("loo", "lscv"):
        raise ValueError(f"method must be one of {['loo', 'lscv', *RULES]}, got {method!r}")
    if search not in ("gradient", "grid"):
        raise ValueError(f"search must be 'gradient' or 'grid', got {search!r}")
    rows = prepared(columns, weights, window)
    if method == "lscv" and rows.window is not GAUSSIAN:
        raise ValueError('method="lscv" has a closed form for kernel="gaussian" alone; use "loo"')
    candidates = None if grid is None else _as_candidates(grid, rows.dim)
    # In units of a bandwidth near the best, densities are numbers of ordinary size.
    scale = silverman(columns, weights, window) if candidates is None else candidates[len(candidates) // 2]
    scaled = replace(rows, X=rows.X / scale)
    found = _on_grid(scaled, method) if candidates is None else _of(scaled, method, candidates / scale)
    found = found if search == "grid" or not found.settled else _refined(scaled, method, found)
    return _rescaled(found, method, scale)


def _as_candidates(grid: Any, dim: int) -> np.ndarray:
    """Return the distinct candidates, (k, d), from narrow to wide."""
    if np.ndim(grid) not in (1, 2) or not np.size(grid):
        raise ValueError(f"grid must hold bandwidths (k,) or (k, {dim}), got {grid!r}")
    return np.unique([as_lengths("grid", one, dim) for one in grid], axis=0)


def _of(rows: LeaveOneOutRows, method: str, candidates: np.ndarray) -> BandwidthSearch:
    return _best(method, candidates, np.array([_criterion(rows, method, h) for h in candidates]))


def _on_grid(rows: LeaveOneOutRows, method: str) -> BandwidthSearch:
    """Return the best multiple of the standardized bandwidth; while the last is best, try farther ones."""
    octaves = np.arange(N_CANDIDATES) / _AN_OCTAVE - 3.5
    criteria = _curve(rows, method, 2.0**octaves)
    tried = octaves
    for _ in range(_MOST_MOVES):
        best = _chosen(method, criteria)
        if 0 < best < len(tried) - 1:
            return _best(method, _common(tried, rows.dim), criteria)
        octaves = octaves - 5.0 if best == 0 else octaves + 5.0
        more = _curve(rows, method, 2.0**octaves)
        parts = ((octaves, tried), (more, criteria)) if best == 0 else ((tried, octaves), (criteria, more))
        tried, criteria = (np.concatenate(part) for part in parts)
    warnings.warn(
        f'"{method}" finds no best bandwidth: it falls to the end of the search, as where most rows of X are '
        "repeated; Silverman's is taken",
        UnsettledBandwidthWarning,
        stacklevel=4,
    )
    ones = np.ones(rows.dim)
    found = _best(method, _common(tried, rows.dim), criteria)
    return replace(found, bandwidth=ones, criterion=_criterion(rows, method, ones), settled=False)


def _common(octaves: np.ndarray, dim: int) -> np.ndarray:
    return np.broadcast_to(2.0 ** octaves[:, None], (len(octaves), dim))


def _rescaled(found: BandwidthSearch, method: str, scale: np.ndarray) -> BandwidthSearch:
    """Return what was found in units of a bandwidth, in those of the data."""
    shift = float(np.sum(np.log(scale)))
    with np.errstate(over="ignore"):
        scaled = [
            c + shift if method == "loo" else c * np.exp(-shift) for c in (found.criterion, found.criteria)
        ]
    return replace(
        found,
        bandwidth=found.bandwidth * scale,
        candidates=found.candidates * scale,
        criterion=float(scaled[0]),
        criteria=np.asarray(scaled[1]),
    )


def _best(method: str, candidates: np.ndarray, criteria: np.ndarray) -> BandwidthSearch:
    best = _chosen(method, criteria)
    return BandwidthSearch(
        bandwidth=candidates[best], criterion=float(criteria[best]), candidates=candidates, criteria=criteria
    )


def _chosen(method: str, criteria: np.ndarray) -> int:
    """Return the place of the least likelihood, or of the last local minimum of the squared error.

    On repeated rows least squares falls without bound for ever narrower windows; its widest minimum is to be
    trusted (Hall and Marron 1991).
    """
    inner = np.flatnonzero((criteria[1:-1] <= criteria[:-2]) & (criteria[1:-1] < criteria[2:])) + 1
    return int(inner[-1]) if method == "lscv" and len(inner) else int(np.argmin(criteria))


def _curve(rows: LeaveOneOutRows, method: str, factors: np.ndarray) -> np.ndarray:
    """Return the criterion at every factor, (k,); in space all Gaussian ones from one pass over the pairs."""
    if rows.dim == 1 or rows.window is not GAUSSIAN:
        return np.array([_criterion(rows, method, np.full(rows.dim, s)) for s in factors])
    # Rates rise by a quarter of an octave; four before the first serve windows √2 as wide.
    wide = factors[-1] * 2.0 ** (np.arange(4, 0, -1) / _AN_OCTAVE)
    rates = 0.5 / np.concatenate([wide, factors[::-1]]) ** 2
    log_sums = _log_left_out_scales(rows, rates)
    found = []
    for k in range(len(factors)):
        h, logs = np.full(rows.dim, factors[::-1][k]), log_sums[:, k + 4]
        if method == "loo":
            own = rows.weights - rows.left
            found.append(rows.nll(_with_own(logs, own), h))
        else:
            left_out = _with_own(logs, rows.weights - rows.left)
            found.append(rows.squared_error(left_out, _with_own(log_sums[:, k], rows.weights), h))
    return np.array(found[::-1])


def _with_own(logs: np.ndarray, own: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        return np.logaddexp(logs, np.log(np.maximum(own, 0.0)))


def _log_left_out_scales(rows: LeaveOneOutRows, rates: np.ndarray) -> np.ndarray:
    """Return log Σ_{i ≠ j} w_i exp(-rate |x_j - x_i|²), (n, K), in logarithms where it underflows."""
    points = np.asfortranarray(rows.X)
    n = len(points)
    step = max(1, 2**21 // n)
    weights = None if np.all(rows.weights == 1.0) else rows.weights

    def block(start: int) -> np.ndarray:
        queries = points[start : start + step]
        return left_out_scales(queries, points, weights, start, rates, _AN_OCTAVE // 2)

    sums = map_blocks(block, range(0, n, step))
    with np.errstate(divide="ignore"):
        logs = np.log(sums)
    for j, k in np.argwhere(sums < 1e-280):
        logs[j, k] = _lone(points * math.sqrt(2.0 * rates[k]), rows.weights, int(j))
    return logs


def _lone(points: np.ndarray, weights: np.ndarray, j: int) -> float:
    """Return the log of a sum that underflows, for a row far from all others."""
    row, own = points[j : j + 1], weights[j : j + 1]
    return float(log_kernel_sums(row, points, weights, GAUSSIAN.log_profile, "gaussian", own, j)[0])


def _criterion(rows: LeaveOneOutRows, method: str, h: np.ndarray) -> float:
    left_out = rows.sums(h).log_left_out(rows.left)
    if method == "loo":
        return rows.nll(left_out, h)
    wide = rows.sums(math.sqrt(2.0) * h).log_left_out(np.zeros(len(rows.X)))
    return rows.squared_error(left_out, wide, h)


def _refined(rows: LeaveOneOutRows, method: str, found: BandwidthSearch) -> BandwidthSearch:
    """Return the minimum between the neighbours of the best candidate."""
    from scipy.optimize import brentq, minimize_scalar

    best = _chosen(method, found.criteria)
    if not (0 < best < len(found.criteria) - 1 and math.isfinite(found.criterion)):
        return found
    middle = found.candidates[best]
    low, high = (float(np.log(found.candidates[k] / middle)[0]) for k in (best - 1, best + 1))
    factor = 1.0
    if rows.window is GAUSSIAN:
        slope: Callable[..., Any] = loo_slope if method == "loo" else lscv_slope
        ends = [slope(rows, middle * math.exp(t)).slope for t in (low, high)]
        if ends[0] < 0 < ends[1]:
            factor = math.exp(
                brentq(lambda t: slope(rows, middle * math.exp(t)).slope, low, high, xtol=1e-10)
            )
    elif found.criterion < min(found.criteria[best - 1], found.criteria[best + 1]):
        bracket = (math.exp(low), 1.0, math.exp(high))
        search = minimize_scalar(
            lambda s: _criterion(rows, method, middle * s), bracket=bracket, method="golden", tol=1e-8
        )
        factor = float(search.x)
    h = middle * factor
    value = _criterion(rows, method, h)
    if not value <= found.criterion:
        return found
    return replace(found, bandwidth=h, criterion=value)
