"""How far an approximate Gaussian process is from the exact one, measured on some of the rows."""

from typing import Any

import numpy as np

from tractable.engines.gaussian_process import DualPosterior, Observations, factorized
from tractable.kernels import Kernel
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
