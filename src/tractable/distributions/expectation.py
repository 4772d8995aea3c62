"""Expectations: sums, quadrature or draws, whichever the distribution allows."""

import math
import warnings
from collections.abc import Callable, Iterator
from functools import partial, reduce
from operator import add
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.random import either_seed_name
from tractable.distributions.distribution import Distribution, as_count, broadcast_batches
from tractable.distributions.normal import Normal
from tractable.distributions.probabilities import over_batch
from tractable.engines.quadrature import Integral, integrate
from tractable.value import value

#: How many draws to average over, by default.
N_DRAWS = 10_000

#: The largest number of terms to sum at once.
WIDEST = 2**22

Function = Callable[[Array], Any]


@value
class Estimate:
    """An expected value and how far off it may be.

    Parameters
    ----------
    value : array
        The expected value.
    standard_error : array
        0 where it was summed, the quadrature's own error elsewhere.
    """

    value: Array
    standard_error: Array

    def __float__(self) -> float:
        return float(self.value)


@either_seed_name
def expectation(
    f: Function, distribution: Distribution, *, n_samples: int | None = None, rng: Any = None
) -> Estimate:
    """Return E[f(x)]: Σ p(x) f(x), ∫ p(x) f(x) dx, or the mean of f over draws with its standard error.

    Whole numbers and samples are summed over, other numbers integrated by adaptive quadrature, to rounding;
    other events, and all when `n_samples` is given, are drawn.

    Parameters
    ----------
    f : callable
        ``f(x)`` takes events (m, *event) of one distribution and returns (m, *shape). Another argument may
        broadcast: ``lambda x: g(x[:, None], y)`` has the expectation over x for every y.
    distribution : Distribution
        A batch gives a batch of expectations.
    n_samples : int, optional
        How many draws to average over; 10,000 where draws are the only way.
    rng : None, int or Generator
        Source of randomness; with a seed the result is repeatable.

    Returns
    -------
    Estimate
        With `value` and `standard_error`, both (*batch, *shape).

    Examples
    --------
    >>> import numpy as np
    >>> from tractable import Normal
    >>> d = Normal(mean=1.0, stddev=2.0)
    >>> round(float(expectation(np.square, d)), 12)
    5.0
    >>> drawn = expectation(np.square, d, n_samples=1000, rng=0)
    >>> bool(abs(drawn.value - 5.0) < 4 * drawn.standard_error)
    True
    """
    if not isinstance(distribution, Distribution):
        raise ValueError(f"distribution must be a distribution, got {type(distribution).__name__}")
    if not callable(f):
        raise ValueError(f"f must be a function, got {type(f).__name__}")
    if 0 in distribution.batch_shape:
        return _of_nothing(f, distribution)
    exact = _exact(distribution) if n_samples is None else None
    if exact is not None:
        both = over_batch(partial(exact, f), distribution.batch_shape, distribution)
        lead = (slice(None),) * len(distribution.batch_shape)
        return Estimate(value=both[(*lead, 0, ...)], standard_error=both[(*lead, 1, ...)])
    return _drawn(f, distribution, N_DRAWS if n_samples is None else as_count(n_samples), rng)


def probability_greater(a: Any, b: Any) -> Array:
    """Return P(X > Y) for independent numbers X and Y: which of two unknown quantities is the larger.

    It is E[P(Y < x)] over the distribution of X, by quadrature or by a sum; of two normal distributions in
    closed form.

    Parameters
    ----------
    a, b : Distribution
        The distributions of X and Y, both of numbers; their batches broadcast.

    Returns
    -------
    array (*batch,)
        The probabilities.

    Examples
    --------
    Of 1000 visitors of one page 50 bought something, of 1000 visitors of the other 70. With flat priors, the
    second page sells better with probability

    >>> from tractable import Beta
    >>> round(float(probability_greater(Beta(alpha=71, beta=931), Beta(alpha=51, beta=951))), 4)
    0.9699
    """
    for name, d in {"a": a, "b": b}.items():
        if not isinstance(d, Distribution) or not hasattr(d, "cdf"):
            raise ValueError(f"{name} must be a distribution of numbers, got {type(d).__name__}")
    if isinstance(a, Normal) and isinstance(b, Normal):
        return Normal(mean=a.mean - b.mean, variance=a.variance + b.variance).survival(0.0)
    shape = broadcast_batches(a=a.batch_shape, b=b.batch_shape)
    return over_batch(_is_greater, shape, a, b)


