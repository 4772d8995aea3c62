"""Maximum likelihood and maximum a posteriori of any log density, with standard errors."""

import warnings
from collections.abc import Callable, Mapping
from math import log
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import freeze, to_numpy
from tractable.distributions.checks import check_coverage, check_sample_weight
from tractable.distributions.distribution import Distribution
from tractable.distributions.normal import MultivariateNormal, Normal
from tractable.value import set_fields, value

#: Steps of differences, in standard errors of the estimate: of the gradient and of the curvature.
_GRADIENT_STEP, _CURVATURE_STEP = 0.02, 0.1


@value
class LikelihoodEstimate:
    """Parameters of greatest likelihood, or of greatest posterior density, and their uncertainty.

    Parameters
    ----------
    names : tuple of str
        The parameters.
    estimate : array (p,)
        Their values.
    covariance : array (p, p)
        The inverse of the curvature of minus the objective: of a likelihood the inverse of the observed
        information, of a posterior density the covariance of Laplace's approximation.
    log_likelihood : float
        Σ log p(x_n | θ) at the estimate.
    objective : float
        The log-likelihood, with the log prior density where there is a prior.
    n_rows : float
        The number of rows, or their total weight.
    converged : bool
        Whether the gradient vanishes and the curvature is that of a maximum.
    distribution : Distribution, optional
        The member of the family, where one was given.
    """

    names: tuple[str, ...]
    estimate: np.ndarray
    covariance: np.ndarray
    log_likelihood: float
    objective: float
    n_rows: float
    converged: bool
    distribution: Any = None

    def __post_init__(self) -> None:
        set_fields(self, estimate=freeze(self.estimate), covariance=freeze(self.covariance))

    def __getitem__(self, name: str) -> float:
        """Return the value of a parameter by its name."""
        if name not in self.names:
            raise KeyError(f"{name!r} is not among {', '.join(self.names)}")
        return float(self.estimate[self.names.index(name)])

    @property
    def standard_errors(self) -> np.ndarray:
        """Standard error of each parameter, (p,)."""
        return np.sqrt(np.diagonal(self.covariance))

    @property
    def aic(self) -> float:
        """Akaike's criterion, 2 p - 2 log L."""
        return 2.0 * len(self.names) - 2.0 * self.log_likelihood

    @property
    def bic(self) -> float:
        """Schwarz's criterion, p log n - 2 log L."""
        return len(self.names) * log(self.n_rows) - 2.0 * self.log_likelihood

    @property
    def posterior(self) -> MultivariateNormal:
        """The normal approximation about the estimate (Laplace's, where there is a prior)."""
        return MultivariateNormal(mean=self.estimate, covariance=self.covariance, names=self.names)

    def interval(self, coverage: float = 0.9) -> np.ndarray:
        """Return the interval θ ± z s.e. of each parameter, (p, 2)."""
        reach = float(Normal(mean=0.0, stddev=1.0).icdf(0.5 + 0.5 * check_coverage(coverage)))
        return self.estimate[:, None] + np.array([-reach, reach]) * self.standard_errors[:, None]

    def __str__(self) -> str:
        width = max(map(len, self.names))
        rows = zip(self.names, self.estimate, self.standard_errors, strict=True)
        lines = [f"{name:<{width}}  {x:>10.5g} ± {error:.3g}" for name, x, error in rows]
        return "\n".join([*lines, f"log-likelihood {self.log_likelihood:.6g} of {self.n_rows:g} rows"])


def mle(
    log_density: Any, data: Any, start: Any, *, sample_weight: Any = None, max_iter: int = 200
) -> LikelihoodEstimate:
    """Maximise Σ log p(x_n | θ) over θ, for any log density: what closed forms are checked against.

    The search is Newton's method with derivatives by differences, whose curvature gives the standard errors.
    It finds a local maximum near the start, and suits few parameters. Where the density is not defined
    (NaN, or a ValueError) it counts as impossible, so bounds of parameters need not be given.

    Parameters
    ----------
    log_density : callable or class of distributions
        ``log_density(x, theta)``, or ``log_density(x, **parameters)`` where the start is a mapping, returns
        the log density of every row; a class like `Normal` is called with the parameters.
    data : array (n, ...)
        The rows.
    start : number, array (p,), or mapping of names to numbers
        Where the search begins: of finite likelihood.
    sample_weight : array (n,), optional
        How often each row counts.
    max_iter : int
        Maximum number of steps.

    Returns
    -------
    LikelihoodEstimate

    Examples
    --------
    >>> import numpy as np
    >>> from tractable import Gamma
    >>> rows = np.random.default_rng(0).gamma(3.0, 0.5, size=400)
    >>> found = mle(Gamma, rows, {"shape": 1.0, "rate": 1.0})
    >>> found.estimate.round(2), found.standard_errors.round(2)
    (array([3.15, 2.18]), array([0.21, 0.16]))
    >>> bool(np.allclose(found.estimate, [Gamma.fit(rows).shape, Gamma.fit(rows).rate], rtol=1e-6))
    True
    """
    return _maximise(log_density, None, data, start, sample_weight, max_iter)


