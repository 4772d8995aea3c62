"""Gaussian process regression through inducing points."""

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import column_or_1d

from tractable.arrays.batched import as_reals
from tractable.arrays.devices import beside, on_host
from tractable.arrays.limits import check_squarable
from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.arrays.random import as_generator
from tractable.base import (
    ModelTags,
    all_or_nothing,
    check_choice,
    check_count,
    check_fitted,
    check_number,
    check_rows,
)
from tractable.data import Batch, Source, as_source, sample_rows
from tractable.data.blocks import map_matrix_rows, stacked
from tractable.engines.fold import fold
from tractable.engines.kmeans import kmeans
from tractable.gaussian_process.base import ScalableGaussianProcess, spread_of_targets
from tractable.gaussian_process.comparison import ExactComparison, compared
from tractable.gaussian_process.model import Prior
from tractable.gaussian_process.posteriors.inducing_points import (
    inducing_posterior,
    lower_bound,
    pivoted_cholesky,
)
from tractable.gaussian_process.search import default_kernel
from tractable.kernels import Kernel
from tractable.primitives import as_double
from tractable.statistics.moments import DiagonalMoments
from tractable.statistics.standardizer import Standardizer
from tractable.value import replace

#: How inducing points may be chosen.
INDUCING = ("kmeans", "pivoted_cholesky")
#: Rows that are held: of which inducing points are chosen, and on which the exact process is compared.
MOST_HELD = 20_000
#: The mean variance that the points leave out at the rows, relative to σ², up to which intervals of the
#: function cover what they say.
MOST_LOST = 0.05
#: Entries of the matrix between new rows and inducing points.
BLOCK_ENTRIES = 2**20


