"""How far an approximate Gaussian process is from the exact one, measured on some of the rows."""

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.linalg import jittered_cholesky, solve_triangular
from tractable.gaussian_process.posteriors.exact import DualPosterior, Observations, factorized
from tractable.gaussian_process.posteriors.latent import LatentProcess, SoftmaxProcess
from tractable.kernels import Kernel
from tractable.sampling import ImportanceSample
from tractable.value import value


@value
class ExactComparison:
    """An approximation and the exact process on the same rows, at the same hyper-parameters.

    Parameters
    ----------
    n_rows : int
        Rows that both were fitted to; they are compared at as many others, or at the same if there are none.
    log_evidence : float
        Of the exact process.
    approximate_log_evidence : float
        A bound of it, or an approximation.
    mean_difference : float
        Root mean square of the difference of means, in units of the exact standard deviation with noise.
    stddev_ratio : float
        Geometric mean of the approximate standard deviation over the exact one, of the function.
    """

    n_rows: int
    log_evidence: float
    approximate_log_evidence: float
    mean_difference: float
    stddev_ratio: float


def exact_moments(
    kernel: Kernel, noise: float, x: np.ndarray, y: np.ndarray, at: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray]:
    """Return the log evidence of rows by the exact process of mean zero, and its moments at others.

    Parameters
    ----------
    kernel : Kernel
        k.
    noise : float
        σ².
    x, y : arrays (n, d) and (n,)
        Rows and targets.
    at : array (q, d)
        Where means and variances of the function are asked for.
    """
    rows = Observations(x=x, y=y[:, None], basis=x[:, :0], noise_scale=np.ones(len(x)))
    posterior: Any = factorized(kernel, noise, rows)
    assert isinstance(posterior, DualPosterior)
    cross = kernel(at, x)
    mean = posterior.mean(cross, at[:, :0])[:, 0]
    explained, _ = posterior.white(cross, at[:, :0])
    prior = kernel.diagonal(at)
    variance = np.maximum(prior - np.sum(explained**2, axis=0), np.finfo(np.float64).eps * prior)
    return posterior.log_evidence(noise), mean, variance


def compared(
    kernel: Kernel, noise: float, x: np.ndarray, y: np.ndarray, n: int, approximate: Any
) -> ExactComparison:
    """Return the comparison of an approximation on the first n rows, at the rows after them.

    Parameters
    ----------
    kernel : Kernel
        k.
    noise : float
        σ².
    x, y : arrays (m, d) and (m,)
        Rows in a random order, and targets without their mean.
    n : int
        How many of them the processes are fitted to.
    approximate : callable
        ``approximate(x, y, at)`` returns a log evidence, means and variances as `exact_moments` does.
    """
    n = min(n, len(x))
    at = x[n : 2 * n] if len(x) > n else x[:n]
    exact, mean, variance = exact_moments(kernel, noise, x[:n], y[:n], at)
    bound, other, spread = approximate(x[:n], y[:n], at)
    return ExactComparison(
        n_rows=n,
        log_evidence=exact,
        approximate_log_evidence=bound,
        mean_difference=float(np.sqrt(np.mean((mean - other) ** 2 / (variance + noise)))),
        stddev_ratio=float(np.exp(0.5 * np.mean(np.log(spread / variance)))),
    )


#: Draws of Laplace's approximation that are weighed by the exact posterior.
N_DRAWS = 4000


@value
class LaplaceComparison:
    """Laplace's approximation and the exact posterior on the same rows, at the same hyper-parameters.

    The exact posterior is that of importance weights of draws of the approximation. How far they may be
    trusted is stated: where `pareto_k` is above 0.7 the approximation is too far from the posterior for its
    draws to measure by how much, and the figures are less than the truth.

    Parameters
    ----------
    n_rows : int
        Rows that both were fitted to; they are compared at as many others, or at the same if there are none.
    log_evidence : float
        The exact one, of importance weights.
    approximate_log_evidence : float
        Laplace's.
    log_evidence_error : float
        Standard error of `log_evidence`.
    mean_difference : float
        Root mean square of the difference of means of the latent function, in exact standard deviations.
    stddev_ratio : float
        Geometric mean of the approximate standard deviation of the latent function over the exact one.
    prediction_difference : float
        Root mean square of the difference of probabilities of classes; of counts, of logarithms of means.
    ess : float
        Effective sample size of the 4000 weighted draws; the least of several classifiers.
    pareto_k : float
        Shape of the tail of the weights; the largest of several classifiers.
    """

    n_rows: int
    log_evidence: float
    approximate_log_evidence: float
    log_evidence_error: float
    mean_difference: float
    stddev_ratio: float
    prediction_difference: float
    ess: float
    pareto_k: float


