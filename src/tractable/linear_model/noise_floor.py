"""Exact fits: when residuals are no more than rounding, and the lower bound of estimated noise."""

from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.statistics import LinearFactor

#: Rounding of a computed target, relative to its size.
ROUNDING = 1e-13
#: Relative noise that is assumed for an exact fit: half of the digits of the coefficients are kept.
FLOOR = 1e-8
#: Fraction of the squares of the targets that is no noise where only a prior determines its size.
NEGLIGIBLE = 1e-6


class NoiseVanishedWarning(UserWarning):
    """The targets are fitted without error: evidence would make the noise vanish."""


def without_rounding(rss: Array, lengths: Array, offset: Array, weight: Any) -> Array:
    """Return residual sums of squares, (t,), zero where they are no more than the rounding of the targets.

    `lengths` are those of the targets about the `offset`, and `weight` is the total weight of the rows.
    """
    xp = namespace_of(rss)
    size = xp.hypot(lengths, float(weight) ** 0.5 * xp.abs(offset))
    return xp.where(xp.sqrt(rss) <= ROUNDING * size, xp.zeros_like(rss), rss)


def _target_variance(statistic: LinearFactor) -> float:
    target = statistic.factor[:, statistic.dim]
    return float(target @ target) / (float(statistic.weight) or 1.0)


def _mean_square(statistic: LinearFactor) -> float:
    """Return the mean square of the first target, about the origin."""
    return _target_variance(statistic) + float(statistic.mean[statistic.dim]) ** 2


def is_rounding(noise_variance: float, statistic: LinearFactor) -> bool:
    """Return whether a noise variance is no more than the rounding of the targets."""
    return noise_variance <= ROUNDING**2 * _mean_square(statistic)


def noise_floor(statistic: LinearFactor) -> float:
    """Return the variance assumed for a noise that vanished: 1e-16 of the mean square of the targets."""
    return max(FLOOR**2 * _mean_square(statistic), 1e-200)


def smallest_noise(statistic: LinearFactor, rss: float, rank: int, has_intercept: bool) -> tuple[float, bool]:
    """Return the smallest noise variance to learn, and whether the only solution fits without error.

    `rss` is the residual sum of squares of least squares.
    """
    weight = float(statistic.weight)
    unique = rank == statistic.dim and weight > rank + has_intercept
    if unique and is_rounding(rss / weight, statistic):
        return noise_floor(statistic), True
    return max(ROUNDING**2 * _mean_square(statistic), 1e-200), False


def noise_vanished(
    statistic: LinearFactor, rss: float, rank: int, has_intercept: bool, prior_rate: float
) -> bool:
    """Return whether a fit leaves no noise to learn.

    Its residuals are rounding; or they are negligible, and either some coefficients fit all rows, or the rate
    of the Gamma prior of the noise precision outweighs them, so that the prior alone determines the noise.
    """
    weight = float(statistic.weight)
    undetermined = weight <= rank + has_intercept or rss <= 2.0 * prior_rate
    square = _mean_square(statistic)
    if has_intercept:
        variance = _target_variance(statistic)
        square = variance if variance > ROUNDING**2 * square else square or 1.0
    negligible = rss <= NEGLIGIBLE * weight * square
    return is_rounding(rss / weight, statistic) or (undetermined and negligible)
