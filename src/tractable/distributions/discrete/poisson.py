"""The Poisson distribution of counts."""

from collections.abc import Mapping
from math import inf
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.namespace import Array, namespace_of, to_numpy
from tractable.arrays.saddle_point import count_deviance, factorial_rest
from tractable.arrays.special import gammainc, gammaincc
from tractable.distributions.checks import check_nonnegative
from tractable.distributions.discrete.counting import FittedCounting, as_counts
from tractable.statistics.counts import Totals
from tractable.value import value

__all__ = ["Poisson"]


@value
class Poisson(FittedCounting):
    """Poisson(k | λ) = λᵏ e^-λ / k!: how many events there are where λ are expected.

    Mean and variance are λ. Where λ is a whole number there are two modes, λ - 1 and λ, and the smaller is
    given. At λ = 0 there are no events.

    Parameters
    ----------
    rate : array (*batch,)
        λ, not negative.

    Examples
    --------
    >>> d = Poisson(rate=2.5)
    >>> d.prob([0, 1, 2, 2.5]).round(4)
    array([0.0821, 0.2052, 0.2565, 0.    ])
    >>> float(d.mode), float(d.icdf(0.99))
    (2.0, 7.0)
    """

    parameter_ndims: ClassVar[Mapping[str, int]] = {"rate": 0}
    support = (0.0, inf)
    statistic: ClassVar[type] = Totals

    rate: Array

    def __post_init__(self) -> None:
        self._settle(rate=check_nonnegative)

    @classmethod
    def from_statistic(cls, statistic: Totals) -> Self:
        """Return the maximum likelihood estimate from the totals of counts."""
        return cls(rate=statistic.mean)

    @property
    def mean(self) -> Array:
        return self.rate

    @property
    def variance(self) -> Array:
        return self.rate

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: ⌈λ⌉ - 1, at least 0."""
        xp = namespace_of(self.rate)
        mode = xp.ceil(self.rate) - 1.0
        return xp.where(mode > 0, mode, xp.zeros_like(mode))

    def _divergence(self, other: "Poisson") -> Array:
        """Return λ log λ/λ' + λ' - λ."""
        return count_deviance(self.rate, other.rate)

    def __add__(self, other: Any) -> "Poisson":
        """Return the distribution of the sum of two independent counts."""
        if not isinstance(other, Poisson):
            return NotImplemented
        return Poisson(rate=self.rate + other.rate)

    def _log_mass(self, k: Array) -> Array:
        return -factorial_rest(k) - count_deviance(k, self.rate)

    def _cdf(self, k: Array) -> Array:
        """Γ(k + 1, λ) / k!, the regularised upper incomplete gamma function."""
        return gammaincc(k + 1.0, self.rate)

    def _survival(self, k: Array) -> Array:
        return gammainc(k + 1.0, self.rate)

    def _sample(self, n: int, rng: Any) -> Array:
        rate = to_numpy(self.rate)
        if np.any(rate > 9.2e18):
            raise ValueError(f"rate must be at most 9.2e18 to draw from, got {float(rate.max())!r}")
        return as_counts(rng.poisson(rate, size=(n, *rate.shape)), like=self.rate)
