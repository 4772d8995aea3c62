"""Kernel density estimation."""

from functools import cached_property
from typing import Any, Self

import numpy as np

from tractable.arrays.devices import beside, on_host
from tractable.arrays.limits import is_squarable
from tractable.arrays.namespace import freeze, is_foreign_array, is_numpy_array, library_of
from tractable.base import (
    DensityMixin,
    Estimator,
    ModelTags,
    all_or_nothing,
    check_count,
    check_fitted,
    refuse_foreign,
)
from tractable.base.options import SklearnOptions
from tractable.base.stored_rows import check_stored_rows
from tractable.density.univariate import UnivariateMixin
from tractable.distributions import SmoothedEmpirical
from tractable.distributions.smoothed.domain import as_ends
from tractable.smoothing import (
    WINDOWS,
    BandwidthSearch,
    GridDensity,
    check_window,
    select_bandwidth,
    unrolled,
)
from tractable.smoothing.grid import grid_density
from tractable.smoothing.rows import as_lengths
from tractable.smoothing.rules import scott, silverman
from tractable.value import value


@value
class WindowedRows:
    """A copy of checked rows, a bandwidth and a domain; the distribution is built when first asked for.

    A density of many numbers on a grid reads them once: a fit for it should neither sort nor sum them.
    """

    points: np.ndarray  # (n, d)
    bandwidth: np.ndarray  # (d,) or (d, d)
    weights: np.ndarray | None
    window: Any
    bounds: Any
    period: Any
    names: tuple[str, ...] | None

    @property
    def plain(self) -> bool:
        """Whether these are numbers under a window of the library without a domain: nothing else to check."""
        h = self.bandwidth
        return (
            is_numpy_array(h)
            and self.points.shape[1] == h.size == 1
            and self.bounds is None
            and self.period is None
            and isinstance(self.window, str)
            and self.window in WINDOWS
            and is_squarable(h)
        )

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The least and the greatest of one column."""
        return float(self.points.min()), float(self.points.max())

    @cached_property
    def distribution(self) -> SmoothedEmpirical:
        """The rows, smoothed."""
        return SmoothedEmpirical(
            points=self.points,
            bandwidth=self.bandwidth,
            weights=self.weights,
            window=self.window,
            bounds=self.bounds,
            period=self.period,
            names=self.names,
        )

    @cached_property
    def univariate(self) -> Any:
        """The same of one column, as a distribution of numbers."""
        return self.distribution.as_univariate()


METHODS = ("silverman", "scott", "isj", "loo", "lscv")

#: Rules that need the moments of the columns alone.
BY_MOMENTS = {"silverman": silverman, "scott": scott}

#: Scikit-learn's names of windows.
ALIASES = {"linear": "triangular", "exponential": "laplace"}


class KernelDensity(UnivariateMixin, DensityMixin, Estimator):
    """Kernel density estimation.

    p(x) = (1/N) Σ_n K_h(x - x_n), with a smoothing kernel (window) K_h of bandwidth h at every row.

    All rows are stored: a score costs a pass over them, and on one column far less (see `evaluation_`). For a
    fixed bandwidth the expectation of the estimate is the density convolved with the kernel, whatever the
    number of rows; it is consistent for h → 0 while N h^d → ∞, as the bandwidths chosen from the data do.
    Scores keep eleven digits, however far from the rows.

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
        K(u) of numbers that is not negative, symmetric and has the integral 1. Scikit-learn's names of two of
        them are understood too: "linear" is "triangular", and "exponential" is "laplace".
    search : {"gradient", "grid"}
        For "loo" and "lscv": the minimum, or the best of 40 candidates.
    bounds : pair (low, high), or one pair (or None) a column, optional
        Bounds, at which the mass beyond is reflected; rows must lie within; an end may be open (None).
        Bandwidths are chosen as if there were none.
    period : number or pair, or one (or None) a column, optional
        For angles and hours: the length of a period, or its ends. Bandwidths are chosen from rows turned into
        one period and cut at the widest gap between them (see `tractable.smoothing.unrolled`), so that they
        do not depend on where the period begins.

    Attributes
    ----------
    distribution_ : SmoothedEmpirical
        The fitted distribution; with a Gaussian window it conditions and marginalises.
    bandwidth_ : array of shape (n_features,), or (n_features, n_features) for a matrix
        The bandwidth of each column, or the matrix that was given.
    evaluation_ : str
        How scores are summed: "fast Gauss transform", "running totals" or "two passes" on one column;
        "tree-pruned sum" on several where boxes of a tree leave most rows out (certified to be below 1e-13
        of a sum), else "direct sum"; "sum within reach" or "dense" for windows of users.
    evaluation_error_ : float
        How far off a density may be by that, as a part of it.
    search_ : BandwidthSearch, where "loo" or "lscv" chose
        Candidates and their criteria.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

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
    >>> float(model.interval(0.5)[1].round(2))
    9.22
    """

    model_tags = ModelTags(kind="generative", parametric=False, streaming="exact over several passes")
    _stores_tensors = True

    _sklearn_options = SklearnOptions(
        ignored=("algorithm", "leaf_size", "atol", "rtol", "breadth_first"),
        limited={"metric": ("euclidean", "l2", "minkowski"), "metric_params": (None,)},
    )

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
        """Store the rows and choose the bandwidth.

        Parameters
        ----------
        X, y, sample_weight
            Rows (n_samples, n_features), and how often each counts; y is ignored.
        """
        rows = check_stored_rows(self, X, sample_weight=sample_weight)
        X, weights = rows.data, rows.weights
        kernel = ALIASES.get(self.kernel, self.kernel) if isinstance(self.kernel, str) else self.kernel
        window = check_window(kernel)
        names, dim = getattr(self, "feature_names_in_", None), X.shape[1]
        period = as_ends("period", self.period, dim)
        self.bandwidth_ = beside(self._bandwidth(X, weights, window, period), X)
        self._windowed_rows_ = WindowedRows(
            points=freeze(X),
            bandwidth=self.bandwidth_,
            weights=weights,
            window=kernel if isinstance(kernel, str) else window,
            bounds=as_ends("bounds", self.bounds, dim),
            period=period,
            names=None if names is None else tuple(names),
        )
        if not self._windowed_rows_.plain:
            self._windowed_rows_.distribution  # noqa: B018  (which refuses what it cannot be)
        return self

    @property
    def distribution_(self) -> SmoothedEmpirical:
        """The fitted distribution."""
        check_fitted(self)
        return self._windowed_rows_.distribution

    @property
    def evaluation_(self) -> str:
        """How scores are summed."""
        return self.distribution_.evaluation

    @property
    def evaluation_error_(self) -> float:
        """Largest relative error of a density."""
        return self.distribution_.evaluation_error

    def evaluate_grid(
        self, n: int = 1024, *, low: float | None = None, high: float | None = None
    ) -> GridDensity:
        """Return the density of one column on an even grid, and a bound on its error.

        A Gaussian window without bounds is convolved by FFT, unless the error bound would exceed 1e-4 of the
        peak; others are evaluated exactly at every node.

        Parameters
        ----------
        n : int
            Number of nodes.
        low, high : float, optional
            The ends of the grid; four bandwidths beyond the rows, or the bounds, when not given.

        Returns
        -------
        GridDensity
            With `x`, `prob`, `error_bound` (absolute, at every node) and `path`.
        """
        rows = self._one_column()
        refuse_foreign(rows.points)
        check_count("n", n, least=2)
        gaussian = rows.plain and rows.window == "gaussian"
        ends = self._grid_ends(rows, gaussian=gaussian)
        low, high = (float(e if given is None else given) for e, given in zip(ends, (low, high), strict=True))
        if not (low < high and np.isfinite(high - low)):
            raise ValueError(f"low must be below high, both finite, got {low!r} and {high!r}")
        if gaussian:
            h = float(rows.bandwidth[0])
            return grid_density(rows.points[:, 0], rows.weights, h, low, high, n, rows.ends)
        x = np.linspace(low, high, n)
        prob = rows.univariate.prob(x)
        error = self.evaluation_error_ * float(prob.max())
        return GridDensity(x=x, prob=prob, error_bound=error, path=self.evaluation_)

    def _grid_ends(self, rows: WindowedRows, *, gaussian: bool) -> tuple[float, float]:
        """Return the default ends of a grid: four bandwidths beyond the rows, or the bounds."""
        h = float(rows.bandwidth[0]) if rows.bandwidth.ndim == 1 else float(rows.bandwidth[0, 0]) ** 0.5
        low, high = rows.ends[0] - 4.0 * h, rows.ends[1] + 4.0 * h
        if gaussian:
            return low, high
        bounds = [float(end) for end in rows.univariate.support]
        return max(low, bounds[0]), min(high, bounds[1])

    def _one_column(self) -> WindowedRows:
        check_fitted(self)
        rows: WindowedRows = self._windowed_rows_
        dim = rows.points.shape[1]
        if dim != 1:
            raise ValueError(f"X has {dim} columns: distribution functions and grids are of one")
        return rows

    def _univariate(self) -> Any:
        return self._one_column().univariate

    def _bandwidth(self, X: np.ndarray, weights: np.ndarray | None, window: Any, period: Any) -> np.ndarray:
        if not isinstance(self.bandwidth, str):
            return as_lengths("bandwidth", on_host(self.bandwidth), X.shape[1], matrix=True)
        if self.bandwidth not in METHODS:
            raise ValueError(
                f"bandwidth must be one of {[*METHODS]}, a number or an array, got {self.bandwidth!r}"
            )
        if is_foreign_array(X):
            if self.bandwidth not in BY_MOMENTS or period is not None:
                raise ValueError(
                    f"bandwidth={self.bandwidth!r} is found for NumPy arrays, and X is an array of "
                    f"{library_of(X)}: give a number, or one of {[*BY_MOMENTS]} without a period"
                )
            return BY_MOMENTS[self.bandwidth](X, weights, window)
        if period is not None:
            X = unrolled(X, [None if end is None else end[1] - end[0] for end in period], weights)
        found: BandwidthSearch = select_bandwidth(
            X, self.bandwidth, search=self.search, weights=weights, kernel=window
        )
        if self.bandwidth in ("loo", "lscv"):
            self.search_ = found
        if not is_squarable(found.bandwidth):
            raise ValueError(
                "X has columns that vary by so little that squares of distances underflow; rescale them"
            )
        return found.bandwidth
