"""Noise that is lost in the rounding of the targets."""

from tractable.arrays.namespace import namespace_of
from tractable.statistics import LinearFactor

__all__ = ["NoiseVanishedWarning", "mean_square", "no_noise", "noise_floor"]

#: Rounding of a target that was computed, relative to its size.
ROUNDING = 1e-13
#: Relative noise that stands for one that vanished: enough for a prior beside it to keep half of the digits.
FLOOR = 1e-8


class NoiseVanishedWarning(UserWarning):
    """The targets are fitted without error: evidence would make the noise vanish."""


def mean_square(statistic: LinearFactor) -> float:
    """Return the mean square of the targets, about the origin."""
    xp = namespace_of(statistic.mean)
    d, weight = statistic.dim, float(statistic.weight)
    return float(xp.sum(statistic.factor[:, d] ** 2)) / weight + float(statistic.mean[d]) ** 2


def no_noise(noise_variance: float, statistic: LinearFactor) -> bool:
    """Return whether a noise cannot be told from the rounding of the targets."""
    return noise_variance <= ROUNDING**2 * mean_square(statistic)


def noise_floor(statistic: LinearFactor) -> float:
    """Return the variance that stands for a noise that vanished: 1e-16 of the mean square of the targets."""
    return max(FLOOR**2 * mean_square(statistic), 1e-200)