def map_estimate(
    log_density: Any, log_prior: Any, data: Any, start: Any, *, sample_weight: Any = None, max_iter: int = 200
) -> LikelihoodEstimate:
    """Maximise Σ log p(x_n | θ) + log p(θ) over θ: the mode of the posterior, for any log density and prior.

    Parameters
    ----------
    log_density, data, start, sample_weight, max_iter
        As in `mle`.
    log_prior : callable, distribution, or mapping of names to distributions
        ``log_prior(theta)``, or ``log_prior(**parameters)`` where the start is a mapping, returns a number; a
        distribution is one of θ, and a mapping has independent ones of the parameters.

    Returns
    -------
    LikelihoodEstimate
        With Laplace's approximation of the posterior in `posterior`.

    Examples
    --------
    >>> from tractable import Bernoulli, Beta
    >>> prior, start = {"probability": Beta(alpha=2, beta=2)}, {"probability": 0.5}
    >>> found = map_estimate(Bernoulli, prior, [1, 1, 1], start)  # three heads
    >>> round(found["probability"], 6)
    0.8
    """
    if log_prior is None:
        raise ValueError("log_prior must be a function or a distribution; without a prior use `mle`")
    return _maximise(log_density, log_prior, data, start, sample_weight, max_iter)


def _maximise(
    log_density: Any, log_prior: Any, data: Any, start: Any, sample_weight: Any, max_iter: int
) -> LikelihoodEstimate:
    names, first, as_given = _as_start(start)
    x = data if isinstance(data, np.ndarray) or hasattr(data, "shape") else np.asarray(data)
    if not x.ndim or not x.shape[0]:
        raise ValueError(f"data must have rows on its first axis, got shape {tuple(x.shape)}")
    weights = check_sample_weight(sample_weight, x.shape[0], np.empty(x.shape[0]))
    n_rows = float(x.shape[0]) if weights is None else float(weights.sum())
    rows = _density(log_density, as_given)
    prior = _prior(log_prior, as_given, names)

    def likelihood(theta: np.ndarray) -> float:
        each = _rows_of(rows(x, theta), x.shape[0])
        return float(each.sum() if weights is None else weights @ np.where(weights > 0, each, 0.0))

    def objective(theta: np.ndarray) -> float:
        try:
            with np.errstate(all="ignore"):
                found = likelihood(theta) + prior(theta)
        except (ValueError, OverflowError, ZeroDivisionError):
            return -np.inf  # outside the domain of a parameter
        return found if found == found else -np.inf  # noqa: PLR0124  (NaN)

    try:
        with np.errstate(all="ignore"):
            begin = likelihood(first) + prior(first)  # an error here is the caller's
    except TypeError as error:
        raise ValueError(f"log_density and log_prior must be functions of start: {error}") from error
    if not np.isfinite(begin):
        raise ValueError(f"start must have a finite likelihood and prior density, got {begin} at {start!r}")
    theta, curvature, converged = _newton_ascent(objective, first, max_iter)
    if not converged:
        message = (
            "the search found no maximum with a finite curvature: there may be none; standard errors are NaN"
        )
        warnings.warn(message, RuntimeWarning, stacklevel=3)
    family = isinstance(log_density, type) and issubclass(log_density, Distribution)
    return LikelihoodEstimate(
        names=names,
        estimate=theta,
        covariance=_inverse(curvature) if converged else np.full_like(curvature, np.nan),
        log_likelihood=likelihood(theta),
        objective=objective(theta),
        n_rows=n_rows,
        converged=converged,
        distribution=log_density(**as_given(theta)) if family else None,
    )


