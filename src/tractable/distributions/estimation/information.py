"""Score functions, Fisher information and the Cramér-Rao bound."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from tractable.arrays.namespace import to_numpy
from tractable.arrays.random import either_seed_name
from tractable.distributions.dirichlet import Beta
from tractable.distributions.discrete.binomial import Bernoulli, Binomial
from tractable.distributions.discrete.poisson import Poisson
from tractable.distributions.distribution import Distribution
from tractable.distributions.expectation import Estimate, expectation
from tractable.distributions.gamma import Gamma
from tractable.distributions.laplace import Laplace
from tractable.distributions.normal import Normal
from tractable.distributions.student_t import StudentT
from tractable.value import parameters, replace

METHODS = ("auto", "analytic", "integral", "monte_carlo")


def score_function(family: type[Distribution], names: Iterable[str], **known: Any) -> Callable[..., Any]:
    """Return the score (θ, x) -> ∂ log p(x | θ) / ∂θ of a family, by central differences.

    It is what `engines.sequential_mle` follows: a family learnt one observation at a time.

    Parameters
    ----------
    family : class of distributions
        Such as `Poisson`.
    names : iterable of str
        The parameters that θ holds, in order.
    **known
        The other parameters.

    Examples
    --------
    >>> import numpy as np
    >>> from tractable import Poisson
    >>> from tractable.engines import StepSize, sequential_mle
    >>> score_function(Poisson, ["rate"])(np.array([2.0]), 5.0).round(6)  # x / rate - 1
    array([1.5])
    >>> visits = np.random.default_rng(0).poisson(4.0, size=2000)
    >>> step = StepSize(scale=4.0, offset=5.0)
    >>> found = sequential_mle(score_function(Poisson, ["rate"]), [3.0], visits, step=step)
    >>> bool(abs(found.x[0] - visits.mean()) < 0.05)
    True
    """
    if not (isinstance(family, type) and issubclass(family, Distribution)):
        raise ValueError(f"family must be a class of distributions, got {family!r}")
    names = [names] if isinstance(names, str) else list(names)
    if not names:
        raise ValueError("names must name at least one parameter")

    def score(theta: Any, x: Any) -> np.ndarray:
        at = np.atleast_1d(np.asarray(theta, dtype=np.float64))
        try:
            d = family(**dict(zip(names, at.tolist(), strict=True)), **known)
        except TypeError as error:
            raise ValueError(f"names must be the parameters of {family.__name__}: {error}") from None
        return (
            scores(d, np.asarray(x), names).sum(axis=0)
            if np.ndim(x) > len(d.event_shape)
            else scores(d, x, names)
        )

    return score


def scores(d: Any, x: Any, names: Iterable[str]) -> np.ndarray:
    """Return ∂ log p(x | θ) / ∂θ of events, (n, p), by central differences of the fourth order."""
    names = list(names)
    here = np.array([float(getattr(d, name)) for name in names])
    h = 1e-3 * np.where(here == 0.0, 1.0, np.abs(here))
    # One batch of all neighbours: for each parameter four, the others as they are.
    values = here + np.zeros((len(names), 4, len(names)))
    for j in range(len(names)):
        values[j, :, j] += np.array([-2.0, -1.0, 1.0, 2.0]) * h[j]
    columns = values.reshape(-1, len(names)).T
    try:
        near = replace(d, **dict(zip(names, columns, strict=True)))
    except ValueError as error:
        raise ValueError(f"parameters must be inside their domain, not at its end: {error}") from None
    x = np.asarray(x, dtype=np.float64)
    x = np.expand_dims(x, axis=x.ndim - len(d.event_shape))
    found = np.asarray(to_numpy(near.log_prob(x)), dtype=np.float64)
    a, b, c, e = np.moveaxis(found.reshape(*found.shape[:-1], len(names), 4), -1, 0)
    with np.errstate(invalid="ignore"):
        return (8.0 * (c - b) - (e - a)) / (12.0 * h)


@either_seed_name
def fisher_information(
    distribution: Distribution,
    names: str | Iterable[str] | None = None,
    *,
    method: str = "auto",
    n_samples: int = 10_000,
    rng: Any = None,
) -> Estimate:
    """Return the Fisher information of one observation, E[s sᵀ] with the score s = ∂ log p(x | θ) / ∂θ.

    Parameters
    ----------
    distribution : Distribution
        A single one; θ are its parameters.
    names : str or iterable of str, optional
        Which of them; all that are numbers when not given.
    method : {"auto", "analytic", "integral", "monte_carlo"}
        A closed form (of Normal, Bernoulli, Binomial, Poisson, Gamma, Beta, Laplace and StudentT); the sum or
        integral of scores by differences, for numbers; or the mean over draws, with its standard error.
        "auto" takes the first that there is.
    n_samples : int
        Number of draws.
    rng : None, int or Generator
        Source of randomness; with a seed the result is repeatable.

    Returns
    -------
    Estimate
        With `value` and `standard_error`, both (p, p).

    Examples
    --------
    >>> from tractable import Normal
    >>> d = Normal(mean=1.0, variance=4.0)
    >>> fisher_information(d).value
    array([[0.25   , 0.     ],
           [0.     , 0.03125]])
    >>> drawn = fisher_information(d, "mean", method="monte_carlo", rng=0)
    >>> bool(abs(drawn.value - 0.25)[0, 0] < 4 * drawn.standard_error[0, 0])
    True
    """
    if not isinstance(distribution, Distribution) or distribution.batch_shape:
        raise ValueError("distribution must be one distribution, not a batch")
    if method not in METHODS:
        raise ValueError(f"method must be one of {', '.join(METHODS)}, got {method!r}")
    numbers = parameter_names(distribution)
    wanted = numbers if names is None else [names] if isinstance(names, str) else list(names)
    unknown = [name for name in wanted if name not in numbers]
    if unknown or not wanted:
        raise ValueError(f"names must be parameters that are numbers, {numbers}, got {names!r}")
    closed = _CLOSED.get(type(distribution))
    if method in ("auto", "analytic") and closed is not None:
        with np.errstate(divide="ignore", over="ignore"):  # infinite where a scale is too small to square
            whole, order = closed(distribution)
        if set(wanted) <= set(order):
            places = [order.index(name) for name in wanted]
            found = np.array(whole, dtype=np.float64)[np.ix_(places, places)]
            return Estimate(value=found, standard_error=np.zeros_like(found))
    if method == "analytic":
        raise ValueError(
            f"method 'analytic' has no closed form for {type(distribution).__name__} of {wanted}"
        )

    def products(x: Any) -> np.ndarray:
        s = scores(distribution, x, wanted)
        return s[..., :, None] * s[..., None, :]

    exact = method == "integral" or (
        method == "auto" and (hasattr(distribution, "cdf") or hasattr(distribution, "atoms"))
    )
    mean = expectation(products, distribution, n_samples=None if exact else n_samples, rng=rng)
    return Estimate(value=np.asarray(mean.value), standard_error=np.asarray(mean.standard_error))


def parameter_names(d: Distribution) -> list[str]:
    """Return the parameters of a distribution that are numbers, and may be differentiated by."""
    return [
        name
        for name, x in parameters(d).items()
        if name in d.parameter_ndims
        and not d.parameter_ndims[name]
        and np.ndim(x) == 0
        and name != "n_trials"
    ]


@either_seed_name
def cramer_rao_bound(
    distribution: Distribution, n: int, of: Any, *, names: Any = None, rng: Any = None
) -> float:
    """Return the least variance of an unbiased estimator of g(θ) from n observations, ∇gᵀ (n I)⁻¹ ∇g.

    With g(θ) = E[θ̂] it bounds the variance of an estimator that has a bias, (∂E[θ̂]/∂θ)² / (n I).

    Parameters
    ----------
    distribution : Distribution
        What the observations are drawn from.
    n : int
        Number of observations.
    of : str or callable
        What is estimated: a parameter or a property, by name, or ``g(distribution)``.
    names : str or iterable of str, optional
        The parameters that are unknown; all that are numbers when not given.
    rng : None, int or Generator
        For families without a closed form, integral or sum.

    Examples
    --------
    >>> from tractable import Normal
    >>> d = Normal(mean=0.0, variance=4.0)
    >>> round(cramer_rao_bound(d, 5, "mean"), 9), round(cramer_rao_bound(d, 5, "variance"), 9)
    (0.8, 6.4)
    """
    if isinstance(n, bool) or not isinstance(n, (int, np.integer)) or n < 1:
        raise ValueError(f"n must be a number of observations, got {n!r}")
    wanted = (
        parameter_names(distribution) if names is None else [names] if isinstance(names, str) else list(names)
    )
    information = fisher_information(distribution, wanted, rng=rng).value
    gradient = _gradient_of(distribution, as_functional(of), wanted)
    return float(gradient @ _solved(information, gradient) / n)


def as_functional(of: Any) -> Callable[[Distribution], float]:
    """Return a number of a distribution as a function: by the name of a property, or as it is."""
    if isinstance(of, str):

        def named(d: Distribution) -> float:
            if not hasattr(d, of):
                raise ValueError(f"of must name a parameter or a property of {type(d).__name__}, got {of!r}")
            found = np.asarray(getattr(d, of))
            if found.ndim:
                raise ValueError(f"of must name a number, but {of!r} has shape {found.shape}")
            return float(found)

        return named
    if callable(of):
        return lambda d: float(of(d))
    raise ValueError(f"of must be a name or a function of the distribution, got {of!r}")


def _gradient_of(d: Distribution, of: Callable[[Distribution], float], names: list[str]) -> np.ndarray:
    found = []
    for name in names:
        here = float(getattr(d, name))
        h = 1e-3 * (abs(here) or 1.0)
        a, b, c, e = (of(replace(d, **{name: here + k * h})) for k in (-2.0, -1.0, 1.0, 2.0))
        found.append((8.0 * (c - b) - (e - a)) / (12.0 * h))
    slopes = np.array(found)
    return np.where(np.abs(slopes) < 1e-12 * np.max(np.abs(slopes), initial=1e-300), 0.0, slopes)


def _solved(information: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    unit = 1.0 / np.sqrt(np.diagonal(information))
    if not np.all(np.isfinite(unit)):
        raise ValueError("distribution must carry information about every parameter in names")
    try:
        return unit * np.linalg.solve(unit[:, None] * information * unit, unit * gradient)
    except np.linalg.LinAlgError:
        raise ValueError("names must be parameters that the observations tell apart") from None


def _of_normal(d: Any) -> Any:
    v = np.float64(d.variance)
    return [[1.0 / v, 0.0], [0.0, 0.5 / v**2]], ["mean", "variance"]


def _of_bernoulli(d: Any) -> Any:
    p = np.float64(d.probability)
    return [[1.0 / (p * (1.0 - p))]], ["probability"]


def _of_binomial(d: Any) -> Any:
    p = np.float64(d.probability)
    return [[np.float64(d.n_trials) / (p * (1.0 - p))]], ["probability"]


def _of_poisson(d: Any) -> Any:
    return [[1.0 / np.float64(d.rate)]], ["rate"]


def _of_gamma(d: Any) -> Any:
    a, b = np.float64(d.shape), np.float64(d.rate)
    return [[_trigamma(a), -1.0 / b], [-1.0 / b, a / b**2]], ["shape", "rate"]


def _of_beta(d: Any) -> Any:
    a, b = np.float64(d.alpha), np.float64(d.beta)
    both = _trigamma(a + b)
    return [[_trigamma(a) - both, -both], [-both, _trigamma(b) - both]], ["alpha", "beta"]


def _of_laplace(d: Any) -> Any:
    b = np.float64(d.scale)
    return [[1.0 / b**2, 0.0], [0.0, 1.0 / b**2]], ["location", "scale"]


def _of_student_t(d: Any) -> Any:
    v, s = np.float64(d.dof), np.float64(d.scale)
    return [
        [(v + 1.0) / ((v + 3.0) * s**2), 0.0],
        [0.0, 2.0 * v / ((v + 3.0) * s**2)],
    ], ["location", "scale"]


def _trigamma(x: float) -> float:
    from scipy.special import polygamma

    return float(polygamma(1, x))


_CLOSED: dict[type, Callable[[Any], Any]] = {
    Normal: _of_normal,
    Bernoulli: _of_bernoulli,
    Binomial: _of_binomial,
    Poisson: _of_poisson,
    Gamma: _of_gamma,
    Beta: _of_beta,
    Laplace: _of_laplace,
    StudentT: _of_student_t,
}
