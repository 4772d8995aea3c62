"""The search for hyper-parameters, and where it starts."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from tractable.arrays.namespace import to_numpy
from tractable.arrays.random import as_generator
from tractable.base import check_choice, check_count, check_number
from tractable.distributions import Gamma
from tractable.engines.lbfgs import bounded_lbfgs
from tractable.engines.newton import NewtonResult
from tractable.gaussian_process.model import Prior
from tractable.gaussian_process.posteriors.exact import Observations
from tractable.kernels import RBF, Categorical, Kernel, Matern, Scaled, Subspace
from tractable.primitives.threads import blas_for_rows
from tractable.sampling import PosteriorSampler, nuts
from tractable.statistics.standardizer import Standardizer
from tractable.value import replace, value

#: How hyper-parameters may be searched for.
OPTIMIZERS = ("fmin_l_bfgs_b",)


def check_search(model: Any) -> None:
    """Refuse a kernel, or parameters of the search for its hyper-parameters, that are none."""
    if model.kernel is not None and not isinstance(model.kernel, Kernel):
        raise ValueError(f"kernel must be a kernel of tractable.kernels or None, got {model.kernel!r:.80}")
    if model.optimizer is not None:
        check_choice("optimizer", model.optimizer, OPTIMIZERS)
    check_count("n_restarts_optimizer", model.n_restarts_optimizer)
    check_count("max_iter", model.max_iter, least=1)
    check_number("tol", model.tol, least=0.0)
    as_generator(model.random_state, name="random_state")


def checked_theta(theta: Any, fitted: np.ndarray) -> np.ndarray:
    """Return logarithms of hyper-parameters, those of the fit where None, if they are as many and finite."""
    at = fitted if theta is None else np.asarray(theta, dtype=np.float64)
    if at.shape != fitted.shape or not np.all(np.isfinite(at)):
        raise ValueError(f"theta must be {len(fitted)} finite numbers, got {theta!r}")
    return at


def most_probable(
    prior: Prior,
    groups: Sequence[Observations],
    *,
    optimize: bool,
    shorter: bool,
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
    shorter, n_restarts, rng, tol, max_iter
        As in `best_of_searches`.
    """
    start = prior.theta

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
    n = max(rows.x.shape[0] for rows in groups)
    with blas_for_rows(n):
        best = best_of_searches(
            evaluated,
            prior.parts,
            shorter=shorter,
            n_restarts=n_restarts,
            rng=rng,
            tol=tol,
            max_iter=max_iter,
        )
    if best is None:
        raise ValueError(
            f"kernel must be positive semi-definite and finite at the rows of X, and {prior.kernel!r} is "
            "not, at its starting values"
        )
    return best


def best_of_searches(
    evaluated: Callable[[np.ndarray], tuple[float, np.ndarray]],
    kernels: Sequence[Kernel],
    *,
    shorter: bool = False,
    n_restarts: int,
    rng: np.random.Generator,
    tol: float,
    max_iter: int,
) -> NewtonResult | None:
    """Return the best of several searches within the bounds of hyper-parameters; None where none can start.

    Parameters
    ----------
    evaluated : callable
        The objective and its gradient at logarithms of hyper-parameters.
    kernels : sequence of Kernel
        Kernels whose free hyper-parameters they are, one after the other, at their starting values.
    shorter : bool
        Whether the first search starts from the best of the starting values and shorter length scales, as
        that of a default kernel does: where targets vary within a small part of the range of the rows, a
        search from the whole of it finds noise alone.
    n_restarts : int
        Number of further searches, from points within the bounds.
    rng : Generator
        Where these points come from.
    tol, max_iter
        As in `bounded_lbfgs`.
    """
    _check_start(kernels)
    start = np.concatenate([kernel.theta for kernel in kernels])
    bounds = np.concatenate([kernel.bounds for kernel in kernels])
    latest: dict[bytes, tuple[float, np.ndarray]] = {}  # a search asks for its starting values more than once

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        asked = theta.tobytes()
        if asked not in latest:
            latest.clear()
            latest[asked] = evaluated(theta)
        return latest[asked]

    if shorter:
        start = min(_with_shorter_lengths(kernels), key=lambda theta: objective(theta)[0])
    starts = [start, *(rng.uniform(*bounds.T) for _ in range(n_restarts))]
    best: NewtonResult | None = None
    for at in np.clip(starts, *bounds.T):
        if not np.isfinite(objective(at)[0]):
            continue
        found = bounded_lbfgs(objective, at, bounds, tol=tol, max_iter=max_iter)
        if best is None or found.value < best.value:
            best = found
        if found.interrupted:
            return replace(best, interrupted=True)
    return best