def _is_greater(a: Any, b: Any) -> Array:
    """Return P(X > Y) of one pair of distributions."""

    def below(x: Array) -> Array:
        return b.cdf(x) - b.prob(x) if b.discrete else b.cdf(x)

    found = expectation(below, a).value
    return namespace_of(found).clip(found, 0.0, 1.0)


def _of_nothing(f: Function, d: Any) -> Estimate:
    """Return the expectations over an empty batch: none, of the shape that f gives to no events."""
    like = d.mean
    xp = namespace_of(like)
    place = {"dtype": like.dtype, "device": device(like)}
    shape = xp.asarray(f(xp.zeros((0, *d.event_shape), **place))).shape[1:]
    none = xp.zeros((*d.batch_shape, *shape), **place)
    return Estimate(value=none, standard_error=none)


def _exact(d: Distribution) -> Callable[[Function, Any], Array] | None:
    """Return a function that finds an expectation and its error, (2, *shape), without draws, or None."""
    if hasattr(d, "atoms"):
        return _over_atoms
    if hasattr(d, "cdf"):
        return _summed if d.discrete else _integrated
    return None


def _drawn(f: Function, d: Distribution, n: int, rng: Any) -> Estimate:
    if n < 2:
        raise ValueError(f"n_samples must be at least 2 for a standard error, got {n}")
    x = d.sample(n, rng=rng)
    xp = namespace_of(x)
    members = [f(x[(slice(None), *i, ...)]) for i in np.ndindex(d.batch_shape)]
    found = xp.stack([xp.asarray(member) for member in members], axis=1)
    found = xp.reshape(found, (n, *d.batch_shape, *found.shape[2:]))
    mean = xp.mean(found, axis=0)
    step = found - mean
    return Estimate(value=mean, standard_error=xp.sqrt(xp.sum(step * step, axis=0) / ((n - 1) * n)))


def _integrated(f: Function, d: Any) -> Array:
    found = _integral(f, d)
    xp = namespace_of(found.value)
    return xp.stack([_settled(found), xp.full_like(found.value, found.error)])


def _integral(f: Function, d: Any) -> Integral:
    """∫ p f on both sides of the median: over x, or over quantiles where the end is a pole."""
    ends = tuple(float(bound) for bound in d.support or (-np.inf, np.inf))
    poles = [has_pole(d, end) for end in ends]
    if any(poles) and hasattr(d, "components"):
        weights = [float(d.weights[k]) for k in range(d.n_components)]
        return reduce(add, (_integral(f, d.components[k]) * w for k, w in enumerate(weights) if w > 0))
    xp = namespace_of(d.mean)
    points = xp.unique_values(d._landmarks())  # noqa: SLF001
    points = xp.sort(xp.take(points, xp.nonzero(xp.isfinite(points))[0], axis=0))
    scale = points[-1] - points[0]

    def density(x: Array) -> Array:
        return _weighted(xp.asarray(f(x)), d.prob(x))

    if not any(poles):
        tails = [_tail(density, end, points[edge], scale) for end, edge in zip(ends, (0, -1), strict=True)]
        return integrate(density, points) + tails[0] + tails[1]
    lower = _parting(d, ends, poles)
    x = d.icdf(lower)
    sides = []
    for upper, end, pole in zip((False, True), ends, poles, strict=True):
        if pole:
            level = 1.0 - lower if upper else lower
            sides.append(beside_a_pole(lambda x: xp.asarray(f(x)), d, end, upper=upper, level=level))
            continue
        beyond = xp.take(points, xp.nonzero(points > x if upper else points < x)[0], axis=0)
        here = xp.sort(xp.concat([xp.reshape(x, (1,)), beyond]))
        sides.append(integrate(density, here) + _tail(density, end, here[-1 if upper else 0], scale))
    return sides[0] + sides[1]


