"""What Gaussian process regressions of many rows share: parameters, the search, and predictions."""

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.base import (
    Estimator,
    FitInterrupted,
    RegressorMixin,
    check_fitted,
    check_number,
)
from tractable.base.by_blocks import of_held_rows
from tractable.base.stored_rows import check_held_columns
from tractable.distributions import Normal, StudentT
from tractable.engines.newton import NewtonResult
from tractable.gaussian_process.model import Prior
from tractable.gaussian_process.noise import split_noise
from tractable.gaussian_process.search import best_of_searches, check_search, warn_of_search
from tractable.kernels import Kernel, White

#: From the kernel and the noise to the log evidence, or a bound of it, and its gradient in their logarithms.
LogEvidence = Callable[[Prior], tuple[float, np.ndarray]]


class ScalableGaussianProcess(RegressorMixin, Estimator):
    """Gaussian process regression of one target, by an evidence that takes less than a matrix of all rows.

    A subclass supplies `fit`, which learns by `_learned` and `_set_learned`, and the mean and the variance of
    the function at rows, `_moments`.
    """

    def __init__(
        self,
        kernel: Kernel | None = None,
        *,
        noise_variance: float | None = None,
        optimizer: str | None = "fmin_l_bfgs_b",
        n_restarts_optimizer: int = 0,
        tol: float = 1e-8,
        max_iter: int = 200,
        random_state: Any = None,
    ) -> None:
        self.kernel, self.noise_variance, self.optimizer = kernel, noise_variance, optimizer
        self.n_restarts_optimizer, self.tol, self.max_iter = n_restarts_optimizer, tol, max_iter
        self.random_state = random_state

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
        return StudentT(dof=self.residual_dof_, location=mean, scale=(self._widening_ * variance) ** 0.5)

    def predict_quantiles(
        self, X: Any, alpha: Any = (0.05, 0.95), *, include_noise: bool = True
    ) -> np.ndarray:
        """Return quantiles of the predictive distribution at probabilities `alpha`, (n_samples, len(alpha)).

        Parameters
        ----------
        X : array or frame of shape (n_samples, n_features)
            Rows.
        alpha : array of probabilities
            Levels of the quantiles, between 0 and 1.
        include_noise : bool
            Whether they are of a new target (default) or of the function; of the function there are none
            where the approximation is too coarse for them.
        """
        check_fitted(self)
        if not include_noise and (reason := self._too_coarse()):
            raise ValueError(f"include_noise=False has no interval here: {reason}")
        return super().predict_quantiles(X, alpha, include_noise=include_noise)

    def _too_coarse(self) -> str:
        """Return why intervals of the function would not cover what they say; nothing where they do."""
        return ""

    @abstractmethod
    def _moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return means and variances of the function at rows, (q,) each."""

    def _prior(self, default: Callable[[float], Kernel], variance: float) -> Prior:
        """Return the kernel and the noise with their starting values, of targets of that variance.

        Parameters
        ----------
        default : callable
            ``default(variance)`` is the kernel where none was given.
        variance : float
            That of the targets.
        """
        if self.kernel is None:
            return Prior.learned(default(variance), None, self.noise_variance, variance)
        names = getattr(self, "feature_names_in_", None)
        kernel, white = split_noise(self.kernel if names is None else self.kernel.with_columns(names))
        return Prior.learned(kernel, white, self.noise_variance, variance)

    def _learned(
        self, prior: Prior, evidence: LogEvidence, rng: np.random.Generator
    ) -> tuple[Prior, NewtonResult | None]:
        """Return the hyper-parameters of highest evidence times prior density, and the search for them.

        Parameters
        ----------
        prior : Prior
            Kernel and noise at their starting values.
        evidence : callable
            The log evidence and its gradient; a ValueError of it is a kernel that is no covariance there.
        rng : Generator
            Where further starting values come from.
        """
        if self.optimizer is None or not len(prior.theta):
            return prior, None

        def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
            at = prior.with_theta(theta)
            density, slope = at.log_density()
            try:
                found, gradient = evidence(at)
            except ValueError:
                return np.inf, np.zeros_like(theta)
            return -(density + found), -(slope + gradient)

        search = best_of_searches(
            objective,
            prior.parts,
            shorter=self.kernel is None,
            n_restarts=self.n_restarts_optimizer,
            rng=rng,
            tol=self.tol,
            max_iter=self.max_iter,
        )
        return (prior, None) if search is None else (prior.with_theta(search.x), search)

    def _set_learned(
        self, prior: Prior, search: NewtonResult | None, n_targets: float, n_coef: float
    ) -> None:
        """Set what all fits have, of so many targets and coefficients of the mean, and warn of the search."""
        self._prior_ = prior
        self.kernel_, self.noise_variance_ = prior.kernel, prior.noise_variance
        self.converged_ = search is None or search.converged
        self.n_iter_ = 1 if search is None else max(1, search.n_iter)
        self._n_learned_ = 0.0 if search is None else prior.n_learned
        self._set_dof(n_targets, n_coef)
        if search is None:
            return
        if search.interrupted:
            raise FitInterrupted
        added = isinstance(prior.noise, White) and not prior.noise_is_term
        warn_of_search(search, self.max_iter, prior.parts, given=self.kernel is not None, added_noise=added)

    def _set_dof(self, n_targets: float, n_coef: float) -> None:
        """Set the degrees of freedom that targets leave, and by how much they widen predictions."""
        self.residual_dof_ = max(n_targets - n_coef - self._n_learned_, 3.0)
        self._widening_ = max((n_targets - n_coef) / self.residual_dof_, 1.0)

    def _check_parameters(self) -> None:
        check_search(self)
        if self.noise_variance is not None:
            check_number("noise_variance", self.noise_variance, above=0.0)


def spread_of_targets(variance: float, mean: float) -> float:
    """Return the variance by which hyper-parameters start; of constant targets their square, or 1."""
    square = variance + mean**2
    return variance if variance > 1e-24 * square else (square or 1.0)
