"""Mixtures of numbers: distribution functions, quantiles, and exact averages."""

from collections.abc import Callable
from typing import Any, cast

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.expectation import expectation
from tractable.distributions.mixture import Mixture
from tractable.distributions.univariate import Univariate
from tractable.engines.roots import increasing_root

__all__ = ["UnivariateMixture"]


class UnivariateMixture(Mixture, Univariate):
    """A mixture of distributions of numbers; :class:`Mixture` makes one where its components are.

    Examples
    --------
    >>> from tractable import Mixture, Normal
    >>> d = Mixture(weights=[0.5, 0.5], components=Normal(mean=[-2.0, 2.0], variance=1.0))
    >>> float(d.cdf(0.0)), float(d.icdf(0.75).round(3))
    (0.5, 2.0)
    >>> d.modes().round(3)
    array([-1.999,  1.999])
    """

    interval = Univariate.interval

    def cdf(self, x: Any) -> Array:
        """See `Univariate.cdf`: Σ_k π_k F_k(x)."""
        return self._averaged(self._numbers.cdf(self._event(x)[..., None]), 0)

    def survival(self, x: Any) -> Array:
        """See `Univariate.survival`: Σ_k π_k P_k(X > x)."""
        return self._averaged(self._numbers.survival(self._event(x)[..., None]), 0)

    def probability_between(self, low: Any, high: Any) -> Array:
        """See `Univariate.probability_between`: Σ_k π_k P_k, with the digits of the components."""
        low, high = self._event(low, "low"), self._event(high, "high")
        return self._averaged(self._numbers.probability_between(low[..., None], high[..., None]), 0)

    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`; it lies between the quantiles of the components, and is searched there."""
        q = self._quantile(q)
        xp = namespace_of(q)
        present = self.weights > 0
        each = self._numbers.icdf(q[..., None])
        low = xp.min(xp.where(present, each, xp.full_like(each, xp.inf)), axis=-1)
        high = xp.max(xp.where(present, each, xp.full_like(each, -xp.inf)), axis=-1)
        q = xp.broadcast_to(q, low.shape)
        found = self._least_integer(q, low, high) if self.discrete else self._root(q, low, high)
        return xp.where(q == 0, low, xp.where(q == 1, high, found))

    @property
    def _numbers(self) -> Univariate:
        return cast("Univariate", self.components)

    def _root(self, q: Array, low: Array, high: Array) -> Array:
        xp = namespace_of(q)
        inner = (q > 0) & (q < 1)
        low, high = (xp.where(inner, x, xp.zeros_like(x)) for x in (low, high))

        def excess(x: Array) -> tuple[Array, Array]:
            return xp.where(inner, self.cdf(x) - q, xp.zeros_like(q)), self.prob(x)

        return increasing_root(excess, low, high)

    def _least_integer(self, q: Array, low: Array, high: Array) -> Array:
        xp = namespace_of(q)
        open_ = xp.isfinite(low) & xp.isfinite(high)
        low, high = (xp.where(open_, x, xp.zeros_like(x)) for x in (low, high))
        while bool(xp.any(low < high)):
            middle = xp.floor(0.5 * (low + high))
            enough = self.cdf(middle) >= q
            low, high = xp.where(enough | (low == high), low, middle + 1), xp.where(enough, middle, high)
        return high

    def _landmarks(self) -> Array:
        return self._numbers._landmarks()  # noqa: SLF001

    def _expected(self, f: Callable[[Array], Array], n_samples: int | None, rng: Any) -> Array:
        if n_samples is not None:
            return super()._expected(f, n_samples, rng)
        return expectation(f, self).value
