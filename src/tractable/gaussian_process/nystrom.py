"""Gaussian process regression through inducing points."""

from functools import partial
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import column_or_1d

from tractable.arrays.batched import as_reals
from tractable.arrays.limits import check_squarable
from tractable.arrays.random import as_generator
from tractable.base import (
    Estimator,
    FitInterrupted,
    ModelTags,
    RegressorMixin,
    all_or_nothing,
    check_choice,
    check_count,
    check_fitted,
    check_number,
    check_rows,
    refuse_foreign,
)
from tractable.base.by_blocks import of_held_rows
from tractable.base.stored_rows import check_held_columns
from tractable.data import Batch, as_source, sample_rows
from tractable.distributions import Normal, StudentT
from tractable.engines.fold import fold
from tractable.engines.inducing_points import inducing_posterior, lower_bound, pivoted_cholesky
from tractable.engines.kmeans import kmeans
from tractable.gaussian_process.comparison import ExactComparison, compared
from tractable.gaussian_process.model import Prior
from tractable.gaussian_process.noise import split_noise
from tractable.gaussian_process.search import OPTIMIZERS, best_of_searches, default_kernel, warn_of_search
from tractable.kernels import Kernel, White
from tractable.primitives.threads import even_blocks
from tractable.statistics.moments import DiagonalMoments
from tractable.statistics.standardizer import Standardizer

#: How inducing points may be chosen.
INDUCING = ("kmeans", "pivoted_cholesky")
#: Rows that are held: of which inducing points are chosen, and on which the exact process is compared.
MOST_HELD = 20_000
#: Entries of the matrix between new rows and inducing points.
BLOCK_ENTRIES = 2**20


