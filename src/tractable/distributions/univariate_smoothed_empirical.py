"""The distribution of a sample of numbers, smoothed."""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.distributions.expectation import expectation
from tractable.distributions.smoothed_breaks import corners, panels
from tractable.distributions.smoothed_empirical import SmoothedEmpirical
from tractable.distributions.smoothed_levels import Unsettled, put_back
from tractable.distributions.univariate import Univariate
from tractable.engines.roots import increasing_root
from tractable.smoothing import WINDOWS

__all__ = ["UnivariateSmoothedEmpirical"]

#: The most nodes of the table in which quantiles are looked up; few where each is a sum over all points.
_MOST_NODES, _FEW_NODES = 1024, 64


class UnivariateSmoothedEmpirical(SmoothedEmpirical, Univariate):
    """The smoothed distribution of numbers: what :class:`SmoothedEmpirical` makes of points (n,).

    Examples
    --------
    >>> d = UnivariateSmoothedEmpirical(points=[0.0, 1.0, 4.0], bandwidth=0.5)
    >>> d.prob([0.0, 4.0]).round(4), float(d.cdf(1.0).round(4))
    (array([0.302, 0.266]), 0.4924)
    >>> angles = UnivariateSmoothedEmpirical(points=[0.1, 6.2], bandwidth=0.2, period=2 * np.pi)
    >>> float(angles.prob(0.0).round(3)), float(angles.cdf(np.pi).round(3))
    (1.795, 0.515)
    """

    _event_ndim: ClassVar[int] = 0

    @property
    def dim(self) -> int:
        """One."""
        return 1

    def cdf(self, x: Any) -> Array:
        """See `Univariate.cdf`: Σ_i w_i F((x - x_i)/h) / Σ_i w_i, with the digits of the lower tail."""
        return self._of_known(self._cdf, x)

    def survival(self, x: Any) -> Array:
        """See `Univariate.survival`, with the digits of the upper tail."""
        return self._of_known(lambda x: self._cdf(x, upper=True), x)

    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`: where the distribution function reaches q, by a guarded Newton search."""
        q = self._quantile(q)
        xp = namespace_of(q)
        levels = xp.reshape(xp.astype(q, xp.float64), (-1,))
        least, most = (float(end) for end in self.support)
        inner = (levels > 0) & (levels < 1)
        safe = xp.where(inner, levels, xp.full_like(levels, 0.5))
        found = increasing_root(Unsettled(self._excess, safe), *self._bracket(safe))
        found = xp.where(levels <= 0, xp.full_like(found, least), found)
        found = xp.where(levels >= 1, xp.full_like(found, most), found)
        return xp.astype(xp.reshape(found, tuple(q.shape)), self.points.dtype)

    def _excess(self, x: Array, q: Array) -> tuple[Array, Array]:
        xp = namespace_of(x)
        return self._cdf(x) - q, xp.exp(self._density(x[:, None]))

    def _of_known(self, function: Callable[[Array], Array], x: Any) -> Array:
        """Apply a function of doubles (m,) to events that are not NaN."""
        x = self._event(x)
        xp = namespace_of(x)
        flat = xp.reshape(xp.astype(x, xp.float64), (-1,))
        known = ~xp.isnan(flat)
        found = xp.clip(function(xp.where(known, flat, xp.zeros_like(flat))), 0.0, 1.0)
        found = xp.where(known, found, xp.full_like(found, xp.nan))
        return xp.astype(xp.reshape(found, tuple(x.shape)), self.points.dtype)

    def _cdf(self, x: Array, *, upper: bool = False) -> Array:
        """Return the mass below doubles (m,), or above, from whichever side holds less."""
        xp, own = namespace_of(x), self._tail(x, upper=upper)
        more = own > 0.5
        others = self._tail(xp.take(x, xp.nonzero(more)[0]), upper=not upper)
        return put_back(more, 1.0 - others, own)

    def _tail(self, x: Array, *, upper: bool) -> Array:
        """Return the mass on one side of doubles (m,), accurate where it is small."""
        return self._open(x, upper=upper) if self._domain is None else self._folded(x, upper=upper)

    def _open(self, x: Array, *, upper: bool) -> Array:
        """The mass on one side, without a domain."""
        xp = namespace_of(x)
        found = self._tail_sums(xp.where(xp.isinf(x), xp.zeros_like(x), x), upper=upper)
        none, whole = (xp.inf, -xp.inf) if upper else (-xp.inf, xp.inf)
        found = xp.where(x == none, xp.zeros_like(found), found)
        return xp.where(x == whole, xp.ones_like(found), found)

    def _tail_sums(self, x: Array, *, upper: bool) -> Array:
        return self._sums.shares(x, upper=upper)

    def _folded(self, x: Array, *, upper: bool) -> Array:
        """Return the mass folded onto what lies between a wall and x, the masses of all images of it."""
        xp = namespace_of(x)
        domain = self._domain
        assert domain is not None
        low, high = domain.low[0], domain.high[0]
        wall, other = (high, low) if upper else (low, high)
        x = xp.clip(x, min=low, max=high)
        found = xp.zeros_like(x)
        for sign, offset in domain.maps():
            a, b = xp.full_like(x, sign * wall + offset), sign * x + offset
            found = found + self._between(xp.minimum(a, b), xp.maximum(a, b))
        if math.isfinite(wall):
            near = xp.abs(x - wall) < self._smooth_beside(wall)
            found = xp.where(near, self._near_wall(wall, xp.where(near, x, xp.full_like(x, wall))), found)
        found = xp.where(x == wall, xp.zeros_like(found), found)
        return xp.where(x == other, xp.ones_like(found), found)

    def _smooth_beside(self, wall: float) -> float:
        """Up to where, from a wall, the density has no corner and is nearly a polynomial."""
        if WINDOWS.get(self._window.name) is not self._window:
            return 0.0
        away = np.abs(self._corners - wall)
        return float(np.min(away[away > 0.0], initial=0.5 * float(self.bandwidth)))

    def _near_wall(self, wall: float, x: Array) -> Array:
        """The mass between a wall and x by quadrature, which does not cancel."""
        xp = namespace_of(x)
        place = {"dtype": xp.float64, "device": device(x)}
        node, weight = (xp.asarray(a, **place) for a in np.polynomial.legendre.leggauss(16))
        t = x - wall
        inner = wall + 0.5 * t[:, None] * (1.0 + node)
        p = xp.exp(xp.reshape(self._density(xp.reshape(inner, (-1, 1))), tuple(inner.shape)))
        return 0.5 * xp.abs(t) * (p @ weight)

    def _between(self, a: Array, b: Array) -> Array:
        """The mass between, without a domain, from the side that does not cancel."""
        xp = namespace_of(b)
        below = self._open(a, upper=False)
        above = self._open(a, upper=True) - self._open(b, upper=True)
        return xp.where(below > 0.5, above, self._open(b, upper=False) - below)

    def _bracket(self, q: Array) -> tuple[Array, Array]:
        """Return ends between which the quantiles lie: neighbours in a table, or moved outwards."""
        xp = namespace_of(q)
        nodes = self._nodes(q.shape[0])
        levels = np.maximum.accumulate(to_numpy(self._cdf(nodes)))
        at, last = np.searchsorted(levels, to_numpy(q)), len(levels) - 1
        low, high = (xp.take(nodes, xp.asarray(np.clip(i, 0, last), device=device(q))) for i in (at - 1, at))
        if bool(np.any((at == 0) | (at > last))):
            low, high = self._widened(q, low, high)
        return self._beside_wall(q, low, high)

    def _nodes(self, n_levels: int) -> Array:
        """Some of the points, in order, and ends ten bandwidths beyond them."""
        xp = namespace_of(self.points)
        rows, far = xp.sort(self._rows[:, 0]), 10.0 * float(self.bandwidth)
        limit = _FEW_NODES if self._sums.tails is None else _MOST_NODES
        n = min(rows.shape[0], limit, 8 + 4 * n_levels)
        ranks = np.linspace(0, rows.shape[0] - 1, n).astype(np.int64)
        inner = xp.take(rows, xp.asarray(ranks, device=device(rows)))
        least, most = (float(end) for end in self.support)
        return xp.clip(xp.concat([rows[:1] - far, inner, rows[-1:] + far]), min=least, max=most)

    def _widened(self, q: Array, low: Array, high: Array) -> tuple[Array, Array]:
        """Move ends outwards, each time twice as far, until the quantiles lie between them."""
        xp = namespace_of(q)
        least, most = (float(end) for end in self.support)
        step = float(self.bandwidth)
        for _ in range(1100):
            short = (self._cdf(low) > q) & (low > least), (self._cdf(high) < q) & (high < most)
            if not bool(xp.any(short[0] | short[1])):
                break
            low = xp.where(short[0], xp.clip(low - step, min=least, max=most), low)
            high = xp.where(short[1], xp.clip(high + step, min=least, max=most), high)
            step *= 2.0
        return low, high

    def _beside_wall(self, q: Array, low: Array, high: Array) -> tuple[Array, Array]:
        """Close in on levels so small that a wall is nearly reached, where x - wall = q / p(wall)."""
        xp = namespace_of(q)
        least = float(self.support[0])
        height = float(xp.exp(self._density(xp.asarray([[least]], dtype=xp.float64, device=device(q))))[0])
        if self._domain is None or math.isinf(least) or not height > 0.0:
            return low, high
        near, far = (least + xp.clip(share * q / height, max=1e300) for share in (0.5, 2.0))
        near, far = (xp.clip(end, min=least, max=float(self.support[1])) for end in (near, far))
        low = xp.where(self._cdf(near) <= q, xp.maximum(low, near), low)
        return low, xp.where(self._cdf(far) >= q, xp.minimum(high, far), high)

    @property
    def breaks(self) -> Array:
        """Where the density has a corner, or jumps; of a user's window, as far as is known."""
        xp = namespace_of(self.points)
        found = self._corners if not self._is_gaussian else self._corners[:0]
        return xp.asarray(found, dtype=self.points.dtype, device=device(self.points))

    @cached_property
    def _corners(self) -> np.ndarray:
        return corners(self)

    def _landmarks(self) -> Array:
        """Return the ends of panels about the points, and corners, where quadrature parts the line."""
        xp = namespace_of(self.points)
        return xp.asarray(panels(self), dtype=self.points.dtype, device=device(self.points))

    def _expected(self, f: Callable[[Array], Array], n_samples: int | None, rng: Any) -> Array:
        if n_samples is not None:
            return super()._expected(f, n_samples, rng)
        return expectation(f, cast("Univariate", self)).value
