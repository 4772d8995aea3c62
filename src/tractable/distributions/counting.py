"""Distributions of whole numbers: supports, distribution functions, quantiles and expectations."""

from abc import abstractmethod
from collections.abc import Callable
from math import prod
from typing import Any, ClassVar

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.distributions.distribution import Distribution
from tractable.distributions.summation import sum_over_counts
from tractable.distributions.univariate import Univariate

__all__ = ["Counting", "as_counts", "check_same_family", "check_whole", "looked_up", "only_where"]

_MANY = 256  # numbers from which on a table may pay


class Counting(Univariate):
    """A distribution of the whole numbers from 0 on, up to the end of its support.

    A family writes `_log_mass` for numbers inside the support; `_cdf` and `_survival` below its end are sums
    unless it knows better. Events are floating arrays of whole numbers; any other number has probability 0.
    """

    discrete: ClassVar[bool] = True

    @abstractmethod
    def _log_mass(self, k: Array) -> Array:
        """Return log P(X = k), a smooth function of k between the ends of the support."""

    def _cdf(self, k: Array) -> Array:
        """Return P(X ≤ k) for whole k from 0 to below the end of the support."""
        return self._sum(self._mass, 0.0 * k, k)

    def _survival(self, k: Array) -> Array:
        """Return P(X > k) for whole k from 0 to below the end of the support."""
        return self._sum(self._mass, k + 1.0, self._last(k))

    @property
    def _end(self) -> Any:
        assert self.support is not None
        return self.support[1]

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`; -inf for what is not a whole number of the support."""
        x = self._event(x)
        xp = namespace_of(x)
        possible = (x >= 0) & (x <= self._end) & (x == xp.floor(x)) & xp.isfinite(x)
        found = self._tabled(self._log_mass, xp.where(possible, x, xp.zeros_like(x)))
        return only_where(possible, found, -np.inf, xp.isnan(x))

    def cdf(self, x: Any) -> Array:
        """See `Univariate.cdf`; all its digits in the lower tail."""
        return self._below_end(self._cdf, x, (0.0, 1.0))

    def survival(self, x: Any) -> Array:
        """See `Univariate.survival`; all its digits in the upper tail."""
        return self._below_end(self._survival, x, (1.0, 0.0))

    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`: the least whole number k with P(X ≤ k) ≥ q, by bisection."""
        q = self._quantile(q)
        xp = namespace_of(q)
        q = xp.broadcast_to(q, np.broadcast_shapes(tuple(q.shape), self.batch_shape))
        low, high = self._bracket(q)
        while True:
            middle = xp.floor(0.5 * (low + high))
            # Above 2⁵³ neighbouring numbers are more than one apart, and there is none in between.
            if not bool(xp.any((low < middle) & (middle < high))):
                break
            reached = self.cdf(middle) >= q
            low, high = xp.where(reached, low, middle), xp.where(reached, middle, high)
        return xp.where((q == 1.0) & (self.stddev > 0), self._end + 0.0 * q, high)

    def entropy(self) -> Array:
        """See `Distribution.entropy`: a sum over the support."""
        return self._expected(lambda k: -self._log_mass(k))

    def _bracket(self, q: Array) -> tuple[Array, Array]:
        """Return whole numbers below and not below the quantile, by Cantelli's inequality."""
        xp = namespace_of(q)
        inner = xp.clip(q, float(xp.finfo(q.dtype).smallest_normal), 1.0 - float(xp.finfo(q.dtype).eps))
        odds = xp.sqrt(inner / (1.0 - inner))
        low = xp.floor(self.mean - 1.01 * self.stddev / odds) - 2.0
        high = xp.ceil(self.mean + 1.01 * self.stddev * odds) + 1.0
        low = xp.where((low > -1.0) & (q > 0), low, xp.full_like(q, -1.0))
        return low, xp.where(high < self._end, high, self._end + 0.0 * high)

    def _below_end(self, inner: Callable[[Array], Array], x: Any, outside: tuple[float, float]) -> Array:
        """Return a function of whole numbers at floor(x), with its values before and after the support."""
        x = self._event(x)
        xp = namespace_of(x)
        k = xp.floor(x)
        within = (k >= 0) & (k < self._end)
        found = self._tabled(inner, xp.where(within, k, xp.zeros_like(k)))
        before, after = (xp.full_like(found, value) for value in outside)
        return only_where(within, found, xp.where(k < 0, before, after), xp.isnan(x))

    def _tabled(self, f: Callable[[Array], Array], k: Array) -> Array:
        """Return f(k), once for each number where one distribution is asked for the same few many times."""
        xp = namespace_of(k)
        if self.batch_shape or prod(k.shape) < _MANY:
            return f(k)
        low = xp.min(k)
        n = int(xp.max(k) - low) + 1
        if n > prod(k.shape) // 4:
            return f(k)
        table = f(low + xp.arange(n, dtype=k.dtype, device=device(k)))
        return looked_up(table, k - low)

    def _expected(self, f: Callable[[Array], Array]) -> Array:
        """Return E[f(X)] to rounding."""

        def term(k: Array) -> Array:
            mass = self._mass(k)
            xp = namespace_of(mass)
            return xp.where(mass > 0, mass * f(k), xp.zeros_like(mass))

        with np.errstate(invalid="ignore"):
            return self._sum(term, *self._bulk())

    def _mass(self, k: Array) -> Array:
        return namespace_of(k).exp(self._log_mass(k))

    def _sum(self, f: Callable[[Array], Array], low: Array, high: Array) -> Array:
        """Return Σ f(k) over k = low, …, high; the ranges broadcast with the batch."""
        xp = namespace_of(low)
        arrays = xp.broadcast_arrays(low, high, self.mean, self.stddev)
        return sum_over_counts(f, *arrays)

    def _bulk(self) -> tuple[Array, Array]:
        """Return whole numbers between which light-tailed probability lies, up to rounding."""
        xp = namespace_of(self.mean)
        low = xp.floor(self.mean - 40.0 * self.stddev - 100.0)
        low = xp.where(low > 0, low, xp.zeros_like(low))
        return low, self._last(low)

    def _last(self, k: Array) -> Array:
        """Return the whole number after which nothing counts beside what follows k."""
        xp = namespace_of(k)
        start = xp.where(k > self.mean, k, self.mean + 0.0 * k)
        reach = xp.ceil(start + 40.0 * (self.stddev + xp.sqrt(start - self.mean)) + 100.0)
        return xp.where(reach < self._end, reach, self._end + 0.0 * reach)