class NystromGaussianProcess(ScalableGaussianProcess):
    """Gaussian process regression through M inducing points: a fold over rows, O(n M²).

    The function is seen through its values at M points. Their variational posterior (Titsias 2009) is the
    nearest to the exact one in Kullback-Leibler divergence, and its free energy a lower bound of the log
    evidence, which hyper-parameters maximise: log N(y | 0, Q + σ²I) - tr(K - Q) / (2σ²), with Nyström's
    approximation Q = K_NM K_MM⁻¹ K_MN. With the rows themselves as points it is the exact process.

    It is approximate where the function varies between points: the mean is smoother there, and variances
    larger. `compare_to_exact` measures it on some of the rows, and `trace_gap_` is the error of the matrix:
    where it is above 5 % of σ² a row, and hyper-parameters were learned, intervals of the function are not
    offered; those of targets are.

    Exact over several passes, given the points: every evaluation of the bound is two folds over rows in
    memory, in files or in a stream that can be repeated. The mean of the targets is subtracted.

    Parameters
    ----------
    kernel : Kernel, optional
        k, with noise as a term `White`; by default a squared exponential with a length scale for each column.
    n_inducing : int
        M. Where there are fewer distinct rows it is their number.
    inducing : {"kmeans", "pivoted_cholesky"} or array (M, d)
        Centres of the rows; rows of which those before leave the largest variance; or the points.
    noise_variance : float, optional
        σ² where it is known, positive; by default it is learned.
    optimizer : {"fmin_l_bfgs_b"} or None
        The search for hyper-parameters; None keeps those of the kernel.
    n_restarts_optimizer : int
        Number of further searches, from starting values drawn within the bounds; the best is kept.
    tol : float
        Relative change of the objective at which a search stops.
    max_iter : int
        Maximum number of iterations of a search.
    random_state : None, int, RandomState or Generator
        Where the choice of points and starting values come from.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel at its hyper-parameters, without noise.
    noise_variance_ : float
        σ².
    lower_bound_ : float
        The variational bound of log p(y | X).
    inducing_points_ : array (M, d)
        The points.
    trace_gap_ : float
        tr(K - Q) at the rows.
    offset_ : float
        The mean of the targets.
    jitter_ : float
        What was added to the diagonal of K_MM.
    converged_ : bool
        Whether the best search ended by its tolerance.
    n_iter_ : int
        Improvements of the bound in the best search, one at least.
    residual_dof_ : float
        Number of targets less one and the learned hyper-parameters, three at least.
    n_features_in_, feature_names_in_
        Number of columns of X, and their names where they had any.

    See Also
    --------
    GaussianProcessRegressor : the exact process.
    BayesianCommittee : exact processes of blocks of rows, combined.

    Examples
    --------
    >>> import numpy as np, tractable
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0.0, 10.0, (2000, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.standard_normal(2000)
    >>> model = tractable.NystromGaussianProcess(n_inducing=20, random_state=0).fit(X, y)
    >>> model.predict([[2.0]]).round(1), round(model.noise_variance_**0.5, 1)
    (array([0.9]), 0.1)
    >>> model.compare_to_exact(300).mean_difference < 0.1
    True
    """

    model_tags = ModelTags(kind="discriminative", parametric=True, streaming="exact over several passes")
    _learns_on_host = True

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_inducing: int = 100,
        inducing: Any = "kmeans",
        noise_variance: float | None = None,
        optimizer: str | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        tol: float = 1e-10,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            kernel,
            noise_variance=noise_variance,
            optimizer=optimizer,
            n_restarts_optimizer=n_restarts_optimizer,
            tol=tol,
            max_iter=max_iter,
            random_state=random_state,
        )
        self.n_inducing, self.inducing = n_inducing, inducing

    @all_or_nothing(afresh=True)
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Choose inducing points, and learn hyper-parameters and the posterior.

        Parameters
        ----------
        X : array, frame, source or re-iterable of batches, of shape (n_samples, n_features)
            Rows, in memory or read once for every evaluation of the bound.
        y : array of shape (n_samples,) or column name
            Targets.
        sample_weight : array of shape (n_samples,) or column name, optional
            How often each row counts.
        """
        self._check_parameters()
        rng = as_generator(self.random_state)
        rows = check_rows(self, X, y, sample_weight, reset=True, supervised=True)
        if rows.y is not None:
            rows = replace(rows, y=_one_target(rows.y))
        data = rows.source
        moments = fold(_row_moments, data)
        if not float(moments.total) > 0.0:
            raise ValueError("sample_weight must have a positive entry, all are zero")
        if np.any(moments.weight < moments.total) or not np.all(np.isfinite(moments.mean)):
            raise ValueError("X and y must be finite: they contain NaN or infinity")
        self.offset_ = float(moments.mean[-1])
        variance = spread_of_targets(float(moments.scatter[-1] / moments.total), self.offset_)
        both = Standardizer.from_moments(moments)
        width = len(moments.mean) - 1
        columns = Standardizer(shift=both.shift[:width], scale=both.scale[:width], varies=both.varies[:width])

        def default(variance: float) -> Kernel:
            return default_kernel(columns, list(range(width)), variance)

        prior = self._prior(default, variance)
        if prior.kernel.has_noise:
            raise ValueError("kernel must have white noise as a term of a sum alone, not within a product")
        drawing, order, centres = rng.spawn(3)  # one of them must not change what the others draw
        held, _ = sample_rows(_with_targets(data), None, MOST_HELD, drawing)
        self._held_ = order.permutation(held)
        self.inducing_points_ = self._points(prior, centres)
        prior, search = self._learned(prior, partial(self._evidence, data), rng)
        self._posterior_ = inducing_posterior(
            prior.kernel, prior.noise_variance, self.inducing_points_, data, self.offset_
        )
        self.lower_bound_, self.trace_gap_ = self._posterior_.lower_bound, self._posterior_.trace_gap
        self.jitter_ = self._posterior_.points.jitter
        self._total_ = float(moments.total)
        self._set_learned(prior, search, self._total_, 1.0)
        return self

    def compare_to_exact(self, n: int = 1000) -> ExactComparison:
        """Return how far it is from the exact process on n of the rows, at these hyper-parameters and points.

        Parameters
        ----------
        n : int
            How many rows; no more than are held, 20,000.
        """
        check_fitted(self)
        check_number("n", n, least=1, whole=True)
        x, y = self._held_[:, :-1], self._held_[:, -1] - self.offset_
        points = on_host(self.inducing_points_)

        def approximate(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> Any:
            found = inducing_posterior(self.kernel_, self.noise_variance_, points, as_source(x, y, None), 0.0)
            cross = self.kernel_(points, at)
            return found.lower_bound, *found.moments(cross, self.kernel_.diagonal(at))

        return compared(self.kernel_, self.noise_variance_, x, y, int(n), approximate)

    def _moments(self, x: Array) -> tuple[Array, Array]:
        points, posterior = beside((self.inducing_points_, self._posterior_), x)

        def of(rows: slice) -> tuple[Array, Array]:
            some = x[rows, :]
            return posterior.moments(self.kernel_(points, some), self.kernel_.diagonal(some))

        mean, variance = stacked(map_matrix_rows(of, x.shape[0], points.shape[0], x, BLOCK_ENTRIES))
        return self.offset_ + mean, variance

    def _too_coarse(self) -> str:
        lost = self.trace_gap_ / (self._total_ * self.noise_variance_)
        if not self._n_learned_ or lost <= MOST_LOST:
            return ""
        return (
            f"{self.inducing_points_.shape[0]} inducing points leave out {lost:.0%} of the noise variance at "
            "the rows (trace_gap_), which the hyper-parameters learned take for noise: bands of the function "
            "are too narrow. Give more points (n_inducing), or ask for intervals of targets"
        )

    def _evidence(self, data: Any, at: Prior) -> tuple[float, np.ndarray]:
        """Return the bound and its gradient."""
        found, gradient, by_noise = lower_bound(
            at.kernel, at.noise_variance, self.inducing_points_, data, self.offset_
        )
        return found.lower_bound, at.with_noise_gradient(gradient, by_noise)

    def _points(self, prior: Prior, rng: np.random.Generator) -> np.ndarray:
        held = self._held_[:, :-1]
        if not isinstance(self.inducing, str):
            points = np.asarray(self.inducing, dtype=np.float64)
            if points.ndim != 2 or not len(points) or points.shape[1] != held.shape[1]:
                raise ValueError(
                    f"inducing must be rows of {held.shape[1]} columns, got shape {points.shape}"
                )
            if not np.isfinite(points).all():
                raise ValueError("inducing must be finite")
            return points
        distinct = np.unique(held, axis=0)
        if len(distinct) <= self.n_inducing:
            return distinct
        # Of distinct rows, so that a row of weight two is two equal rows.
        if self.inducing == "pivoted_cholesky":
            return distinct[pivoted_cholesky(prior.kernel, distinct, int(self.n_inducing))]
        spread = distinct.std(axis=0)
        scale = np.where(spread > 0.0, spread, 1.0)
        return scale * np.unique(kmeans(distinct / scale, None, int(self.n_inducing), rng).centers, axis=0)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count("n_inducing", self.n_inducing, least=1)
        if isinstance(self.inducing, str):
            check_choice("inducing", self.inducing, INDUCING)
        else:
            as_reals("inducing", self.inducing)


def _one_target(y: Array) -> Array:
    """Return targets, one a row."""
    if is_numpy_array(y):
        return column_or_1d(y, warn=True)
    if y.ndim != 1:
        raise ValueError(f"y must be one target a row; got shape {tuple(y.shape)}")
    return y


def _with_targets(data: Source) -> Source:
    """Return rows with the target as their last column."""
    if not data.on_device:
        return data.map(_with_target)
    held = data.collect()
    X = namespace_of(held.X).concat([as_double(held.X), as_double(held.y)[:, None]], axis=1)
    return as_source(X, None, held.weights)


def _with_target(batch: Batch) -> Batch:
    """Return a batch with the target as its last column."""
    both = np.column_stack([np.asarray(batch.X, dtype=np.float64), np.asarray(batch.y, dtype=np.float64)])
    return Batch(X=both, weights=batch.weights)


def _row_moments(x: Any, y: Any, weights: Any = None) -> DiagonalMoments:
    """Return the moments of the columns, and of the target after them."""
    x, y = check_squarable("X", as_double(x)), check_squarable("y", as_double(y), nonzero=True)
    return DiagonalMoments.of(namespace_of(x).concat([x, y[:, None]], axis=1), weights)
