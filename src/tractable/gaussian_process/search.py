"""The search for hyper-parameters, and where it starts."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.arrays.namespace import to_numpy
from tractable.distributions import Gamma
from tractable.engines.gaussian_process import Observations
from tractable.engines.lbfgs import bounded_lbfgs
from tractable.engines.newton import NewtonResult
from tractable.gaussian_process.model import Prior
from tractable.kernels import RBF, Categorical, Kernel, Scaled, Subspace
from tractable.primitives.threads import blas_for_rows
from tractable.sampling import PosteriorSampler, nuts
from tractable.statistics.standardizer import Standardizer
from tractable.value import replace, value


def most_probable(
    prior: Prior,
    groups: Sequence[Observations],
    *,
    optimize: bool,
    n_restarts: int,
    rng: np.random.Generator,
    tol: float,
    max_iter: int,
) -> NewtonResult:
    """Return the minimum of minus log evidence less log prior over the hyper-parameters.

    Parameters
    ----------
    prior : Prior
        The kernel and the noise at their starting values.
    groups : sequence of Observations
        The rows of each set of targets.
    optimize : bool
        Whether to search; else the starting values are the result.
    n_restarts : int
        Number of further searches, from points within the bounds.
    rng : Generator
        Where these points come from.
    tol, max_iter
        As in `bounded_lbfgs`.
    """
    start, bounds = prior.theta, prior.bounds

    latest: dict[bytes, tuple[float, np.ndarray]] = {}  # a search asks for its starting values more than once

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        asked = theta.tobytes()
        if asked not in latest:
            latest.clear()
            latest[asked] = evaluated(theta)
        return latest[asked]

    def evaluated(theta: np.ndarray) -> tuple[float, np.ndarray]:
        at = prior.with_theta(theta)
        density, slope = at.log_density()
        found = [at.log_evidence(rows) for rows in groups]
        total = density + sum(part.value for part in found)
        return -total, -(slope + sum(at.gradient_of(part) for part in found))

    if not (optimize and len(start)):
        values = [prior.log_evidence(rows, gradient=False).value for rows in groups]
        total = -prior.log_density()[0] - sum(values)
        return NewtonResult(
            x=start, value=total, gradient=start, n_iter=0, converged=True, trace=np.array([total])
        )
    _check_start(prior)
    starts = [start, *(rng.uniform(*bounds.T) for _ in range(n_restarts))]
    best: NewtonResult | None = None
    with blas_for_rows(max(rows.x.shape[0] for rows in groups)):
        for at in np.clip(starts, *bounds.T):
            if not np.isfinite(objective(at)[0]):
                continue
            found = bounded_lbfgs(objective, at, bounds, tol=tol, max_iter=max_iter)
            if best is None or found.value < best.value:
                best = found
            if found.interrupted:
                best = replace(best, interrupted=True)
                break
    if best is None:
        raise ValueError(
            f"kernel must be positive semi-definite and finite at the rows of X, and {prior.kernel!r} is "
            "not, at its starting values"
        )
    return best


def _check_start(prior: Prior) -> None:
    """Refuse starting values outside their bounds."""
    names = [name for part in prior.parts for name in part.theta_names]
    for name, at, (low, high) in zip(names, prior.theta, prior.bounds, strict=True):
        if not low - 1e-9 <= at <= high + 1e-9:
            raise ValueError(f"kernel has the starting value of {name} outside its bounds")


def default_kernel(standardizer: Standardizer, numeric: list[int], variance: float) -> Kernel:
    """Return the kernel of columns in their units: values, bounds and priors by their standard deviations.

    Length scales have the prior Gamma(2) with mean √d standard deviations: few rows say little of them.
    """
    scale, varies = to_numpy(standardizer.scale), to_numpy(standardizer.varies)
    spread = np.where(varies, 1.0 / scale, 1.0)
    words = [j for j in range(len(spread)) if j not in set(numeric)]
    parts: list[Kernel] = []
    if numeric:
        unit = spread[numeric]
        length = unit * len(numeric) ** 0.5
        bounds = np.stack([1e-2 * unit, 1e4 * unit], axis=1)
        prior = Gamma(shape=np.full(len(numeric), 2.0), rate=2.0 / length)
        kernel: Kernel = RBF(length, length_scale_bounds=bounds, length_scale_prior=prior)
        parts.append(Subspace(kernel, numeric) if words else kernel)
    if words:
        prior = Gamma(shape=np.full(len(words), 2.0), rate=np.full(len(words), 2.0 / len(words)))
        equal = Categorical(np.full(len(words), float(len(words))), length_scale_prior=prior)
        parts.append(Subspace(equal, words) if numeric else equal)
    joined = parts[0] if len(parts) == 1 else parts[0] * parts[1]
    return Scaled(joined, variance, scale_bounds=(1e-6 * variance, 1e4 * variance))


@value
class HyperparameterPosterior:
    """The log posterior of log hyper-parameters: log evidence plus log prior, flat in bounds without one.

    A point u of all of space is theta = low + (high - low) / (1 + exp(-u)), whose Jacobian is included.
    """

    prior: Prior
    groups: tuple[Observations, ...]

    def theta(self, u: np.ndarray) -> np.ndarray:
        """Return log hyper-parameters of points (..., p)."""
        low, high = self.prior.bounds.T
        return low + (high - low) / (1.0 + np.exp(-u))

    def point(self, theta: np.ndarray) -> np.ndarray:
        """Return the point of log hyper-parameters; at a bound, one beside it."""
        low, high = self.prior.bounds.T
        part = np.clip((theta - low) / (high - low), 1e-3, 1.0 - 1e-3)
        return np.log(part / (1.0 - part))

    def at(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log posterior density of log hyper-parameters and its gradient."""
        at = self.prior.with_theta(theta)
        density, slope = at.log_density()
        found = [at.log_evidence(rows) for rows in self.groups]
        total = density + sum(part.value for part in found)
        return total, slope + sum(at.gradient_of(part) for part in found)

    def __call__(self, u: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the log density of a point and its gradient."""
        low, high = self.prior.bounds.T
        part = 1.0 / (1.0 + np.exp(-u))
        inside = part * (1.0 - part)
        if not np.all(inside > 1e-12):
            return -np.inf, np.zeros(len(u))
        value, slope = self.at(self.theta(u))
        if not np.isfinite(value):
            return -np.inf, np.zeros(len(u))
        return value + float(np.sum(np.log(inside))), slope * (high - low) * inside + 1.0 - 2.0 * part


def hyperparameter_sampler(prior: Prior, groups: Sequence[Observations]) -> PosteriorSampler:
    """Return how the posterior of log hyper-parameters is sampled, about those of a fit."""
    target = HyperparameterPosterior(prior=prior, groups=tuple(groups))
    theta = prior.theta
    if not len(theta):
        raise ValueError("model must have a kernel with free hyper-parameters to be sampled; all are fixed")
    center = target.point(theta)
    # Laplace's approximation, by differences of the gradient at the mode.
    step = 1e-4
    rows = [target.at(theta + step * e)[1] - target.at(theta - step * e)[1] for e in np.eye(len(theta))]
    curvature = -0.5 * (np.array(rows) + np.array(rows).T) / (2.0 * step)
    values, vectors = np.linalg.eigh(curvature)
    low, high = prior.bounds.T
    # No direction is wider than the bounds.
    variance = (vectors**2) @ (1.0 / np.maximum(values, 12.0 / np.max((high - low) ** 2)))
    names = tuple(name for part in prior.parts for name in part.theta_names)

    def variables(draws: dict[str, np.ndarray]) -> dict[str, Any]:
        return {"theta": target.theta(draws["x"])}

    return PosteriorSampler(
        step=nuts(target, True, vectorized=False),
        start=lambda rng, n: center + 0.3 * rng.standard_normal((n, len(center))),
        variables=variables,
        approximation={"theta": (theta, np.sqrt(variance))},
        names={"theta": names},
    )