class NystromGaussianProcess(RegressorMixin, Estimator):
    """Gaussian process regression through M inducing points: a fold over rows, O(n M²).

    The function is seen through its values at M points. Their variational posterior (Titsias 2009) is the
    nearest to the exact one in Kullback-Leibler divergence, and its free energy a lower bound of the log
    evidence, which hyper-parameters maximise: log N(y | 0, Q + σ²I) - tr(K - Q) / (2σ²), with Nyström's
    approximation Q = K_NM K_MM⁻¹ K_MN. With the rows themselves as points it is the exact process.

    It is approximate where the function varies between points: the mean is smoother there, and variances
    larger. `compare_to_exact` measures it on some of the rows, and `trace_gap_` is the error of the matrix.

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

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        n_inducing: int = 100,
        inducing: Any = "kmeans",
        noise_variance: float | None = None,
        optimizer: str | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        tol: float = 1e-8,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        self.kernel, self.n_inducing, self.inducing = kernel, n_inducing, inducing
        self.noise_variance, self.optimizer = noise_variance, optimizer
        self.n_restarts_optimizer, self.tol, self.max_iter = n_restarts_optimizer, tol, max_iter
        self.random_state = random_state

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
        refuse_foreign(X)
        rng = as_generator(self.random_state)
        rows = check_rows(self, X, y, sample_weight, reset=True, supervised=True)
        targets = rows.y if rows.y is None else column_or_1d(rows.y, warn=True)
        data = as_source(rows.data, targets, rows.weights)
        moments = fold(_row_moments, data)
        if not float(moments.total) > 0.0:
            raise ValueError("sample_weight must have a positive entry, all are zero")
        if np.any(moments.weight < moments.total) or not np.all(np.isfinite(moments.mean)):
            raise ValueError("X and y must be finite: they contain NaN or infinity")
        self.offset_ = float(moments.mean[-1])
        spread = float(moments.scatter[-1] / moments.total)
        square = spread + self.offset_**2
        variance = spread if spread > 1e-24 * square else (square or 1.0)
        prior = self._prior(moments, variance)
        drawing, order, centres = rng.spawn(3)  # one of them must not change what the others draw
        held, _ = sample_rows(data.map(_with_target), None, MOST_HELD, drawing)
        self._held_ = order.permutation(held)
        self.inducing_points_ = self._points(prior, centres)
        search = None
        if self.optimizer is not None and len(prior.theta):
            search = best_of_searches(
                partial(self._objective, prior, data),
                prior.parts,
                n_restarts=self.n_restarts_optimizer,
                rng=rng,
                tol=self.tol,
                max_iter=self.max_iter,
            )
        if search is not None:
            prior = prior.with_theta(search.x)
        self._posterior_ = inducing_posterior(
            prior.kernel, prior.noise_variance, self.inducing_points_, data, self.offset_
        )
        self.kernel_, self.noise_variance_ = prior.kernel, prior.noise_variance
        self.lower_bound_, self.trace_gap_ = self._posterior_.lower_bound, self._posterior_.trace_gap
        self.jitter_ = self._posterior_.points.jitter
        self.converged_ = search is None or search.converged
        self.n_iter_ = 1 if search is None else max(1, search.n_iter)
        self._n_learned_ = 0.0 if search is None else prior.n_learned
        self.residual_dof_ = max(float(moments.total) - 1.0 - self._n_learned_, 3.0)
        self._widening_ = max((float(moments.total) - 1.0) / self.residual_dof_, 1.0)
        if search is not None:
            if search.interrupted:
                raise FitInterrupted
            added = isinstance(prior.noise, White) and not prior.noise_is_term
            given = self.kernel is not None
            warn_of_search(search, self.max_iter, prior.parts, given=given, added_noise=added)
        return self

    @of_held_rows
    def predict_dist(self, X: Any, *, include_noise: bool = True) -> Normal | StudentT:
        """Return the predictive distribution of each row's target, of batch shape (n_samples,).

        Student's t of `residual_dof_` degrees of freedom where hyper-parameters were learned.

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        include_noise : bool
            Whether it is the distribution of a new target (default) or of the function.
        """
        check_fitted(self)
        mean, variance = self._moments(check_held_columns(self, X))
        variance = variance + self.noise_variance_ if include_noise else variance
        if not self._n_learned_:
            return Normal(mean=mean, variance=variance)
        return StudentT(dof=self.residual_dof_, location=mean, scale=np.sqrt(self._widening_ * variance))

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

        def approximate(x: np.ndarray, y: np.ndarray, at: np.ndarray) -> Any:
            found = inducing_posterior(
                self.kernel_, self.noise_variance_, self.inducing_points_, as_source(x, y, None), 0.0
            )
            cross = self.kernel_(self.inducing_points_, at)
            return found.lower_bound, *found.moments(cross, self.kernel_.diagonal(at))

        return compared(self.kernel_, self.noise_variance_, x, y, int(n), approximate)

    def _moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        points = self.inducing_points_
        found = [
            self._posterior_.moments(self.kernel_(points, x[rows]), self.kernel_.diagonal(x[rows]))
            for rows in even_blocks(len(x), max(1, BLOCK_ENTRIES // len(points)))
        ]
        means, variances = zip(*found, strict=True)
        return self.offset_ + np.concatenate(means), np.concatenate(variances)

    def _objective(self, prior: Prior, data: Any, theta: np.ndarray) -> tuple[float, np.ndarray]:
        at = prior.with_theta(theta)
        density, slope = at.log_density()
        try:
            found, gradient, by_noise = lower_bound(
                at.kernel, at.noise_variance, self.inducing_points_, data, self.offset_
            )
        except ValueError:
            return np.inf, np.zeros_like(theta)
        free = isinstance(at.noise, White) and len(at.noise.theta)
        return -(density + found.lower_bound), -(slope + np.append(gradient, [by_noise] if free else []))

    def _prior(self, moments: DiagonalMoments, variance: float) -> Prior:
        width = len(moments.mean) - 1
        if self.kernel is None:
            kernel, white = default_kernel(_standardizer(moments), list(range(width)), variance), None
        else:
            names = getattr(self, "feature_names_in_", None)
            kernel, white = split_noise(self.kernel if names is None else self.kernel.with_columns(names))
        if kernel.has_noise:
            raise ValueError("kernel must have white noise as a term of a sum alone, not within a product")
        return Prior.learned(kernel, white, self.noise_variance, variance)

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
        if self.kernel is not None and not isinstance(self.kernel, Kernel):
            raise ValueError(f"kernel must be a kernel of tractable.kernels or None, got {self.kernel!r:.80}")
        check_count("n_inducing", self.n_inducing, least=1)
        if isinstance(self.inducing, str):
            check_choice("inducing", self.inducing, INDUCING)
        else:
            as_reals("inducing", self.inducing)
        if self.noise_variance is not None:
            check_number("noise_variance", self.noise_variance, above=0.0)
        if self.optimizer is not None:
            check_choice("optimizer", self.optimizer, OPTIMIZERS)
        check_count("n_restarts_optimizer", self.n_restarts_optimizer)
        check_count("max_iter", self.max_iter, least=1)
        check_number("tol", self.tol, least=0.0)
        as_generator(self.random_state, name="random_state")


def _with_target(batch: Batch) -> Batch:
    """Return a batch with the target as its last column."""
    both = np.column_stack([np.asarray(batch.X, dtype=np.float64), np.asarray(batch.y, dtype=np.float64)])
    return Batch(X=both, weights=batch.weights)


def _row_moments(x: Any, y: Any, weights: Any = None) -> DiagonalMoments:
    """Return the moments of the columns, and of the target after them."""
    x, y = check_squarable("X", np.asarray(x, dtype=np.float64)), np.asarray(y, dtype=np.float64)
    return DiagonalMoments.of(np.column_stack([x, check_squarable("y", y, nonzero=True)]), weights)


def _standardizer(moments: DiagonalMoments) -> Standardizer:
    found = Standardizer.from_moments(moments)
    return Standardizer(shift=found.shift[:-1], scale=found.scale[:-1], varies=found.varies[:-1])