def _parting(d: Any, ends: tuple[float, ...], poles: list[bool]) -> float:
    """Return the level at which the integral is split: ½, or more where quantiles round to a pole."""
    low, high = (
        unseen(d, end, upper=upper) if pole else 0.0
        for upper, end, pole in zip((False, True), ends, poles, strict=True)
    )
    if poles[0] != poles[1]:  # beyond the mean there is nothing left of the pole
        return max(0.5, low, float(d.cdf(d.mean))) if poles[0] else min(0.5, 1.0 - high, float(d.cdf(d.mean)))
    return max(low, min(0.5, 1.0 - high))


def _tail(density: Function, end: float, edge: Array, scale: Array) -> Integral:
    """Integrate from the end of the support to a quantile; x = edge ± scale (1 - s)/s starts at infinity."""
    xp = namespace_of(edge)
    place = {"dtype": edge.dtype, "device": device(edge)}
    unit = xp.asarray([0.0, 0.5, 1.0], **place)
    if np.isfinite(end):
        gap = edge - end
        return integrate(lambda s: density(end + gap * s) * xp.abs(gap), unit)
    sign = 1.0 if end > 0 else -1.0

    def mapped(s: Array) -> Array:
        return _weighted(density(edge + sign * scale * (1.0 - s) / s), scale / (s * s))

    return integrate(mapped, unit)


def _over_atoms(f: Function, d: Any) -> Array:
    xp = namespace_of(d.mean)
    return _exactly(xp.sum(_weighted(xp.asarray(f(d.atoms)), d.prob(d.atoms)), axis=0))


def _exactly(found: Array) -> Array:
    xp = namespace_of(found)
    return xp.stack([found, xp.zeros_like(found)])


def _summed(f: Function, d: Any) -> Array:
    """Σ p f over the integers of the support: between far quantiles, then outwards until nothing is added."""
    xp = namespace_of(d.mean)
    place = {"dtype": d.mean.dtype, "device": device(d.mean)}
    eps = float(xp.finfo(d.mean.dtype).eps)
    low, high = (float(d.icdf(xp.asarray(q, **place))) for q in (eps, 1.0 - eps))
    if high - low > WIDEST:
        raise ValueError("distribution has too many values to sum over; give n_samples to draw them instead")
    least, greatest = (float(bound) for bound in d.support or (-np.inf, np.inf))

    def block(a: float, b: float) -> tuple[Array, float]:
        x = xp.arange(a, b + 1.0, **place)
        terms = _weighted(xp.asarray(f(x)), d.prob(x))
        return xp.sum(terms, axis=0), float(xp.max(xp.sum(xp.abs(terms), axis=0)))

    total, size = block(low, high)
    for edge, end in ((low, least), (high, greatest)):
        for a, b in _outwards(edge, end):
            part, added = block(a, b)
            total, size = total + part, size + added
            if added <= 0.01 * eps * size:
                break
            if b - a > WIDEST:
                _warn()
                break
    return _exactly(total)


def _outwards(edge: float, end: float) -> Iterator[tuple[float, float]]:
    """Yield blocks of integers from an edge (without it) to the end, each twice as wide."""
    width, sign = 64.0, np.sign(end - edge)
    while sign * (end - edge) > 0:
        there = edge + sign * min(width, abs(end - edge))
        yield min(edge + sign, there), max(edge + sign, there)
        edge, width = there, 2.0 * width


