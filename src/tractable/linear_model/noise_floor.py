"""Noise that is lost in the rounding of the targets."""

import warnings
from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.engines.least_squares import column_lengths
from tractable.statistics import LinearFactor

__all__ = [
    "NoiseVanishedWarning",
    "check_size",
    "check_squares",
    "least_noise",
    "lost_noise",
    "mean_square",
    "no_noise",
    "noise_floor",
    "target_spread",
    "target_variance",
    "warn_of_no_noise",
    "without_rounding",
]

#: Rounding of a target that was computed, relative to its size.
ROUNDING = 1e-13
#: Relative noise that stands for one that vanished: enough for a prior beside it to keep half of the digits.
FLOOR = 1e-8

#: Share of the squares of the targets that is no noise where nothing but a prior says how large it is.
LITTLE = 1e-6

#: Sizes of which the squares are numbers, and their sums.
LARGE = 1e153


class NoiseVanishedWarning(UserWarning):
    """The targets are fitted without error: evidence would make the noise vanish."""


def check_squares(statistic: LinearFactor, *, small: bool) -> None:
    """Refuse targets whose squares overflow, or, with `small`, are lost below the least of numbers."""
    xp = namespace_of(statistic.mean)
    at = statistic.mean[statistic.dim :]
    size = float(xp.max(xp.hypot(column_lengths(statistic.factor[:, statistic.dim :]), xp.abs(at))))
    check_size(size, small=small)


def check_size(size: float, *, small: bool) -> None:
    """Refuse targets of a size whose square overflows, or, with `small`, is lost."""
    if size > LARGE or (small and 0.0 < size < 1.0 / LARGE):
        raise ValueError(f"y must be in units nearer to one: of a size of {size:.1g}, it has no variance")


def target_variance(statistic: LinearFactor) -> float:
    """Return the variance of the targets, with the weight of the rows for divisor; zero of no rows."""
    xp = namespace_of(statistic.mean)
    return float(xp.sum(statistic.factor[:, statistic.dim] ** 2)) / (float(statistic.weight) or 1.0)


def target_spread(statistic: LinearFactor) -> float:
    """Return the variance of the targets; of constant ones their square, or one."""
    spread, square = target_variance(statistic), mean_square(statistic)
    return spread if spread > ROUNDING**2 * square else square or 1.0


def mean_square(statistic: LinearFactor) -> float:
    """Return the mean square of the targets, about the origin."""
    return target_variance(statistic) + float(statistic.mean[statistic.dim]) ** 2


def no_noise(noise_variance: float, statistic: LinearFactor) -> bool:
    """Return whether a noise cannot be told from the rounding of the targets."""
    return noise_variance <= ROUNDING**2 * mean_square(statistic)


def without_rounding(residual: Array, lengths: Array, offset: Array, weight: Any) -> Array:
    """Return squared residuals, (t,), as zero where they cannot be told from the rounding of the targets.

    Parameters
    ----------
    residual : array (t,)
    lengths : array (t,)
        Of the targets about the offset; residuals and targets may be too large to be squared.
    offset : array (t,)
    weight : float
        How many rows there were.
    """
    xp = namespace_of(residual)
    size = xp.hypot(lengths, float(weight) ** 0.5 * xp.abs(offset))
    return xp.where(xp.sqrt(residual) <= ROUNDING * size, xp.zeros_like(residual), residual)


def noise_floor(statistic: LinearFactor) -> float:
    """Return the variance that stands for a noise that vanished: 1e-16 of the mean square of the targets."""
    return max(FLOOR**2 * mean_square(statistic), 1e-200)


def least_noise(statistic: LinearFactor, residual: float, rank: int, n_located: int) -> tuple[float, bool]:
    """Return the least noise that can be learned, and whether one plane alone fits all rows without error."""
    weight = float(statistic.weight)
    one = rank == statistic.dim and weight > rank + n_located
    if one and no_noise(residual / weight, statistic):
        return noise_floor(statistic), True
    return max(ROUNDING**2 * mean_square(statistic), 1e-200), False


def lost_noise(statistic: LinearFactor, residual: float, rank: int, n_located: int, rate: float) -> bool:
    """Return whether a plane that was found leaves no noise to be learned.

    What is left is rounding; or it is next to nothing, where planes go through all rows, or where the rate
    of the prior of the noise outweighs it, so that the prior alone says what the noise is.
    """
    weight = float(statistic.weight)
    alone = weight <= rank + n_located or residual <= 2.0 * rate
    square = target_spread(statistic) if n_located else mean_square(statistic)
    little = residual <= LITTLE * weight * square
    return no_noise(residual / weight, statistic) or (alone and little)


def warn_of_no_noise(precision: str, rate: str) -> None:
    """Say that the noise vanished."""
    warnings.warn(
        f"y is fitted without error, so the noise vanished: {precision} would grow without end, and stops "
        f"where {rate} or the rounding of y stops it; predictions are surer than they should be",
        NoiseVanishedWarning,
        stacklevel=5,
    )
