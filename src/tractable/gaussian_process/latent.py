"""A latent Gaussian process behind a likelihood: hyper-parameters by Laplace's evidence, and new rows."""

from abc import abstractmethod
from collections.abc import Callable
from copy import copy
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.random import as_generator
from tractable.base import Estimator, FitInterrupted, check_fitted, check_number
from tractable.base.stored_rows import check_held_columns, check_stored_rows
from tractable.base.validation import Rows, refuse_foreign
from tractable.data import is_frame
from tractable.data.blocks import map_matrix_rows, stacked
from tractable.data.frames import split_frame
from tractable.distributions import Gamma
from tractable.engines.newton import NewtonResult
from tractable.gaussian_process.comparison import (
    LaplaceComparison,
    WeighedLatent,
    laplace_comparison,
    weighed_latent,
)
from tractable.gaussian_process.explain import Relevance, column_relevance
from tractable.gaussian_process.search import (
    best_of_searches,
    check_search,
    checked_theta,
    default_kernel,
    warn_of_search,
)
from tractable.gaussian_process.words import WordColumns
from tractable.kernels import Kernel, White
from tractable.primitives.threads import blas_for_rows
from tractable.statistics.moments import DiagonalMoments
from tractable.statistics.rows import counts
from tractable.statistics.standardizer import Standardizer
from tractable.value import replace, value

#: Entries of the matrix between a block of new rows and the rows of the fit.
BLOCK_ENTRIES = 2**20

#: Where the variance of the latent function of the default kernel is looked for.
LATENT_BOUNDS = (1e-3, 1e2)

#: From the covariance of the rows, and C⁻¹f where to start, to Laplace's approximation.
Approximation = Callable[[Array, Array | None], Any]


@value
class LatentModel:
    """Laplace's approximation at the hyper-parameters of a fit.

    Parameters
    ----------
    kernel : Kernel
        k, with its term ν of white noise where it has one.
    x : array (n, d)
        The rows of the fit.
    process : LatentProcess or SoftmaxProcess
        The approximation at these rows.
    search : NewtonResult
        The search for hyper-parameters.
    """

    kernel: Kernel
    x: Array
    process: Any
    search: NewtonResult

    def moments(self, x: Array) -> tuple[Array, Array]:
        """Return means and variances of the latent function at rows; of several, means and covariances."""

        def of(rows: slice) -> tuple[Array, Array]:
            some = x[rows, :]
            return self.process.moments(self.kernel(some, self.x), self.kernel.diagonal(some))

        n = self.x.shape[0]
        with blas_for_rows(n):
            return stacked(map_matrix_rows(of, x.shape[0], n, x, BLOCK_ENTRIES))

    def mean(self, x: np.ndarray) -> np.ndarray:
        """Return means of the latent functions at rows, (q, t)."""
        dual = self.process.dual
        return self.kernel.multiply(x, self.x, dual.reshape(len(dual), -1))

    def log_evidence(
        self, theta: np.ndarray, approximate: Approximation, *, gradient: bool = True
    ) -> tuple[float, np.ndarray]:
        """Return Laplace's evidence and on request its gradient at other hyper-parameters.

        Parameters
        ----------
        theta : array (p,)
            Their logarithms.
        approximate : callable
            Laplace's approximation of a covariance of the rows.
        gradient : bool
            Whether to compute the gradient.
        """
        kernel = self.kernel.with_theta(theta)
        with blas_for_rows(self.x.shape[0]):
            if not gradient:
                return approximate(kernel(self.x), None).log_evidence, np.empty(0)
            return _evaluated(kernel, self.x, approximate, None)[:2]