def _newton_ascent(
    objective: Callable[[np.ndarray], float], theta: np.ndarray, max_iter: int
) -> tuple[np.ndarray, np.ndarray, bool]:
    """Return the maximum by Newton's method with differences, the curvature, and whether it is a maximum.

    Where minus the objective is not convex its curvature has absolute eigenvalues; steps are halved until the
    objective rises, and doubled while it rises further.
    """
    scale, best, done = np.full(len(theta), np.nan), objective(theta), False
    for _ in range(max_iter):
        scale = _scales(objective, theta, scale)
        slope, curvature = _gradient(objective, theta, scale), _curvature(objective, theta, scale)
        step = _ascent(slope * scale, scale[:, None] * curvature * scale) * scale
        there, best = _along(objective, theta, step, best)
        done, theta = bool(np.all(np.abs(there - theta) <= 1e-8 * scale)), there
        if done:
            break
    curvature, left = _curvature(objective, theta, scale), _gradient(objective, theta, scale) * scale
    # Steps that rounding swallows leave differences of zero wherever the search ended.
    measured = np.all(_GRADIENT_STEP * scale > np.finfo(float).eps * np.abs(theta))
    return (
        theta,
        curvature,
        bool(done and measured and _is_definite(curvature) and np.all(np.abs(left) < 1e-3)),
    )


def _ascent(slope: np.ndarray, curvature: np.ndarray) -> np.ndarray:
    """Return |H|⁻¹ g, in units in which a step of one changes the objective by about one."""
    if not np.all(np.isfinite(curvature)):
        return slope / max(1.0, float(np.max(np.abs(slope))))
    values, vectors = np.linalg.eigh(curvature)
    size = np.maximum(np.abs(values), 1e-8 * max(1e-8, float(np.max(np.abs(values)))))
    return vectors @ ((vectors.T @ slope) / size)


def _along(
    objective: Callable[[np.ndarray], float], theta: np.ndarray, step: np.ndarray, best: float
) -> tuple[np.ndarray, float]:
    """Return the best point of a search along a step, and its value: the start where none is better."""
    length, here = 1.0, objective(theta + step)
    if here > best:
        while length < 1e6 and (further := objective(theta + 2.0 * length * step)) > here:
            length, here = 2.0 * length, further
        return theta + length * step, here
    while length > 1e-12 and not here > best:
        length *= 0.5
        here = objective(theta + length * step)
    return (theta + length * step, here) if here > best else (theta, best)


def _scales(objective: Callable[[np.ndarray], float], theta: np.ndarray, last: np.ndarray) -> np.ndarray:
    """Return, for each parameter, a step by which the objective changes by about a half, or is measured."""
    here = objective(theta)
    least = max(0.1, 1e-9 * abs(here))
    found = np.where(np.isfinite(last), last, 1e-3 * np.where(theta == 0.0, 1.0, np.abs(theta)))
    for j, e in enumerate(np.eye(len(theta))):
        for _ in range(80):
            moved = np.array([objective(theta + side * found[j] * e) for side in (-1.0, 1.0)])
            change = np.max(np.abs(moved - here)) if np.all(np.isfinite(moved)) else np.inf
            if change > 20.0 * least:
                found[j] *= 0.25 if change > 400.0 * least else 0.7
            elif change < least:
                found[j] *= 4.0 if change < 0.01 * least else 1.5
            else:
                break
    return found


