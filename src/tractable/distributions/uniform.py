"""The uniform distribution of a number."""

from collections.abc import Mapping
from math import log
from typing import Any, ClassVar, Self

from tractable.arrays.namespace import Array, namespace_of
from tractable.arrays.random import uniform
from tractable.distributions.checks import check_finite, check_varies
from tractable.distributions.distribution import ScalarFamily
from tractable.statistics.extremes import Extremes
from tractable.value import value


@value
class Uniform(ScalarFamily):
    """The uniform distribution of a number.

    U(x | low, high) = 1 / (high - low) from low to high, both included, and 0 elsewhere.

    Parameters
    ----------
    low, high : array (*batch,)
        The ends; low is below high.

    Examples
    --------
    >>> d = Uniform(low=1.0, high=3.0)
    >>> float(d.mean), float(d.cdf(1.5)), float(d.prob(2.0)), float(d.log_prob(4.0))
    (2.0, 0.25, 0.5, -inf)
    >>> Uniform.fit([2.0, 5.0, 3.0])
    Uniform(low=array(2.), high=array(5.))
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"low": 0, "high": 0}
    statistic: ClassVar[type[Extremes]] = Extremes

    low: Array
    high: Array

    def __post_init__(self) -> None:
        self._settle(low=check_finite, high=check_finite)
        xp = namespace_of(self.low)
        if not bool(xp.all(self.low < self.high)):
            raise ValueError("low must be below high")
        if not bool(xp.all(self._half > 0.0)):
            raise ValueError("low and high must differ by more than the smallest number")

    @classmethod
    def from_statistic(cls, statistic: Extremes) -> Self:
        """Return the maximum likelihood estimate of each column: its least and greatest observation."""
        check_varies(statistic.low < statistic.high)
        return cls(low=statistic.low, high=statistic.high)

    @property
    def support(self) -> tuple[Array, Array]:
        return self.low, self.high

    @property
    def mean(self) -> Array:
        return 0.5 * self.low + 0.5 * self.high

    @property
    def variance(self) -> Array:
        return self._half * self._half / 3.0

    @property
    def mode(self) -> Array:
        """The middle; every other point of the support is as dense."""
        return self.mean

    def _log_density(self, x: Array) -> Array:
        return 0.0 * x - self.entropy()

    def _cdf(self, x: Array) -> Array:
        return (0.5 * x - 0.5 * self.low) / self._half

    def _survival(self, x: Array) -> Array:
        return (0.5 * self.high - 0.5 * x) / self._half

    def _icdf(self, q: Array) -> Array:
        return self._between(q)

    def _isf(self, q: Array) -> Array:
        return self._between(q, down=True)

    def entropy(self) -> Array:
        return namespace_of(self.low).log(self._half) + log(2.0)

    def _divergence(self, other: "Uniform") -> Array:
        """Return the log ratio of the widths, if the other holds this one."""
        xp = namespace_of(self.low)
        held = (other.low <= self.low) & (self.high <= other.high)
        divergence = other.entropy() - self.entropy()
        return xp.where(held, divergence, xp.full_like(divergence, xp.inf))

    def _sample(self, n: int, rng: Any) -> Array:
        return self._between(uniform(rng, (n, *self.batch_shape), like=self.low))

    @property
    def _half(self) -> Array:
        """Half the width: it cannot overflow."""
        return 0.5 * self.high - 0.5 * self.low

    def _between(self, fraction: Array, *, down: bool = False) -> Array:
        """Return the point a fraction of the way up from the low end, or down from the high end."""
        # From the nearer end, so that neither end is passed nor missed by rounding.
        xp = namespace_of(fraction)
        up, rest = (1.0 - fraction, fraction) if down else (fraction, 1.0 - fraction)
        near_low = (fraction > 0.5) if down else (fraction < 0.5)
        return xp.where(near_low, self.low + 2.0 * (up * self._half), self.high - 2.0 * (rest * self._half))
