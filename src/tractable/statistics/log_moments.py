"""Statistics of positive columns: means, moments of logarithms, and excess over the least entry."""

from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.linalg import product
from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.saddle_point import deviance
from tractable.statistics.extremes import Extremes
from tractable.statistics.moments import DiagonalMoments
from tractable.statistics.rows import (
    MeanStatistic,
    Statistic,
    as_rows,
    as_weights,
    counts,
    or_one,
    pairwise_update,
)
from tractable.value import value


@value
class LogMoments(MeanStatistic):
    """Weight, mean and log gap of positive columns: what Gamma and Dirichlet distributions need of the data.

    The mean logarithm is stored as a gap, log(mean of x) - mean of log x ≥ 0. It is to logarithms what the
    scatter is to squares: a mean of terms that are not negative, merged without cancellation, so that data
    with a small spread lose no digits.

    Parameters
    ----------
    weight : float
        Total weight of the rows.
    mean : array of shape (d,)
        Mean of each column.
    gap : array of shape (d,)
        log(mean of x) - mean of log x.

    Examples
    --------
    >>> import numpy as np
    >>> s = LogMoments.of([[1.0], [4.0]]) + LogMoments.of([[4.0]])
    >>> s.mean.tolist(), np.exp(s.mean_log).round(6).tolist()
    ([3.0], [2.519842])
    """

    _domain: ClassVar[tuple[float, str]] = (np.inf, "positive and finite")

    weight: Any
    mean: Array
    gap: Array

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> Self:
        """Summarise a block of rows with positive entries."""
        x = _inside(as_rows(x), *cls._domain)
        w = as_weights(weights, x)
        return cls(**_summary(x, counts(w, x)))

    @property
    def mean_log(self) -> Array:
        """Mean of log x, (d,)."""
        return namespace_of(self.mean).log(self.mean) - self.gap

    def _merged(self, other: Self) -> Self:
        """Merge: gaps add up with the deviance of the means from the common one."""
        if type(other) is not type(self):
            return NotImplemented
        fractions, weight, mean = _joint_mean(self, other)
        gap = sum(
            fraction * (part.gap + _deviance(mean, part.mean))
            for fraction, part in zip(fractions, (self, other), strict=True)
        )
        return type(self)(weight=weight, mean=mean, gap=gap)


class ReciprocalLogMoments(LogMoments):
    """Log moments of 1 / x, the sufficient statistic of an inverse Gamma distribution.

    Parameters
    ----------
    weight : float
        Total weight of the rows.
    mean : array of shape (d,)
        Mean of 1 / x in each column.
    gap : array of shape (d,)
        log(mean of 1 / x) - mean of log(1 / x).

    Examples
    --------
    >>> s = ReciprocalLogMoments.of([[1.0], [0.25]])
    >>> s.mean.tolist()
    [2.5]
    """

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> Self:
        """Summarise a block of rows with positive entries."""
        x = _inside(as_rows(x), *cls._domain)
        with np.errstate(over="ignore"):
            return super().of(1.0 / x, weights)


@value
class UnitLogMoments(MeanStatistic):
    """Weight, mean, and the log gaps of x and of 1 - x, for columns between 0 and 1: what a Beta needs.

    Parameters
    ----------
    weight : float
        Total weight of the rows.
    mean : array of shape (d,)
        Mean of each column.
    gap : array of shape (d,)
        log(mean of x) - mean of log x.
    other_gap : array of shape (d,)
        The same of 1 - x.

    Examples
    --------
    >>> s = UnitLogMoments.of([[0.2], [0.8]])
    >>> s.mean.tolist(), s.gap.round(6).tolist(), s.other_gap.round(6).tolist()
    ([0.5], [0.223144], [0.223144])
    """

    weight: Any
    mean: Array
    gap: Array
    other_gap: Array

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "UnitLogMoments":
        """Summarise a block of rows with entries above 0 and below 1."""
        x = _inside(as_rows(x), 1.0, "above 0 and below 1")
        one = counts(as_weights(weights, x), x)
        part = _summary(x, one)
        gaps = _other_deviance(part["mean"], x)
        return cls(other_gap=product(one, gaps) / or_one(part["weight"], namespace_of(x)), **part)

    def _merged(self, other: "UnitLogMoments") -> "UnitLogMoments":
        """Merge: gaps add up with the deviances of the means from the common one."""
        fractions, weight, mean = _joint_mean(self, other)
        parts = list(zip(fractions, (self, other), strict=True))
        gap = sum(f * (part.gap + _deviance(mean, part.mean)) for f, part in parts)
        other_gap = sum(f * (part.other_gap + _other_deviance(mean, part.mean)) for f, part in parts)
        return UnitLogMoments(weight=weight, mean=mean, gap=gap, other_gap=other_gap)