def _weighted(values: Array, mass: Array) -> Array:
    """Return values times mass: nothing where there is no mass, and at a single point of infinite density."""
    xp = namespace_of(mass)
    mass = xp.reshape(mass, (-1, *(1,) * (values.ndim - 1)))
    some = (mass > 0) & xp.isfinite(mass)
    return xp.where(some, values, xp.zeros_like(values)) * xp.where(some, mass, xp.zeros_like(mass))


def _settled(found: Integral) -> Array:
    """Return the integral, with a warning where its error is above the square root of the precision."""
    xp = namespace_of(found.value)
    infinite = bool(xp.all(xp.isinf(found.value)))
    if not (infinite or found.error <= float(xp.finfo(found.value.dtype).eps) ** 0.5 * found.size):
        _warn()
    return found.value


def _warn() -> None:
    warnings.warn("the expectation did not settle: it may be infinite", RuntimeWarning, stacklevel=2)


def has_pole(d: Any, end: float) -> bool:
    """Whether the density grows without bound towards an end of the support."""
    return math.isfinite(end) and float(d.log_prob(end)) == math.inf


def beside_a_pole(f: Callable[[Array], Array], d: Any, end: float, *, upper: bool, level: float) -> Integral:
    """Return ∫ f(x(s)) ds for s up to a level; s is the probability of lying nearer to the end than x(s).

    Near the end much of the mass is closer to it than a float can be. There the density is a power of the
    distance, s another, and so f(x(s)) - smooth, or a log density - is linear in log s: f = a + b log(s/s₀),
    of which the integral up to s is s (a + b log(s/s₀) - b). A third point estimates the error.
    Where f has a value at the end itself, that is it all the way.
    """
    xp = namespace_of(d.mean)
    place: dict[str, Any] = {"dtype": d.mean.dtype, "device": device(d.mean)}
    tiny = float(xp.finfo(d.mean.dtype).smallest_normal)
    x, masses = _three(d, end, upper=upper)
    start = min(masses[0], level)
    values = f(x)
    logs = [math.log(max(s, tiny) / max(masses[0], tiny)) for s in masses]
    slope = (values[1, ...] - values[0, ...]) / (logs[1] or 1.0)
    line = start * (values[0, ...] + slope * (math.log(max(start, tiny) / max(masses[0], tiny)) - 1.0))
    missed = start * (values[2, ...] - values[0, ...] - slope * logs[2])
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        last = f(xp.asarray([end], **place))[0, ...]
    smooth = xp.isfinite(last)
    last = xp.where(smooth, last, xp.zeros_like(last))
    line = xp.where(smooth, start * last, line)
    missed = xp.where(smooth, start * (values[0, ...] - last), missed)
    size, error = (float(xp.max(xp.abs(part))) for part in (line, missed))
    found = Integral(value=line, error=error, size=size, converged=True)
    if start >= level:
        return found

    def quantile(s: Array) -> Array:
        found = f(d.icdf(1.0 - s if upper else s))
        return xp.where(xp.isfinite(found), found, xp.zeros_like(found))

    levels = np.geomspace(max(start, tiny), level, 17)
    return found + integrate(quantile, xp.asarray(levels, **place))


def unseen(d: Any, end: float, *, upper: bool) -> float:
    """Return the mass so near to the end of the support that its quantiles round to the end."""
    return _three(d, end, upper=upper)[1][0]


def _three(d: Any, end: float, *, upper: bool) -> tuple[Array, list[float]]:
    """Return three points near the end, the second nearest and the third farthest, and the masses beyond."""
    xp = namespace_of(d.mean)
    info = xp.finfo(d.mean.dtype)
    gap = 2.0 ** math.floor(
        math.log2(abs(end) * float(info.eps) ** 0.6 or float(info.smallest_normal) * 1e18)
    )
    points = [end - g if upper else end + g for g in (gap, gap / 16.0, gap * 16.0)]
    x = xp.asarray(points, dtype=d.mean.dtype, device=device(d.mean))
    masses = d.survival(x) if upper else d.cdf(x)
    return x, [float(masses[k]) for k in range(3)]