@value
class WeighedLatent:
    """Draws of Laplace's approximation of K latent functions at new rows, weighed by the exact posterior.

    Parameters
    ----------
    mean : array (q, K)
        Means of the approximation.
    gaps : array (S, q, K)
        Draws less these.
    sample : ImportanceSample
        The draws at the rows of the fit, with log p(y, f) - log q(f) - the log evidence of Laplace.
    """

    mean: np.ndarray
    gaps: np.ndarray
    sample: ImportanceSample

    @property
    def draws(self) -> np.ndarray:
        """Draws of the approximation, (S, q, K)."""
        return self.mean + self.gaps

    def shift(self, values: np.ndarray) -> np.ndarray:
        """Return E_p - E_q of a function by its values at draws (S, ...): zero where weights are equal."""
        return np.tensordot(self.sample.weights - 1.0 / len(values), values, axes=1)

    @cached_property
    def mean_shift(self) -> np.ndarray:
        """Exact means less those of the approximation, (q, K)."""
        return self.shift(self.gaps)

    @cached_property
    def variances(self) -> tuple[np.ndarray, np.ndarray]:
        """Variances of the approximation and of the exact posterior by the same draws, (q, K) each."""
        exact = np.tensordot(self.sample.weights, self.gaps, axes=1)
        spread = np.tensordot(self.sample.weights, (self.gaps - exact) ** 2, axes=1)
        return self.gaps.var(axis=0), spread


def weighed_latent(
    kernel: Kernel,
    x: np.ndarray,
    process: LatentProcess | SoftmaxProcess,
    log_likelihood: Callable[[np.ndarray], np.ndarray],
    at: np.ndarray,
    rng: np.random.Generator,
) -> WeighedLatent:
    """Return draws of the latent functions at new rows, weighed by the exact posterior.

    With f = L z, C = LLᵀ, the approximation of z has the precision I + LᵀWL. As C⁻¹ is in both, and C⁻¹f*
    is the slope a of the likelihood, the weights need no matrix: with g = f - f* they are
    log p(y | f) - log p(y | f*) - aᵀg + ½ gᵀWg.

    Parameters
    ----------
    kernel : Kernel
        k.
    x : array (n, d)
        The rows of the approximation.
    process : LatentProcess or SoftmaxProcess
        The approximation.
    log_likelihood : callable
        log p(y | f) of latent values (S, n, K), (S,).
    at : array (q, d)
        New rows.
    rng : Generator
        Source of the draws.
    """
    mode, dual = (part.reshape(len(x), -1) for part in (process.mode, process.dual))
    n, k = mode.shape
    curvature = process.curvature.reshape(n, k, k)
    lower = np.tril(jittered_cholesky(kernel(x), name="the covariance of the latent function").lower)
    precision = np.einsum("ia,icd,ib->cadb", lower, curvature, lower, optimize=True).reshape(k * n, k * n)
    precision[np.diag_indices(k * n)] += 1.0
    factor = jittered_cholesky(precision).lower
    noise = rng.standard_normal((k * n, N_DRAWS))
    white = solve_triangular(factor, noise, transposed=True).reshape(k, n, N_DRAWS)
    gaps = np.einsum("ia,cas->sic", lower, white, optimize=True)
    curved = np.einsum("sic,icd,sid->s", gaps, curvature, gaps, optimize=True)
    relative = log_likelihood(mode + gaps) - log_likelihood(mode[None])
    log_weights = relative - np.einsum("ic,sic->s", dual, gaps) + 0.5 * curved
    cross = kernel(at, x)
    explained = solve_triangular(lower, cross.T)  # (n, q)
    left = np.maximum(kernel.diagonal(at) - np.sum(explained**2, axis=0), 0.0)
    own = rng.standard_normal((N_DRAWS, len(at), k)) * np.sqrt(left)[:, None]
    return WeighedLatent(
        mean=cross @ dual,
        gaps=np.einsum("aq,cas->sqc", explained, white, optimize=True) + own,
        sample=ImportanceSample(draws=mode + gaps, log_weights=log_weights),
    )


def laplace_comparison(
    processes: list[Any], weighed: list[WeighedLatent], predicted: np.ndarray, exact: np.ndarray
) -> LaplaceComparison:
    """Return the comparison of approximations by the draws of each, and of what they predict together.

    Parameters
    ----------
    processes : list of LatentProcess or SoftmaxProcess
        The approximations, one for each latent function or one of all.
    weighed : list of WeighedLatent
        Draws of each.
    predicted, exact : array
        Predictions of the approximation, and of the exact posterior, in units in which they are subtracted.
    """
    approximate = sum(process.log_evidence for process in processes)
    samples = [each.sample for each in weighed]
    squares = [each.mean_shift**2 / each.variances[1] for each in weighed]
    ratios = [np.log(each.variances[0] / each.variances[1]) for each in weighed]
    return LaplaceComparison(
        n_rows=len(processes[0].mode),
        log_evidence=float(approximate + sum(sample.log_evidence for sample in samples)),
        approximate_log_evidence=float(approximate),
        log_evidence_error=float(np.sqrt(sum(sample.log_evidence_error**2 for sample in samples))),
        mean_difference=float(np.sqrt(np.mean(squares))),
        stddev_ratio=float(np.exp(0.5 * np.mean(ratios))),
        prediction_difference=float(np.sqrt(np.mean((predicted - exact) ** 2))),
        ess=min(sample.ess for sample in samples),
        pareto_k=max(sample.pareto_k for sample in samples),
    )
