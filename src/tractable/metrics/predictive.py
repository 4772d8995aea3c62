"""Scores of predictive distributions: log score, CRPS, calibration, and coverage of intervals."""

from functools import singledispatch
from math import nan, pi, sqrt
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.error_function import erf
from tractable.arrays.gamma import betaln
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.random import as_generator, either_seed_name, uniform
from tractable.distributions import Distribution, Empirical, Mixture, Normal, StudentT, expectation
from tractable.distributions.checks import check_coverage
from tractable.metrics.checks import as_targets, averaged, over_targets, row_count, with_source_targets
from tractable.value import value


@with_source_targets
def log_predictive_density(distribution: Distribution, y: Any, *, sample_weight: Any = None) -> float:
    """Return the mean log predictive density of the targets, (1/n) Σ log p(y_i | x_i).

    The larger, the better. Several targets are judged together: their log densities add up.

    Parameters
    ----------
    distribution : Distribution
        One batch entry a row, as `predict_dist` gives.
    y : array of shape (n_samples,) or (n_samples, n_targets), or source that has them
        The observed targets.
    sample_weight : array of shape (n_samples,), optional
        How often each row counts.

    Examples
    --------
    >>> from tractable import Normal
    >>> round(log_predictive_density(Normal(mean=[0.0, 1.0], stddev=1.0), [0.0, 1.0]), 4)
    -0.9189
    """
    if not isinstance(distribution, Distribution):
        raise ValueError(f"distribution must be a distribution, got {type(distribution).__name__}")
    as_targets(y, (*distribution.batch_shape, *distribution.event_shape) if distribution.batch_shape else ())
    each = distribution.log_prob(y)
    xp = namespace_of(each)
    if not each.ndim or not each.shape[0]:
        raise ValueError(
            f"y must have rows on its first axis, got log densities of shape {tuple(each.shape)}"
        )
    if bool(xp.any(xp.isnan(each))):
        raise ValueError("y contains NaN")
    return float(averaged(xp.sum(xp.reshape(each, (each.shape[0], -1)), axis=1), sample_weight))


