"""Kernel density estimation."""

from typing import Any, Self

import numpy as np

from tractable.arrays.namespace import Array, to_numpy
from tractable.base import DensityMixin, Estimator, ModelTags, all_or_nothing, check_columns, check_count
from tractable.base.stored_rows import check_stored_rows
from tractable.distributions import SmoothedEmpirical
from tractable.smoothing import BandwidthSearch, GridDensity, binned_density, check_window, select_bandwidth

__all__ = ["KernelDensity"]

METHODS = ("silverman", "scott", "isj", "loo", "lscv")

#: Scikit-learn's names of windows.
ALIASES = {"linear": "triangular", "exponential": "laplace"}


class KernelDensity(DensityMixin, Estimator):
    """p(x) = (1/N) Σ_n K_h(x - x_n): a window on every row, wide enough to smooth and no wider.

    General and simple, at the price of keeping all rows: a score costs a pass over them, on one column
    hardly more than a look (see `evaluation_`). For a fixed bandwidth the estimate is the density blurred by
    the window, whatever the number of rows; it is right in the limit where h → 0 while N h^d → ∞, as the
    bandwidths chosen from the data do. Scores keep eleven digits, however far from the rows.

    Parameters
    ----------
    bandwidth : {"silverman", "scott", "isj", "loo", "lscv"}, float, array (d,) or array (d, d)
        - "silverman" and "scott": what is best for Gaussian rows, in the units of each column;
        - "isj", improved Sheather-Jones (Botev et al. 2010): finds narrow modes, for each column by itself;
        - "loo": the greatest likelihood of left-out rows; "lscv": the least integrated squared error, for
          Gaussian windows. Both scale Silverman's bandwidth, about which they search;
        - lengths: one for all columns, or one for each. A matrix is squared: a Gaussian window's covariance.
    kernel : str or callable
        "gaussian", "epanechnikov", "tophat", "triangular", "biweight", "cosine", "laplace", or a function
        K(u) of numbers that is not negative, symmetric and has the integral 1.
    search : {"gradient", "grid"}
        For "loo" and "lscv": the minimum, or the best of 40 candidates.
    bounds : pair (low, high), or one pair (or None) a column, optional
        Walls, at which the mass beyond is reflected; rows must lie within. Bandwidths are chosen without.
    period : number or pair, or one (or None) a column, optional
        For angles and hours: the length of a period, or its ends.

    Attributes
    ----------
    distribution_ : SmoothedEmpirical
        The fitted distribution; with a Gaussian window it conditions and marginalises.
    bandwidth_ : array of shape (n_features,), or (n_features, n_features) for a matrix
    evaluation_ : str
        How scores are summed: "fast Gauss transform", "running totals" or "two passes" on one column;
        "tree-pruned sum" on several where boxes of a tree leave most rows out (certified to be below 1e-13
        of a sum), else "direct sum"; "dense" for windows of users.
    search_ : BandwidthSearch, where "loo" or "lscv" chose
        Candidates and their criteria.
    n_features_in_ : int
    feature_names_in_ : array of str, where the columns had names

    See Also
    --------
    tractable.SmoothedEmpirical : the distribution itself.
    tractable.smoothing.select_bandwidth : bandwidths by themselves.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> X = np.array([[0.1], [0.7], [1.0], [8.2], [8.8], [9.1], [9.4], [9.5]])
    >>> model = tractable.KernelDensity(bandwidth="loo").fit(X)
    >>> model.bandwidth_.round(3), np.exp(model.score_samples([[1.0], [5.0]])).round(4)
    (array([0.558]), array([0.1911, 0.    ]))
    >>> model.interval(0.5)[1].round(2), model.evaluation_
    (np.float64(9.22), 'fast Gauss transform')
    """

    model_tags = ModelTags(kind="generative", parametric=False, streaming="exact over several passes")

    def __init__(
        self,
        *,
        bandwidth: Any = "silverman",
        kernel: Any = "gaussian",
        search: str = "gradient",
        bounds: Any = None,
        period: Any = None,
    ) -> None:
        self.bandwidth = bandwidth
        self.kernel = kernel
        self.search = search
        self.bounds = bounds
        self.period = period

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Keep the rows and choose the bandwidth.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Read into memory.
        y : ignored
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.

        Returns
        -------
        self
        """
        rows = check_stored_rows(self, X, sample_weight=sample_weight)
        X = np.asarray(rows.data, dtype=np.float64)
        weights = None if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
        kernel = ALIASES.get(self.kernel, self.kernel) if isinstance(self.kernel, str) else self.kernel
        window = check_window(kernel)
        names = getattr(self, "feature_names_in_", None)
        self.bandwidth_ = self._bandwidth(X, weights, window)
        self.distribution_ = SmoothedEmpirical(
            points=X,
            bandwidth=self.bandwidth_,
            weights=weights,
            window=kernel if isinstance(kernel, str) else window,
            bounds=_ends(self.bounds, X.shape[1]),
            period=_ends(self.period, X.shape[1]),
            names=None if names is None else tuple(names),
        )
        self.evaluation_ = self.distribution_.evaluation
        return self

    def cdf(self, X: Any) -> Array:
        """Return the probability below each row of one column.

        Parameters
        ----------
        X : array or frame of shape (n_samples, 1)

        Returns
        -------
        array of shape (n_samples,)
        """
        return self._numbers().cdf(check_columns(self, X)[:, 0])

    def icdf(self, q: Any) -> Array:
        """Return the quantiles of one column, of the shape of the probabilities q."""
        return self._numbers().icdf(q)

    def interval(self, coverage: float = 0.9) -> tuple[Array, Array]:
        """Return the ends of the interval that holds one column with probability `coverage`."""
        return self._numbers().interval(coverage)

    def evaluate_grid(
        self, n: int = 1024, *, low: float | None = None, high: float | None = None
    ) -> GridDensity:
        """Return the density of one column on an even grid, and a bound on its error.

        A Gaussian window without walls is convolved by FFT; others are evaluated exactly at every node.

        Parameters
        ----------
        n : int
            Number of nodes.
        low, high : float, optional
            The ends of the grid; four bandwidths beyond the rows, or the walls, when not given.

        Returns
        -------
        GridDensity
            With `x`, `prob`, `error_bound` (absolute, at every node) and `path`.
        """
        d = self._numbers()
        check_count("n", n, least=2)
        points, h = to_numpy(d.points), float(d.bandwidth)
        walls = [float(end) for end in d.support]
        ends = (points.min() - 4.0 * h, points.max() + 4.0 * h)
        low = max(ends[0], walls[0]) if low is None else float(low)
        high = min(ends[1], walls[1]) if high is None else float(high)
        if not (low < high and np.isfinite(high - low)):
            raise ValueError(f"low must be below high, both finite, got {low!r} and {high!r}")
        if d.window == "gaussian" and d.bounds is None and d.period is None:
            equal = bool(np.all(d.weights == 1.0))
            return binned_density(points, None if equal else d.weights, h, low, high, n)
        x = np.linspace(low, high, n)
        prob = d.prob(x)
        return GridDensity(x=x, prob=prob, error_bound=1e-11 * float(prob.max()), path=d.evaluation)

    def _numbers(self) -> Any:
        d = self._density()
        if d.dim != 1:
            raise ValueError(f"X has {d.dim} columns: distribution functions and grids are of one")
        return d.as_univariate()

    def _bandwidth(self, X: np.ndarray, weights: np.ndarray | None, window: Any) -> np.ndarray:
        if not isinstance(self.bandwidth, str):
            return _as_lengths(self.bandwidth, X.shape[1])
        if self.bandwidth not in METHODS:
            raise ValueError(
                f"bandwidth must be one of {[*METHODS]}, a number or an array, got {self.bandwidth!r}"
            )
        found: BandwidthSearch = select_bandwidth(
            X, self.bandwidth, search=self.search, weights=weights, kernel=window
        )
        if self.bandwidth in ("loo", "lscv"):
            self.search_ = found
        return found.bandwidth


def _as_lengths(bandwidth: Any, dim: int) -> np.ndarray:
    """Return lengths (d,) or a matrix (d, d)."""
    try:
        h = np.asarray(bandwidth, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"bandwidth must be a number or an array, got {bandwidth!r}") from None
    if h.ndim > 2 or (h.ndim and set(h.shape) != {dim}):
        raise ValueError(f"bandwidth must be a number, {dim} of them or a matrix, got shape {h.shape}")
    if h.ndim < 2 and not np.all((h > 0) & np.isfinite(h)):
        raise ValueError(f"bandwidth must be positive and finite, got {bandwidth!r}")
    return h if h.ndim == 2 else np.array(np.broadcast_to(h, (dim,)))


def _ends(given: Any, dim: int) -> Any:
    """Return one pair (or None) a column; one column may give its pair, or its period's length, alone."""
    alone = dim == 1 and given is not None
    alone = alone and (np.ndim(given) == 0 or (len(given) == 2 and all(np.ndim(end) == 0 for end in given)))
    return (given,) if alone else given