class LatentGaussianProcess(WordColumns, Estimator):
    """What models of a latent function share: the search, the evidence, moments and relevance.

    A subclass stores its rows in `X_train_`, `sample_weight_` and the attributes that `_of_each_row` names,
    supplies Laplace's approximation of each latent function, `_approximations`, and learns by `_learn`.
    """

    _of_each_row: ClassVar[tuple[str, ...]] = ()
    X_train_: Array
    sample_weight_: Array | None
    _models_: tuple[LatentModel, ...]

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        optimizer: str | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        tol: float = 1e-8,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        self.kernel, self.optimizer, self.n_restarts_optimizer = kernel, optimizer, n_restarts_optimizer
        self.tol, self.max_iter, self.random_state = tol, max_iter, random_state

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False) -> Any:
        """Return Laplace's log evidence at other hyper-parameters, and on request its gradient.

        Parameters
        ----------
        theta : array (p,), optional
            Logarithms of the free hyper-parameters, as in `theta_`; those of the fit when not given.
        eval_gradient : bool
            Whether to return the gradient too.
        """
        check_fitted(self)
        if theta is None and not eval_gradient:
            return self.log_evidence_
        at = checked_theta(theta, self.theta_)
        parts = np.split(at, len(self._models_))
        found = [
            model.log_evidence(part, approximate, gradient=eval_gradient)
            for model, part, approximate in zip(self._models_, parts, self._approximations(), strict=True)
        ]
        total = sum(value for value, _ in found)
        return (total, np.concatenate([gradient for _, gradient in found])) if eval_gradient else total

    def relevance(self) -> Relevance:
        """Return how much each column matters to the latent function (automatic relevance determination)."""
        check_fitted(self)
        refuse_foreign(self.X_train_)
        return column_relevance(
            lambda x: np.concatenate([model.mean(x) for model in self._models_], axis=1),
            self.X_train_,
            self._column_names(),
        )

    def compare_to_exact(self, n: int = 200) -> LaplaceComparison:
        """Return how far Laplace's approximation is from the exact posterior on n of the rows.

        At these hyper-parameters. The exact posterior is that of 4000 draws of the approximation with
        importance weights, in O(n³) time; `pareto_k` and `ess` of the result say how far to trust it.

        Parameters
        ----------
        n : int
            How many rows.
        """
        check_fitted(self)
        refuse_foreign(self.X_train_)
        check_number("n", n, least=1, whole=True)
        rng = np.random.default_rng(0)
        order = rng.permutation(len(self.X_train_))
        n = min(int(n), len(order))
        at = self.X_train_[order[n : 2 * n] if len(order) > n else order]
        some = copy(self)
        some._take(order[:n])  # noqa: SLF001
        return some._compared(at, rng)  # noqa: SLF001

    def _take(self, rows: np.ndarray) -> None:
        """Keep some of the rows, with the approximations of them at these hyper-parameters."""
        for name in ("X_train_", *self._of_each_row):
            setattr(self, name, getattr(self, name)[rows])
        self.sample_weight_ = None if self.sample_weight_ is None else self.sample_weight_[rows]
        self._models_ = tuple(
            replace(model, x=self.X_train_, process=approximate(model.kernel(self.X_train_), None))
            for model, approximate in zip(self._models_, self._approximations(), strict=True)
        )

    def _compared(self, at: np.ndarray, rng: np.random.Generator) -> LaplaceComparison:
        """Return the comparison with the exact posterior of all rows, at others."""
        with blas_for_rows(len(self.X_train_)):
            weighed = [
                weighed_latent(model.kernel, model.x, model.process, log_likelihood, at, rng)
                for model, log_likelihood in zip(self._models_, self._log_likelihoods(), strict=True)
            ]
        predicted, exact = self._predicted_and_exact(at, weighed)
        return laplace_comparison([model.process for model in self._models_], weighed, predicted, exact)

    @abstractmethod
    def _log_likelihoods(self) -> list[Callable[[np.ndarray], np.ndarray]]:
        """Return log p(y | f) of latent values (S, n, K) for each approximation, (S,)."""

    @abstractmethod
    def _predicted_and_exact(
        self, x: np.ndarray, weighed: list[WeighedLatent]
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return predictions at rows, and those of the exact posterior by weighed draws."""

    @property
    def theta_(self) -> np.ndarray:
        """Logarithms of the free hyper-parameters, (p,)."""
        check_fitted(self)
        return np.concatenate([model.kernel.theta for model in self._models_])

    def _stored(self, X: Any, y: Any, sample_weight: Any, *, drop: bool = True) -> Rows:
        """Return checked rows to store, words and categories of frames by their codes."""
        if is_frame(X):
            X, y, sample_weight = split_frame(X, y, sample_weight)
        return check_stored_rows(
            self, self._coded(X, reset=True), y, sample_weight, supervised=True, drop=drop
        )

    def _query(self, X: Any) -> Array:
        check_fitted(self)
        return check_held_columns(self, self._coded(X, reset=False))

    def _weights(self) -> Array:
        """Return how often each row counts, (n,)."""
        return counts(self.sample_weight_, self.X_train_)

    def _one_row_for_each(self, kernel: Kernel) -> Array:
        """Return the positions of the rows that are learned from, and take these.

        Where the kernel has noise of each row's own, a row that counts twice is two: each has its own.
        """
        xp, weights = namespace_of(self.X_train_), self.sample_weight_
        every = xp.arange(self.X_train_.shape[0], device=device(self.X_train_))
        if weights is None or not kernel.has_noise:
            return every
        if not bool(xp.all(weights == xp.round(weights))):
            raise ValueError(
                "sample_weight must be whole numbers where the kernel has noise of each row (nu or White)"
            )
        each = xp.repeat(every, xp.astype(weights, xp.int64))
        self.X_train_, self.sample_weight_ = xp.take(self.X_train_, each, axis=0), None
        return each

    @abstractmethod
    def _approximations(self) -> list[Approximation]:
        """Return Laplace's approximation of each latent function, or of all together."""

    def _kernel(self, variance: float) -> Kernel:
        """Return the kernel that was given, or the default of a latent function of that variance."""
        if self.kernel is None:
            standardizer = Standardizer.from_moments(DiagonalMoments.of(self.X_train_, self.sample_weight_))
            kernel = default_kernel(standardizer, self._numeric(self.X_train_.shape[1]), variance)
            # Laplace's evidence may rise with the variance, and is poor where it is large.
            prior = Gamma(shape=2.0, rate=2.0 / variance)
            return kernel.with_params(scale_prior=prior, scale_bounds=LATENT_BOUNDS)
        kernel = self.kernel.with_columns(getattr(self, "feature_names_in_", ()))
        xp = namespace_of(self.X_train_)
        if not bool(xp.all(xp.isfinite(kernel.diagonal(self.X_train_)))):
            raise ValueError("kernel must be finite at the rows of X, and overflows")
        return kernel

    def _learn(self, kernel: Kernel) -> None:
        """Set the approximations at the hyper-parameters of highest evidence, and what all fits have."""
        rng = as_generator(self.random_state)
        with np.errstate(over="ignore", under="ignore"):
            self._models_ = tuple(
                learned_process(
                    kernel,
                    self.X_train_,
                    approximate,
                    optimize=self.optimizer is not None,
                    shorter=self.kernel is None,
                    rng=rng,
                    n_restarts=self.n_restarts_optimizer,
                    tol=self.tol,
                    max_iter=self.max_iter,
                )
                for approximate in self._approximations()
            )
        self.log_evidence_ = float(sum(model.process.log_evidence for model in self._models_))
        self.converged_ = all(m.search.converged and m.process.converged for m in self._models_)
        self.n_iter_ = max(1, *(model.search.n_iter for model in self._models_))

    def _warn_of_searches(self) -> None:
        """Warn of searches that did not converge or ended at a bound; raise where one was interrupted."""
        if any(model.search.interrupted for model in self._models_):
            raise FitInterrupted
        given = self.kernel is not None and self.optimizer is not None
        for model in self._models_:
            warn_of_search(model.search, self.max_iter, [model.kernel], given=given)

    def _check_parameters(self) -> None:
        check_search(self)


def learned_process(
    kernel: Kernel,
    x: Array,
    approximate: Approximation,
    *,
    optimize: bool,
    shorter: bool,
    n_restarts: int,
    rng: np.random.Generator,
    tol: float,
    max_iter: int,
) -> LatentModel:
    """Return the process at the hyper-parameters of highest evidence, with their priors.

    A search begins each approximation at the mode of the one before.

    Parameters
    ----------
    kernel : Kernel
        k at its starting values.
    x : array (n, d)
        Rows.
    approximate : callable
        Laplace's approximation of a covariance of the rows.
    optimize : bool
        Whether to search; else the starting values are the result.
    shorter, n_restarts, rng, tol, max_iter
        As in `best_of_searches`.
    """
    before: list[Array] = []

    def evaluated(theta: np.ndarray) -> tuple[float, np.ndarray]:
        at = kernel.with_theta(theta)
        try:
            found, gradient, dual = _evaluated(at, x, approximate, before[0] if before else None)
        except ValueError:  # no covariance
            return np.inf, np.zeros_like(theta)
        before[:] = [dual]
        return -(found + at.log_prior()), -(gradient + at.log_prior_gradient())

    with blas_for_rows(x.shape[0]):
        start = approximate(kernel(x), None)  # which refuses what is no covariance
        before[:] = [start.dual]
        search: NewtonResult | None = None
        if optimize and len(kernel.theta):
            search = best_of_searches(
                evaluated,
                [kernel],
                shorter=shorter,
                n_restarts=n_restarts,
                rng=rng,
                tol=tol,
                max_iter=max_iter,
            )
        if search is None:
            total = -(start.log_evidence + kernel.log_prior())
            search = NewtonResult(
                x=kernel.theta,
                value=total,
                gradient=np.zeros_like(kernel.theta),
                n_iter=0,
                converged=True,
                trace=np.array([total]),
            )
            return LatentModel(kernel=kernel, x=x, process=start, search=search)
        kernel = kernel.with_theta(search.x)
        return LatentModel(kernel=kernel, x=x, process=approximate(kernel(x), None), search=search)


def with_nu(kernel: Kernel, nu: float) -> Kernel:
    """Return k(x, x') + ν δ, of a fixed ν; the kernel itself where it is zero."""
    return kernel + White(float(nu), noise_level_bounds="fixed") if nu > 0.0 else kernel


def _evaluated(
    kernel: Kernel, x: Array, approximate: Approximation, start: Array | None
) -> tuple[float, np.ndarray, Array]:
    """Return the log evidence, its gradient in the logarithms of hyper-parameters, and C⁻¹f at the mode."""
    matrix = kernel(x)
    process = approximate(matrix, start)
    gradient = kernel.contract_gradient(process.gradient_weights(matrix), x)
    return process.log_evidence, gradient, process.dual
