"""A latent Gaussian process behind a likelihood: hyper-parameters by Laplace's evidence, and new rows."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.engines.newton import NewtonResult
from tractable.gaussian_process.search import best_of_searches
from tractable.kernels import Kernel, White
from tractable.primitives.threads import blas_for_rows, even_blocks, ordered_map
from tractable.value import value

#: Entries of the matrix between a block of new rows and the rows of the fit.
BLOCK_ENTRIES = 2**20

#: From the covariance of the rows, and C⁻¹f where to start, to Laplace's approximation.
Approximation = Callable[[np.ndarray, np.ndarray | None], Any]


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
    x: np.ndarray
    process: Any
    search: NewtonResult

    def moments(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return means and variances of the latent function at rows; of several, means and covariances."""

        def of(rows: slice) -> tuple[np.ndarray, np.ndarray]:
            some = x[rows]
            return self.process.moments(self.kernel(some, self.x), self.kernel.diagonal(some))

        with blas_for_rows(len(self.x)):
            blocks = list(ordered_map(of, even_blocks(len(x), max(1, BLOCK_ENTRIES // len(self.x)))))
        means, spreads = zip(*blocks, strict=True)
        return np.concatenate(means), np.concatenate(spreads)

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
        with blas_for_rows(len(self.x)):
            if not gradient:
                return approximate(kernel(self.x), None).log_evidence, np.empty(0)
            return _evaluated(kernel, self.x, approximate, None)[:2]


def learned_process(
    kernel: Kernel,
    x: np.ndarray,
    approximate: Approximation,
    *,
    optimize: bool,
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
    n_restarts, rng, tol, max_iter
        As in `best_of_searches`.
    """
    before: list[np.ndarray] = []

    def evaluated(theta: np.ndarray) -> tuple[float, np.ndarray]:
        at = kernel.with_theta(theta)
        try:
            found, gradient, dual = _evaluated(at, x, approximate, before[0] if before else None)
        except ValueError:  # no covariance
            return np.inf, np.zeros_like(theta)
        before[:] = [dual]
        return -(found + at.log_prior()), -(gradient + at.log_prior_gradient())

    with blas_for_rows(len(x)):
        start = approximate(kernel(x), None)  # which refuses what is no covariance
        before[:] = [start.dual]
        search: NewtonResult | None = None
        if optimize and len(kernel.theta):
            search = best_of_searches(
                evaluated, [kernel], n_restarts=n_restarts, rng=rng, tol=tol, max_iter=max_iter
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
    kernel: Kernel, x: np.ndarray, approximate: Approximation, start: np.ndarray | None
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the log evidence, its gradient in the logarithms of hyper-parameters, and C⁻¹f at the mode."""
    matrix = kernel(x)
    process = approximate(matrix, start)
    gradient = kernel.contract_gradient(process.gradient_weights(matrix), x)
    return process.log_evidence, gradient, process.dual