def _gradient(objective: Callable[[np.ndarray], float], theta: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return central differences of the fourth order; one-sided beside the end of a domain."""
    found = np.zeros(len(theta))
    for j, e in enumerate(np.eye(len(theta))):
        h = _GRADIENT_STEP * scale[j]
        a, b, c, d = (objective(theta + k * h * e) for k in (-2.0, -1.0, 1.0, 2.0))
        central = (8.0 * (c - b) - (d - a)) / (12.0 * h)
        if not np.isfinite(central):
            here = objective(theta)
            inside = c if np.isfinite(c) else b
            central = (inside - here) / (h if np.isfinite(c) else -h)
        found[j] = central if np.isfinite(central) else 0.0
    return found


def _curvature(objective: Callable[[np.ndarray], float], theta: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return minus the matrix of second derivatives, by differences of the fourth order on the diagonal."""
    p, here = len(theta), objective(theta)
    found, steps = np.empty((p, p)), _CURVATURE_STEP * np.diag(scale)
    for i in range(p):
        a, b, c, d = (objective(theta + k * steps[i]) for k in (-2.0, -1.0, 1.0, 2.0))
        found[i, i] = (a - 16.0 * b + 30.0 * here - 16.0 * c + d) / (12.0 * steps[i, i] ** 2)
        for j in range(i):
            corners = [objective(theta + s * steps[i] + t * steps[j]) for s in (-1, 1) for t in (-1, 1)]
            mixed = corners[0] - corners[1] - corners[2] + corners[3]
            found[i, j] = found[j, i] = -mixed / (4.0 * steps[i, i] * steps[j, j])
    return found


def _is_definite(matrix: np.ndarray) -> bool:
    return bool(np.all(np.isfinite(matrix)) and np.all(np.linalg.eigvalsh(matrix) > 0.0))


def _inverse(curvature: np.ndarray) -> np.ndarray:
    """Return the covariance; NaN where the curvature is not that of a maximum."""
    if not _is_definite(curvature):
        return np.full_like(curvature, np.nan)
    unit = 1.0 / np.sqrt(np.diagonal(curvature))
    return unit[:, None] * np.linalg.inv(unit[:, None] * curvature * unit) * unit


def _as_start(start: Any) -> tuple[tuple[str, ...], np.ndarray, Callable[[np.ndarray], Any]]:
    """Return the names of parameters, the first values, and how a vector is given to a log density."""
    if isinstance(start, Mapping):
        names = tuple(start)
        first = np.array([_number(f"start[{k!r}]", v) for k, v in start.items()])
        if not names:
            raise ValueError("start must have at least one parameter")
        return names, first, lambda theta: dict(zip(names, theta.tolist(), strict=True))
    first = np.atleast_1d(np.asarray(as_reals("start", start), dtype=np.float64))
    if first.ndim != 1 or not first.size or not np.all(np.isfinite(first)):
        raise ValueError(f"start must be finite numbers, got {start!r}")
    one = np.ndim(start) == 0
    names = ("theta",) if one else tuple(f"theta{j}" for j in range(len(first)))
    return names, first, (lambda theta: theta[0]) if one else (lambda theta: theta)


def _number(name: str, x: Any) -> float:
    found = as_reals(name, x)
    if found.ndim or not np.isfinite(float(found)):
        raise ValueError(f"{name} must be one finite number, got {x!r}")
    return float(found)


def _density(log_density: Any, as_given: Callable[[np.ndarray], Any]) -> Callable[[Any, np.ndarray], Any]:
    if isinstance(log_density, type) and issubclass(log_density, Distribution):

        def of_family(x: Any, theta: np.ndarray) -> Any:
            given = as_given(theta)
            if not isinstance(given, dict):
                raise ValueError("start must map the parameters of the family to numbers")
            return log_density(**given).log_prob(x)

        return of_family
    if not callable(log_density):
        raise ValueError(f"log_density must be a function or a class of distributions, got {log_density!r}")

    def of_function(x: Any, theta: np.ndarray) -> Any:
        given = as_given(theta)
        return log_density(x, **given) if isinstance(given, dict) else log_density(x, given)

    return of_function


def _prior(log_prior: Any, as_given: Callable[[np.ndarray], Any], names: tuple[str, ...]) -> Any:
    if log_prior is None:
        return lambda _: 0.0
    if isinstance(log_prior, Mapping):
        unknown = [name for name in log_prior if name not in names]
        if unknown:
            raise ValueError(f"log_prior has {unknown[0]!r}, which is not among {', '.join(names)}")
        if not all(isinstance(d, Distribution) for d in log_prior.values()):
            raise ValueError(f"log_prior must map names to distributions, got {log_prior!r:.80}")
        places = {names.index(name): d for name, d in log_prior.items()}
        return lambda theta: sum(float(d.log_prob(theta[j])) for j, d in places.items())
    if isinstance(log_prior, Distribution):
        number = not log_prior.event_shape
        return lambda theta: float(log_prior.log_prob(theta[0] if number else theta))
    if not callable(log_prior):
        raise ValueError(f"log_prior must be a function or a distribution, got {log_prior!r}")

    def of_function(theta: np.ndarray) -> float:
        given = as_given(theta)
        return float(log_prior(**given) if isinstance(given, dict) else log_prior(given))

    return of_function


def _rows_of(found: Any, n: int) -> np.ndarray:
    each = np.asarray(to_numpy(found) if hasattr(found, "shape") else found, dtype=np.float64)
    if each.shape != (n,):
        raise TypeError(f"log_density must return one number a row, shape ({n},), got {each.shape}")
    return each
