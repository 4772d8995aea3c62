# ruff: noqa: SLF001  (smoothed samples of one kind ask each other)
"""The distribution of a sample of numbers, smoothed."""

import math
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, cast

import numpy as np

from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of
from tractable.covariance import Covariance, Isotropic
from tractable.distributions.expectation import expectation
from tractable.distributions.smoothed_empirical import SmoothedEmpirical
from tractable.distributions.univariate import Univariate
from tractable.engines.roots import increasing_root
from tractable.value import replace

__all__ = ["UnivariateSmoothedEmpirical"]

#: Pairs of a level and a point that are held at a time.
_PAIRS = 2**21

#: The most panels that quadrature begins with.
_MOST_LANDMARKS = 4000


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

    @cached_property
    def structure(self) -> Covariance:
        """The squared bandwidth."""
        xp = namespace_of(self.points)
        h = xp.astype(self.bandwidth, xp.float64)
        return Isotropic(variance=h * h, dim=1)

    @property
    def dim(self) -> int:
        """One."""
        return 1

    def cdf(self, x: Any) -> Array:
        """See `Univariate.cdf`: Σ_i w_i F((x - x_i)/h) / Σ_i w_i, with the digits of the lower tail."""
        x = self._event(x)
        xp = namespace_of(x)
        flat = xp.reshape(xp.astype(x, xp.float64), (-1,))
        known = ~xp.isnan(flat)
        below = self._lower(xp.where(known, flat, xp.zeros_like(flat)))
        above = self._mirrored._lower(xp.where(known, -flat, xp.zeros_like(flat)))
        found = xp.where(below <= 0.5, below, 1.0 - above)
        found = xp.where(known, xp.clip(found, 0.0, 1.0), xp.full_like(found, xp.nan))
        return xp.astype(xp.reshape(found, tuple(x.shape)), self.points.dtype)

    def survival(self, x: Any) -> Array:
        """See `Univariate.survival`: the distribution function of the mirrored sample."""
        return self._mirrored.cdf(-self._event(x))

    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`: where the distribution function reaches q, by a guarded Newton search."""
        q = self._quantile(q)
        xp = namespace_of(q)
        levels = xp.reshape(xp.astype(q, xp.float64), (-1,))
        least, most = (float(end) for end in self.support)
        inner = (levels > 0) & (levels < 1)
        safe = xp.where(inner, levels, xp.full_like(levels, 0.5))
        low, high = self._bracket(safe)

        def excess(x: Array) -> tuple[Array, Array]:
            return self._cdf(x) - safe, xp.exp(self._density(x[:, None]))

        found = increasing_root(excess, low, high)
        found = xp.where(levels <= 0, xp.full_like(found, least), found)
        found = xp.where(levels >= 1, xp.full_like(found, most), found)
        return xp.astype(xp.reshape(found, tuple(q.shape)), self.points.dtype)

    def _cdf(self, x: Array) -> Array:
        xp = namespace_of(x)
        below = self._lower(x)
        return xp.where(below <= 0.5, below, 1.0 - self._mirrored._lower(-x))

    @cached_property
    def _mirrored(self) -> "UnivariateSmoothedEmpirical":
        ends = {
            name: None if end is None else (-end[1], -end[0])
            for name, end in (("bounds", self.bounds), ("period", self.period))
        }
        return replace(self, points=-self.points, **ends)

    @cached_property
    def _unbounded(self) -> "UnivariateSmoothedEmpirical":
        return replace(self, bounds=None, period=None) if self._domain is not None else self

    def _lower(self, x: Array) -> Array:
        """Return P(X ≤ x) of doubles (m,), accurate where it is small."""
        xp = namespace_of(x)
        if self._domain is None:
            found = self._lower_sums(xp.where(xp.isinf(x), xp.zeros_like(x), x))
        else:
            found = self._folded(xp.clip(x, min=-1e300, max=1e300))
        found = xp.where(x == -xp.inf, xp.zeros_like(found), found)
        return xp.where(x == xp.inf, xp.ones_like(found), found)

    def _lower_sums(self, x: Array) -> Array:
        xp = namespace_of(x)
        h = xp.astype(self.bandwidth, xp.float64)
        z, sums = (x - self._center[0]) / h, self._sums
        if is_numpy_array(x) and self._window.name == "gaussian" and sums.line is not None:
            from tractable.primitives.line_sums import normal_lower_sums

            return normal_lower_sums(sums.line, z)
        weights = sums.weights / xp.sum(sums.weights)
        step = max(1, _PAIRS // weights.shape[0])
        parts = [
            self._window.cdf(z[a : min(a + step, z.shape[0])][:, None] - sums.points[:, 0][None, :]) @ weights
            for a in range(0, z.shape[0], step)
        ]
        return xp.concat(parts) if parts else z

    def _folded(self, x: Array) -> Array:
        """Return the mass folded onto what lies below x: near a wall by quadrature, which does not cancel."""
        xp = namespace_of(x)
        domain = self._domain
        assert domain is not None
        low, high = domain.low[0], domain.high[0]
        base = self._unbounded
        if math.isinf(low):
            return xp.where(
                x >= high, xp.ones_like(x), base._lower(x) + base._mirrored._lower(x - 2.0 * high)
            )
        t = xp.clip(x - low, min=0.0, max=high - low)
        if math.isinf(high):
            whole = base._between(low - t, low + t)
        else:
            whole = xp.zeros_like(t)
            for sign, offset in domain.maps():
                a, b = sign * low + offset, sign * (low + t) + offset
                whole = whole + base._between(xp.minimum(b, a + 0.0 * b), xp.maximum(b, a + 0.0 * b))
        h = float(self.bandwidth)
        if self._window.name != "gaussian":  # corners near the wall
            return xp.where(t >= high - low, xp.ones_like(t), whole)
        near = t < 0.5 * h
        whole = xp.where(near, self._near_wall(xp.where(near, t, xp.zeros_like(t))), whole)
        return xp.where(t >= high - low, xp.ones_like(t), whole)

    def _near_wall(self, t: Array) -> Array:
        xp = namespace_of(t)
        place = {"dtype": xp.float64, "device": device(t)}
        node, weight = (xp.asarray(a, **place) for a in np.polynomial.legendre.leggauss(16))
        assert self._domain is not None
        x = self._domain.low[0] + 0.5 * t[:, None] * (1.0 + node)
        p = xp.exp(xp.reshape(self._density(xp.reshape(x, (-1, 1))), (t.shape[0], -1)))
        return 0.5 * t * (p @ weight)

    def _between(self, a: Array, b: Array) -> Array:
        xp = namespace_of(b)
        below = self._lower(a)
        upper = self._mirrored._lower(-a) - self._mirrored._lower(-b)
        return xp.where(below > 0.5, upper, self._lower(b) - below)

    def _bracket(self, q: Array) -> tuple[Array, Array]:
        """Return ends between which the quantiles lie, moved outwards until they do."""
        xp = namespace_of(q)
        least, most = (float(end) for end in self.support)
        h = float(self.bandwidth)
        rows = self._rows[:, 0]
        low, high = (edge + xp.zeros_like(q) for edge in (xp.min(rows) - h, xp.max(rows) + h))
        low, high = xp.clip(low, min=least, max=most), xp.clip(high, min=least, max=most)
        step = h
        for _ in range(1100):
            short = (self._cdf(low) > q) & (low > least), (self._cdf(high) < q) & (high < most)
            if not bool(xp.any(short[0] | short[1])):
                break
            low = xp.where(short[0], xp.clip(low - step, min=least, max=most), low)
            high = xp.where(short[1], xp.clip(high + step, min=least, max=most), high)
            step *= 2.0
        return self._beside_wall(q, low, high)

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

    def _landmarks(self) -> Array:
        """Return points two bandwidths apart over the sample, or fewer where there would be thousands."""
        xp = namespace_of(self.points)
        h, rows = float(self.bandwidth), self._rows[:, 0]
        least, most = (float(end) for end in self.support)
        low, high = max(least, float(xp.min(rows)) - 8.0 * h), min(most, float(xp.max(rows)) + 8.0 * h)
        n = int(min(_MOST_LANDMARKS, max(8.0, (high - low) / (2.0 * h))))
        found = xp.asarray(np.linspace(low, high, n + 1), dtype=self.points.dtype, device=device(self.points))
        return xp.clip(found, min=least, max=most)

    def _expected(self, f: Callable[[Array], Array], n_samples: int | None, rng: Any) -> Array:
        if n_samples is not None:
            return super()._expected(f, n_samples, rng)
        return expectation(f, cast("Univariate", self)).value
