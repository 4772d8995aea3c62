"""The distribution of a weighted sample of numbers."""

from functools import cached_property
from typing import Any

from tractable.arrays.namespace import Array, namespace_of
from tractable.distributions.counting import only_where
from tractable.distributions.empirical import Empirical
from tractable.distributions.univariate import Univariate

__all__ = ["UnivariateEmpirical"]


class UnivariateEmpirical(Empirical, Univariate):
    """The distribution of a weighted sample of numbers: what :class:`Empirical` makes of values (n,).

    Examples
    --------
    >>> d = UnivariateEmpirical(values=[3.0, 1.0, 2.0, 2.0])
    >>> d.cdf([0.0, 1.0, 2.5]), d.icdf([0.2, 0.5, 0.9])
    (array([0.  , 0.25, 0.75]), array([1., 2., 3.]))
    """

    def cdf(self, x: Any) -> Array:
        """See `Univariate.cdf`: the share of the sample that is not above x."""
        x = self._event(x)
        xp = namespace_of(x)
        values, below = self._steps
        place = _searched(values, xp.where(xp.isnan(x), xp.zeros_like(x), x), "right")
        found = xp.reshape(xp.take(below, xp.reshape(place, (-1,))), tuple(x.shape))
        return only_where(~xp.isnan(x), found, 0.0, xp.isnan(x))

    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`: a number of the sample."""
        q = self._quantile(q)
        xp = namespace_of(q)
        values, below = self._steps
        # Level 0 is reached before the first number; the least of the sample stands for it.
        q = xp.where(q > 0, q, xp.full_like(q, xp.finfo(q.dtype).smallest_normal))
        place = _searched(below[1:], q, "left")
        return xp.reshape(xp.take(values, xp.reshape(place, (-1,))), tuple(q.shape))

    @cached_property
    def _steps(self) -> tuple[Array, Array]:
        """The numbers in order, (m,), and how much lies below each and at the end above all, (m + 1,)."""
        xp = namespace_of(self.values)
        order = xp.argsort(self.atoms)
        total = xp.cumulative_sum(xp.take(self.masses, order))
        none = xp.zeros_like(total[:1])
        return xp.take(self.atoms, order), xp.concat([none, total / total[-1]])


def _searched(ordered: Array, x: Array, side: str) -> Array:
    """Return the places of x among ordered numbers; of one dtype, as some libraries want both."""
    xp = namespace_of(x)
    dtype = xp.result_type(ordered, x)
    return xp.searchsorted(xp.astype(ordered, dtype), xp.astype(x, dtype), side=side)