@value
class NonnegativeMeans(MeanStatistic):
    """Weight and mean of columns without negative entries: what an exponential distribution needs.

    Parameters
    ----------
    weight : float
        Total weight of the rows.
    mean : array of shape (d,)
        Mean of each column.

    Examples
    --------
    >>> s = NonnegativeMeans.of([[0.0], [4.0]]) + NonnegativeMeans.of([[5.0]])
    >>> s.mean.tolist()
    [3.0]
    """

    weight: Any
    mean: Array

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "NonnegativeMeans":
        """Summarise a block of rows without negative entries."""
        x = as_rows(x)
        xp = namespace_of(x)
        good = (x >= 0) & (x < xp.inf)
        if not bool(xp.all(good)):
            raise ValueError(f"X must be finite and not negative, got {float(x[~good][0])!r}")
        return cls(**_mean(x, counts(as_weights(weights, x), x)))

    def _merged(self, other: "NonnegativeMeans") -> "NonnegativeMeans":
        """Merge by the pairwise update."""
        _, weight, mean = _joint_mean(self, other)
        return NonnegativeMeans(weight=weight, mean=mean)


@value
class MomentsOfLogarithms(Statistic):
    """Mean and scatter of the logarithms of positive columns: what a log-normal distribution needs.

    Parameters
    ----------
    moments : DiagonalMoments
        The moments of log x.

    Examples
    --------
    >>> s = MomentsOfLogarithms.of([[1.0], [100.0]])
    >>> s.mean.round(4).tolist(), s.scatter.round(4).tolist()
    ([2.3026], [10.6038])
    """

    _extensive: ClassVar = ("moments",)

    moments: DiagonalMoments

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "MomentsOfLogarithms":
        """Summarise a block of rows with positive entries."""
        x = _inside(as_rows(x), np.inf, "positive and finite")
        return cls(moments=DiagonalMoments.of(namespace_of(x).log(x), weights))

    @property
    def weight(self) -> Any:
        """Weight of the rows."""
        return self.moments.total

    @property
    def mean(self) -> Array:
        """Mean of log x, (d,)."""
        return self.moments.mean

    @property
    def scatter(self) -> Array:
        """Sum of the squared deviations of log x from its mean, (d,)."""
        return self.moments.scatter

    @property
    def dim(self) -> int:
        """Number of columns."""
        return self.moments.dim

    def _merged(self, other: "MomentsOfLogarithms") -> "MomentsOfLogarithms":
        """Merge the moments of log x."""
        return MomentsOfLogarithms(moments=self.moments + other.moments)