def only_where(possible: Array, found: Array, otherwise: Any, missing: Array) -> Array:
    """Return what was found where it is possible, something else elsewhere, and NaN where x was missing."""
    xp = namespace_of(found)
    other = otherwise if hasattr(otherwise, "dtype") else xp.full_like(found, otherwise)
    return xp.where(missing, xp.full_like(found, xp.nan), xp.where(possible, found, other))


def looked_up(table: Array, k: Array) -> Array:
    """Return table[..., k] of tables (*batch, m) for whole numbers k (..., *batch)."""
    xp = namespace_of(table)
    batch = tuple(table.shape[:-1])
    where = xp.reshape(xp.arange(prod(batch), dtype=xp.int64, device=device(table)), batch)
    places = where * table.shape[-1] + xp.astype(k, xp.int64)
    found = xp.take(xp.reshape(table, (-1,)), xp.reshape(places, (-1,)))
    return xp.reshape(found, tuple(places.shape))


def check_whole(name: str, x: Array) -> None:
    """Refuse what is not a whole number from 0 on."""
    xp = namespace_of(x)
    good = (x >= 0) & (x == xp.floor(x)) & xp.isfinite(x)
    if not bool(xp.all(good)):
        worst = xp.reshape(x, (-1,))[xp.argmin(xp.astype(xp.reshape(good, (-1,)), xp.int8))]
        raise ValueError(f"{name} must be whole numbers from 0 on, got {float(worst)!r}")


def as_counts(draws: np.ndarray, like: Array) -> Array:
    """Return draws of whole numbers as an array of `like`'s library, dtype and device."""
    xp = namespace_of(like)
    return xp.asarray(draws.astype(np.float64), dtype=like.dtype, device=device(like))


def check_same_family(d: Distribution, other: Any) -> None:
    """Refuse to compare distributions of different families."""
    if not isinstance(other, type(d)) and not isinstance(d, type(other)):
        raise TypeError(f"other must be a {type(d).__name__}, got {type(other).__name__}")