@with_source_targets
def crps(
    distribution: Any, y: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Return the mean continuous ranked probability score, the mean of ∫ (F(x) - [x ≥ y])² dx.

    The smaller, the better; in the units of the target. For a
    point prediction it is the absolute error; it measures both calibration and sharpness.

    Parameters
    ----------
    distribution : Distribution of numbers, or array of shape (n_draws, n_samples[, n_targets])
        The predictive distribution of every target, or draws from it.
    y : array of shape (n_samples,) or (n_samples, n_targets), or source that has them
        The observed targets.
    sample_weight, multioutput
        As in `mean_squared_error`.

    Returns
    -------
    float, or array of shape (n_targets,)

    Examples
    --------
    >>> from tractable import Normal
    >>> round(crps(Normal(mean=0.0, stddev=1.0), [0.0, 1.0]), 4)
    0.4181
    >>> crps([[1.0], [3.0]], [2.0])
    0.5
    """
    each = _values(distribution, y, one=False)
    if each.ndim not in (1, 2):
        raise ValueError(f"y must have shape (n,) or (n, n_targets), got {tuple(each.shape)}")
    return over_targets(averaged(each, sample_weight), multioutput)


@with_source_targets
def crps_values(distribution: Any, y: Any) -> Array:
    """Return the continuous ranked probability score of every target, E|X - y| - ½ E|X - X'|.

    In closed form for normals, Student's t, mixtures of normals, and draws; by quadrature (or summation, for
    counts) to rounding for every other distribution of numbers.

    Parameters
    ----------
    distribution : Distribution of numbers, or array of draws, (n_draws, ...)
        The predictive distributions, or draws from them.
    y : array or number
        As many targets as distributions; or one of either, for all of the other. The answer has their shape.

    Examples
    --------
    >>> from tractable import Normal
    >>> crps_values(Normal(mean=0.0, stddev=[0.5, 1.0, 2.0]), 1.0).round(3)
    array([0.726, 0.602, 0.663])
    """
    return _values(distribution, y, one=True)


def _values(distribution: Any, y: Any, *, one: bool) -> Array:
    """Return the score of each target; with `one`, a single number serves all distributions."""
    alone = one and np.ndim(y) == 0
    if hasattr(distribution, "cdf"):
        shape = () if alone else distribution.batch_shape
        return _score(distribution, as_targets(y, shape, like=distribution.mean))
    if hasattr(distribution, "log_prob"):
        raise ValueError(f"distribution must be of numbers, got {type(distribution).__name__}")
    draws = _finite_draws(distribution)
    return _of_draws(draws, as_targets(y, () if alone else draws.shape[1:], like=draws))


@singledispatch
def _score(d: Any, y: Array) -> Array:
    """Return E of 2 |x - y| times the mass on the far side of x from y; ties count half."""
    xp = namespace_of(y)
    shape = np.broadcast_shapes(tuple(y.shape), d.batch_shape)
    y = xp.broadcast_to(y, shape)
    members = d if d.batch_shape == shape else d.expand(shape)
    found = [_integrated(members[i] if shape else members, y[i]) for i in np.ndindex(shape)]
    return xp.reshape(xp.stack(found), shape)


def _integrated(d: Any, y: Array) -> Array:
    xp = namespace_of(y)

    def beyond(x: Array) -> Array:
        tie = d.prob(x) if d.discrete else xp.zeros_like(x)
        return xp.abs(x - y) * xp.where(x > y, 2.0 * d.survival(x) + tie, 2.0 * d.cdf(x) - tie)

    return expectation(beyond, d).value


@_score.register
def _normal(d: Normal, y: Array) -> Array:
    """σ E|Z - z| - σ/√π, Gneiting & Raftery (2007), eq. 21."""
    return _mean_distance(y - d.mean, d.stddev) - d.stddev / sqrt(pi)


@_score.register
def _student_t(d: StudentT, y: Array) -> Array:
    """σ (z (2F(z) - 1) + 2 f(z) (ν + z²) / (ν - 1) - 2√ν B(½, ν - ½) / ((ν - 1) B(½, ½ν)²)).

    Jordan, Krüger & Lerch (2019), appendix A.
    """
    xp = namespace_of(y)
    if not bool(xp.all(d.dof > 1.0)):
        return _score.dispatch(object)(d, y)
    z, nu = (y - d.location) / d.scale, d.dof
    half = xp.full_like(nu, 0.5)
    spread = 2.0 * xp.sqrt(nu) * xp.exp(betaln(half, nu - 0.5) - 2.0 * betaln(half, 0.5 * nu)) / (nu - 1.0)
    # f(z) (ν + z²) = √ν / B(½, ½ν) (1 + z²/ν)^(-(ν - 1)/2), and no square of z overflows.
    peak = 0.5 * xp.log(nu) - betaln(half, 0.5 * nu)
    wide = xp.hypot(xp.ones_like(z), z / xp.sqrt(nu))
    near = 2.0 * xp.exp(peak - (nu - 1.0) * xp.log(wide)) / (nu - 1.0)
    return d.scale * (z * (d.cdf(y) - d.survival(y)) + near - spread)


@_score.register
def _mixture(d: Mixture, y: Array) -> Array:
    """Σ π_k E|X_k - y| - ½ ΣΣ π_j π_k E|X_j - X_k|, Grimit et al. (2006)."""
    if not isinstance(d.components, Normal):
        return _score.dispatch(object)(d, y)
    xp = namespace_of(y)
    mean, variance, weights = d.components.mean, d.components.variance, d.weights
    away = xp.sum(weights * _mean_distance(y[..., None] - mean, d.components.stddev), axis=-1)
    gap, both = mean[..., :, None] - mean[..., None, :], variance[..., :, None] + variance[..., None, :]
    pairs = weights[..., :, None] * weights[..., None, :] * _mean_distance(gap, xp.sqrt(both))
    return away - 0.5 * xp.sum(pairs, axis=(-2, -1))


@_score.register
def _empirical(d: Empirical, y: Array) -> Array:
    xp = namespace_of(y)
    order = xp.argsort(d.values)
    x, p = xp.take(d.values, order), xp.take(d.probabilities, order)
    away = xp.sum(p * xp.abs(x - y[..., None]), axis=-1)
    # ½ E|X - X'| is the integral of F (1 - F), a sum over the gaps between neighbours.
    below = xp.cumulative_sum(p)[:-1]
    return away - xp.sum(below * (1.0 - below) * (x[1:] - x[:-1]))


def _finite_draws(given: Any) -> Array:
    draws = as_reals("distribution", given)
    xp = namespace_of(draws)
    if not draws.ndim or not draws.shape[0] or not bool(xp.all(xp.isfinite(draws))):
        raise ValueError(
            "distribution must be a distribution, or finite draws on the first axis of an array of shape "
            f"(n_draws, *y.shape); got shape {tuple(draws.shape)}"
        )
    return draws


def _of_draws(draws: Array, y: Array) -> Array:
    """Return the score of the distribution that puts the same mass on each draw."""
    xp = namespace_of(draws)
    n = int(draws.shape[0])
    x = xp.sort(draws, axis=0)
    if x.ndim == 1:
        x = xp.reshape(x, (n, *(1,) * y.ndim))
    below = xp.reshape(xp.arange(1, n, dtype=x.dtype, device=device(x)) / n, (-1, *(1,) * (x.ndim - 1)))
    spread = xp.sum(below * (1.0 - below) * (x[1:, ...] - x[:-1, ...]), axis=0)
    return xp.mean(xp.abs(x - y), axis=0) - spread


def _mean_distance(gap: Array, scale: Array) -> Array:
    """E|X| of X ~ N(gap, scale²)."""
    xp = namespace_of(gap)
    z = gap / scale
    near = xp.where(xp.abs(z) < 100.0, z, 100.0 * xp.ones_like(z))  # beyond, the density is nothing
    return gap * erf(z / sqrt(2.0)) + scale * sqrt(2.0 / pi) * xp.exp(-0.5 * near * near)


@value
class CalibrationCurve:
    """Observed frequencies of targets below quantiles of their predictive distributions, by level.

    Parameters
    ----------
    levels : array (k,)
        The probabilities of the quantiles.
    observed : array (k,)
        The fraction of the targets below the quantile of that level.
    standard_errors : array (k,)
        Of those fractions, if the distributions were right: √(q (1 - q) / n).
    """

    levels: Array
    observed: Array
    standard_errors: Array


@with_source_targets
@either_seed_name
def pit_values(distribution: Any, y: Any, *, rng: Any = None) -> Array:
    """Return the probability integral transform F(y) of each target: uniform if the distributions are right.

    Parameters
    ----------
    distribution : Distribution of numbers
        The predictive distributions, one for each target.
    y : array of shape (n_samples,) or (n_samples, n_targets), or source that has them
        The observed targets.
    rng : None, int or Generator
        For counts only: where F jumps at y, a value is drawn from the jump, so that it is uniform too.

    Examples
    --------
    >>> from tractable import Normal
    >>> pit_values(Normal(mean=0.0, stddev=1.0), [0.0, 1.0]).round(3)
    array([0.5  , 0.841])
    """
    _check(distribution)
    y = as_targets(y, distribution.batch_shape, like=distribution.mean)
    found = distribution.cdf(y)
    if not distribution.discrete:
        return found
    return found - distribution.prob(y) * uniform(as_generator(rng), tuple(found.shape), like=found)


@either_seed_name
@with_source_targets
def calibration_curve(
    distribution: Any, y: Any, *, levels: Any = 9, sample_weight: Any = None, rng: Any = None
) -> CalibrationCurve:
    """Return how often the targets fell below the quantiles of their predictive distributions.

    Parameters
    ----------
    distribution : Distribution of numbers
        One batch entry a target, as `predict_dist` gives.
    y : array of shape (n_samples,) or (n_samples, n_targets), or source that has them
        The observed targets.
    levels : int or array
        The probabilities to look at; a number of them is spread evenly between 0 and 1.
    sample_weight : array of shape (n_samples,), optional
        How often each row counts.
    rng : None, int or Generator
        For counts only; see `pit_values`.

    Examples
    --------
    >>> import numpy as np
    >>> from tractable import Normal
    >>> y = np.random.default_rng(0).normal(size=1000)
    >>> curve = calibration_curve(Normal(mean=0.0, stddev=2.0), y, levels=[0.1, 0.5, 0.9])
    >>> curve.observed.round(2), curve.standard_errors.round(3)
    (array([0.01, 0.53, 1.  ]), array([0.009, 0.016, 0.009]))

    The distributions are too wide: less than a tenth of the targets lies below the lowest tenth.
    """
    pit = pit_values(distribution, y, rng=rng)
    if not pit.ndim:
        raise ValueError("y must have rows on its first axis, got one number")
    xp = namespace_of(pit)
    q = _levels(levels, pit)
    below = xp.astype(pit[..., None] <= q, pit.dtype)
    observed = averaged(xp.reshape(below, (pit.shape[0], -1, q.shape[0])), sample_weight)
    n = row_count(sample_weight, pit) * int(observed.shape[0])
    return CalibrationCurve(
        levels=q, observed=xp.mean(observed, axis=0), standard_errors=xp.sqrt(q * (1.0 - q) / n)
    )


def _levels(levels: Any, like: Array) -> Array:
    xp = namespace_of(like)
    if isinstance(levels, int) and levels > 0:
        return xp.arange(1, levels + 1, dtype=like.dtype, device=device(like)) / (levels + 1)
    q = as_reals("levels", levels, like)
    if q.ndim != 1 or not bool(xp.all((q > 0) & (q < 1))):
        raise ValueError(f"levels must be a positive number of them, or probabilities, got {levels!r}")
    return q


def _check(distribution: Any) -> None:
    if not (isinstance(distribution, Distribution) and hasattr(distribution, "cdf")):
        raise ValueError(f"distribution must be of numbers, got {type(distribution).__name__}")


@value
class Coverage:
    """Observed and nominal coverage of intervals, and their mean width.

    Parameters
    ----------
    nominal : float
        The probability that was asked for; NaN where it is not known.
    observed : float
        The fraction of the targets inside.
    standard_error : float
        Of that fraction, if the intervals were right: √(c (1 - c) / n) with the nominal c.
    mean_width : float
        Mean width of the intervals.
    """

    nominal: float
    observed: float
    standard_error: float
    mean_width: float


@with_source_targets
def interval_coverage(
    distribution: Any, y: Any, coverage: float | None = None, *, sample_weight: Any = None
) -> Coverage:
    """Return how often equal-tailed intervals contain the target, and their mean width.

    Parameters
    ----------
    distribution : Distribution of numbers, or array of shape (n_samples, 2)
        The predictive distributions, or the intervals themselves, as `predict_interval` gives.
    y : array of shape (n_samples,) or (n_samples, n_targets), or source that has them
        The observed targets.
    coverage : float, optional
        The probability of the intervals. Of distributions, 0.9 when not given. Of given
        intervals it is not known: without it there is neither a nominal coverage nor a standard error.
    sample_weight : array of shape (n_samples,), optional
        How often each row counts.

    Examples
    --------
    >>> from tractable import Normal
    >>> found = interval_coverage(Normal(mean=0.0, stddev=1.0), [-2.0, -1.0, 0.0, 1.0], 0.9)
    >>> found.observed, round(found.mean_width, 2)
    (0.75, 3.29)
    """
    drawn = hasattr(distribution, "icdf")
    nominal = (0.9 if drawn else nan) if coverage is None else check_coverage(coverage)
    if drawn:
        low, high = distribution.interval(nominal)
    else:
        bounds = as_reals("distribution", distribution)
        if not bounds.ndim or bounds.shape[-1] != 2:
            raise ValueError(
                f"distribution must be of numbers, or intervals (..., 2), got {tuple(bounds.shape)}"
            )
        low, high = bounds[..., 0], bounds[..., 1]
    xp = namespace_of(low)
    y = as_targets(y, low.shape, like=low)
    if not y.ndim:
        raise ValueError("y must have rows on its first axis, got one number")
    inside = xp.astype((low <= y) & (y <= high), y.dtype)
    width = xp.broadcast_to(high - low, inside.shape)
    fraction, mean_width = (averaged(xp.reshape(x, (x.shape[0], -1)), sample_weight) for x in (inside, width))
    n = row_count(sample_weight, inside) * int(fraction.shape[0])
    return Coverage(
        nominal=nominal,
        observed=float(xp.mean(fraction)),
        standard_error=sqrt(nominal * (1.0 - nominal) / n),
        mean_width=float(xp.mean(mean_width)),
    )