@value
class LogExcess(MeanStatistic):
    """Least entry of positive columns, and the mean of log(x / least): what a Pareto distribution needs.

    Parameters
    ----------
    weight : float
        Total weight of the rows; rows without weight are not looked at.
    low : array of shape (d,)
        The least entry of each column, infinite where no row was seen.
    mean : array of shape (d,)
        Mean of log(x / low), 0 where no row was seen.

    Examples
    --------
    >>> s = LogExcess.of([[2.0], [4.0]]) + LogExcess.of([[1.0]])
    >>> s.low.tolist(), s.mean.round(4).tolist()
    ([1.0], [0.6931])
    """

    weight: Any
    low: Array
    mean: Array

    @classmethod
    def of(cls, x: Any, weights: Any = None) -> "LogExcess":
        """Summarise a block of rows with positive entries."""
        x = _inside(as_rows(x), np.inf, "positive and finite")
        xp = namespace_of(x)
        one = counts(as_weights(weights, x), x)
        low = Extremes.of(x, one).low
        known = (one > 0)[:, None]
        excess = xp.where(
            known, xp.log(x) - xp.log(xp.where(low < xp.inf, low, xp.ones_like(low))), xp.zeros_like(x)
        )
        total = xp.sum(one)
        return cls(weight=total, low=low, mean=product(one, excess) / or_one(total, xp))

    def _merged(self, other: "LogExcess") -> "LogExcess":
        """Merge: the excess over the lower of the least entries grows by the logarithm of their ratio."""
        xp = namespace_of(self.low)
        weight, fraction, _ = pairwise_update(self, other)
        low = xp.minimum(self.low, other.low)

        def over(part: "LogExcess") -> Array:
            seen = part.low < xp.inf
            ratio = xp.where(seen, part.low, xp.ones_like(low)) / xp.where(seen, low, xp.ones_like(low))
            return part.mean + xp.log(ratio)

        return LogExcess(weight=weight, low=low, mean=(1.0 - fraction) * over(self) + fraction * over(other))


def _mean(x: Array, one: Array) -> dict[str, Array]:
    """Return the weight and the mean of rows."""
    xp = namespace_of(x)
    total = xp.sum(one)
    with np.errstate(over="ignore"):
        mean = product(one, x) / or_one(total, xp)
    if not bool(xp.all(xp.isfinite(mean))):
        raise ValueError("X has values so large that their sum overflows; rescale its columns")
    return {"weight": total, "mean": mean}


def _summary(x: Array, one: Array) -> dict[str, Array]:
    """Return the weight, the mean and the mean deviance from it, which is the log gap."""
    found = _mean(x, one)
    return {
        **found,
        "gap": product(one, _deviance(found["mean"], x)) / or_one(found["weight"], namespace_of(x)),
    }


def _deviance(mean: Array, x: Array) -> Array:
    """Return log(mean / x) + x / mean - 1; 0 where there is no mean, or nothing that could differ from it."""
    xp = namespace_of(x)
    known = (mean > 0) & (x > 0)
    m, y = xp.where(known, mean, xp.ones_like(mean)), xp.where(known, x, xp.ones_like(x))
    return deviance(xp.ones_like(m), y / m, _quotient_rest(xp, y, m))


def _quotient_rest(xp: Any, y: Array, m: Array) -> Array:
    """Return what rounding took from y / m - 1, where the two are near."""
    ratio = y / m
    return xp.where(xp.abs(ratio - 1.0) < 0.25, (y - m) / m - (ratio - 1.0), xp.zeros_like(ratio))


def _other_deviance(mean: Array, x: Array) -> Array:
    """Return the deviance of 1 - x from 1 - mean, with the digits of x - mean."""
    xp = namespace_of(x)
    rest = 1.0 - mean
    known = (mean > 0) & (x > 0)
    ratio = (1.0 - x) / rest
    near = xp.abs(ratio - 1.0) < 0.25
    lost = xp.where(near, (mean - x) / rest - (ratio - 1.0), xp.zeros_like(ratio))
    found = deviance(xp.ones_like(ratio), ratio, lost)
    return xp.where(known, found, xp.zeros_like(found))


def _joint_mean(a: Any, b: Any) -> tuple[tuple[Array, Array], Array, Array]:
    """Return the fractions of the weight of two statistics, their joint weight and mean."""
    weight, fraction, step = pairwise_update(a, b)
    return (1.0 - fraction, fraction), weight, a.mean + fraction * step


def _inside(x: Array, high: float, words: str) -> Array:
    """Return rows if every entry is above 0 and below the bound."""
    xp = namespace_of(x)
    good = (x > 0) & (x < high)
    if not bool(xp.all(good)):
        raise ValueError(f"X must be {words}, got {float(x[~good][0])!r}")
    return x
