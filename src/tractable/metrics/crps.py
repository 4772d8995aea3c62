"""The continuous ranked probability score: how far a predictive distribution is from what happened."""

from functools import singledispatch
from math import pi, sqrt
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.arrays.special import betaln, erf
from tractable.distributions import (
    Normal,
    StudentT,
    Univariate,
    UnivariateEmpirical,
    UnivariateMixture,
    expectation,
)
from tractable.metrics.checks import as_targets, averaged, over_targets

__all__ = ["crps", "crps_values"]


def crps(
    distribution: Any, y: Any, *, sample_weight: Any = None, multioutput: Any = "uniform_average"
) -> Any:
    """Return the mean continuous ranked probability score, the mean of ∫ (F(x) - [x ≥ y])² dx.

    The smaller, the better; in the units of the target. It is the absolute error of a prediction that is a
    point, and rewards a distribution for being both narrow and right.

    Parameters
    ----------
    distribution : Distribution of numbers, or array of shape (n_draws, n_samples[, n_targets])
        The predictive distribution of every target, or draws from it.
    y : array of shape (n_samples,) or (n_samples, n_targets)
    sample_weight : array of shape (n_samples,), optional
        How often each row counts.
    multioutput : {"uniform_average", "raw_values"} or array of shape (n_targets,)
        The mean over the targets, one score for each, or the mean with these weights.

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


def crps_values(distribution: Any, y: Any) -> Array:
    """Return the continuous ranked probability score of every target, E|X - y| - ½ E|X - X'|.

    In closed form for normals, Student's t, mixtures of normals, and draws; by quadrature (or summation, for
    counts) to rounding for every other distribution of numbers.

    Parameters
    ----------
    distribution : Distribution of numbers, or array of draws, (n_draws, ...)
    y : array or number
        As many targets as distributions; or one of either, for all of the other.

    Returns
    -------
    array of the shape of y, or of the batch of the distribution where y is one number

    Examples
    --------
    >>> from tractable import Normal
    >>> crps_values(Normal(mean=0.0, stddev=[0.5, 1.0, 2.0]), 1.0).round(3)
    array([0.726, 0.602, 0.663])
    """
    return _values(distribution, y, one=True)


def _values(distribution: Any, y: Any, *, one: bool) -> Array:
    """Score each target; `one` says whether a single number may stand for all of them."""
    alone = one and np.ndim(y) == 0
    if isinstance(distribution, Univariate):
        shape = () if alone else distribution.batch_shape
        return _score(distribution, as_targets(y, shape, like=_like(distribution)))
    if hasattr(distribution, "log_prob"):
        raise ValueError(f"distribution must be of numbers, got {type(distribution).__name__}")
    draws = _finite_draws(distribution)
    return _of_draws(draws, as_targets(y, () if alone else draws.shape[1:], like=draws))


@singledispatch
def _score(d: Univariate, y: Array) -> Array:
    """Σ or ∫ of 2 |x - y| times the mass beyond x, seen from y; ties count half."""
    xp = namespace_of(y)
    shape = np.broadcast_shapes(tuple(y.shape), d.batch_shape)
    y = xp.broadcast_to(y, shape)
    members = d if d.batch_shape == shape else d.expand(shape)
    found = [_integrated(members[i] if shape else members, y[i]) for i in np.ndindex(shape)]
    return xp.reshape(xp.stack(found), shape)


def _integrated(d: Univariate, y: Array) -> Array:
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
        return _score.dispatch(Univariate)(d, y)
    z, nu = (y - d.location) / d.scale, d.dof
    half = xp.full_like(nu, 0.5)
    spread = 2.0 * xp.sqrt(nu) * xp.exp(betaln(half, nu - 0.5) - 2.0 * betaln(half, 0.5 * nu)) / (nu - 1.0)
    # f(z) (ν + z²) = √ν / B(½, ½ν) (1 + z²/ν)^(-(ν - 1)/2), and no square of z overflows.
    peak = 0.5 * xp.log(nu) - betaln(half, 0.5 * nu)
    wide = xp.hypot(xp.ones_like(z), z / xp.sqrt(nu))
    near = 2.0 * xp.exp(peak - (nu - 1.0) * xp.log(wide)) / (nu - 1.0)
    return d.scale * (z * (d.cdf(y) - d.survival(y)) + near - spread)


@_score.register
def _mixture(d: UnivariateMixture, y: Array) -> Array:
    """Σ π_k E|X_k - y| - ½ ΣΣ π_j π_k E|X_j - X_k|, Grimit et al. (2006)."""
    if not isinstance(d.components, Normal):
        return _score.dispatch(Univariate)(d, y)
    xp = namespace_of(y)
    mean, variance, share = d.components.mean, d.components.variance, d.weights
    away = xp.sum(share * _mean_distance(y[..., None] - mean, d.components.stddev), axis=-1)
    gap, both = mean[..., :, None] - mean[..., None, :], variance[..., :, None] + variance[..., None, :]
    pairs = share[..., :, None] * share[..., None, :] * _mean_distance(gap, xp.sqrt(both))
    return away - 0.5 * xp.sum(pairs, axis=(-2, -1))


@_score.register
def _empirical(d: UnivariateEmpirical, y: Array) -> Array:
    xp = namespace_of(y)
    order = xp.argsort(d.values)
    x, share = xp.take(d.values, order), xp.take(d.probabilities, order)
    away = xp.sum(share * xp.abs(x - y[..., None]), axis=-1)
    # ½ E|X - X'| is the integral of F (1 - F), a sum over the gaps between neighbours.
    below = xp.cumulative_sum(share)[:-1]
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
    """Score draws as the distribution that puts the same mass on each."""
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


def _like(d: Univariate) -> Array:
    return d.mean