def _with_shorter_lengths(kernels: Sequence[Kernel]) -> list[np.ndarray]:
    """Return the starting values, and those with length scales of columns of numbers 10⁻½, 10⁻¹, … of theirs.

    The shortest are not below their bounds.
    """
    theta = np.concatenate([kernel.theta for kernel in kernels])
    low = np.concatenate([kernel.bounds[:, 0] for kernel in kernels])
    names = [name for kernel in kernels for name in kernel.theta_names]
    lengths = np.array(["length_scale" in name and not name.startswith("Categorical") for name in names])
    room = np.min((theta - low)[lengths]) if lengths.any() else 0.0
    step = 0.5 * np.log(10.0)
    return [theta - k * step * lengths for k in range(1 + int(room / step + 1e-9))]


#: What a log evidence may still rise by, for a factor e of a hyper-parameter, where this ends at a bound.
LEVEL = 1e-2


def at_bounds(kernels: Sequence[Kernel], found: NewtonResult, *, added_noise: bool = False) -> list[str]:
    """Return the hyper-parameters that a search left at a bound beyond which the evidence rises, in words.

    Where it is level beyond the bound, as at a long length scale of a column that does not matter, nothing is
    lost; and noise that was added to the kernel is at its lower bound where targets have none.

    Parameters
    ----------
    kernels : sequence of Kernel
        Kernels whose hyper-parameters were searched for.
    found : NewtonResult
        The result of the search.
    added_noise : bool
        Whether the last is that of noise which was added to the kernel.
    """
    names = [name for kernel in kernels for name in kernel.theta_names]
    low, high = np.concatenate([kernel.bounds for kernel in kernels]).T
    near = 1e-6 * np.maximum(high - low, 1e-6)
    words = []
    for j, (at, slope) in enumerate(zip(found.x, found.gradient, strict=True)):
        upper, lower = at >= high[j] - near[j] and slope < -LEVEL, at <= low[j] + near[j] and slope > LEVEL
        if upper or (lower and not (added_noise and j == len(names) - 1)):
            side, end = ("upper", high[j]) if upper else ("lower", low[j])
            words.append(f"{names[j]} at its {side} bound {np.exp(end):.3g}")
    return words


def warn_of_search(
    found: NewtonResult, max_iter: int, kernels: Sequence[Kernel], *, given: bool, added_noise: bool = False
) -> None:
    """Warn of a search that did not converge, or that ended at a bound of a kernel that was given."""
    words = ""
    if not found.converged:
        words = (
            f"the search for hyper-parameters did not converge in {max_iter} iterations: give more "
            "(max_iter), other starting values or bounds"
        )
    elif given and found.n_iter and (ends := at_bounds(kernels, found, added_noise=added_noise)):
        words = (
            f"the search for hyper-parameters ended with {', '.join(ends)}, and the evidence rises beyond: "
            "widen the bounds, give a prior, or fix it"
        )
    if words:
        warnings.warn(words, ConvergenceWarning, stacklevel=5)


def _check_start(kernels: Sequence[Kernel]) -> None:
    """Refuse starting values outside their bounds."""
    for kernel in kernels:
        for name, at, (low, high) in zip(kernel.theta_names, kernel.theta, kernel.bounds, strict=True):
            if not low - 1e-9 <= at <= high + 1e-9:
                raise ValueError(f"kernel has the starting value of {name} outside its bounds")


def default_kernel(
    standardizer: Standardizer, numeric: list[int], variance: float, *, family: type[RBF] | type[Matern] = RBF
) -> Kernel:
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
        kernel: Kernel = family(length, length_scale_bounds=bounds, length_scale_prior=prior)
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
    root = vectors / np.sqrt(np.maximum(values, 12.0 / np.max((high - low) ** 2)))
    inside = (target.theta(center) - low) * (high - target.theta(center)) / (high - low)
    names = tuple(name for part in prior.parts for name in part.theta_names)

    def variables(draws: dict[str, np.ndarray]) -> dict[str, Any]:
        return {"theta": target.theta(draws["x"])}

    return PosteriorSampler(
        # Warm-up begins with the scales of the approximation: gradients are dear.
        step=replace(nuts(target, True, mass="dense", vectorized=False), root=root / inside[:, None]),
        start=lambda rng, n: center + rng.standard_normal((n, len(center))) @ root.T / inside,
        variables=variables,
        approximation={"theta": (theta, np.linalg.norm(root, axis=1))},
        names={"theta": names},
    )
