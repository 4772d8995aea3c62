# ruff: noqa: SLF001  (smoothed samples of one kind ask each other)
"""How a smoothed sample scores events: in units of the bandwidth, about its middle, folded into a domain."""

from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of, to_numpy
from tractable.arrays.special import log_sum_exp
from tractable.covariance import Covariance
from tractable.distributions.distribution import Distribution
from tractable.distributions.folded_domain import FoldedDomain, as_domain
from tractable.distributions.missing import over_observed
from tractable.distributions.smoothed_folds import folded_density
from tractable.distributions.smoothed_lengths import Lengths, as_lengths
from tractable.distributions.smoothed_parts import (
    REACH,
    REACH_OF_OTHERS,
    as_squared,
    folded_moments,
    weighted_means,
)
from tractable.distributions.vectors import taken
from tractable.smoothing import WINDOWS, Window, WindowSums, check_window

__all__ = ["SmoothedDensity"]

#: The points whose median is taken for that of all.
_MEDIAN_OF = 4096


class SmoothedDensity(Distribution):
    """What a smoothed sample of numbers and one of vectors have in common."""

    if TYPE_CHECKING:
        points: Array
        bandwidth: Any
        weights: Array
        window: Any
        bounds: Any
        period: Any

        def marginal(self, dims: Any) -> "SmoothedDensity":
            """See `SmoothedEmpirical.marginal`."""

    @property
    def batch_shape(self) -> tuple[int, ...]:
        """One distribution, not a batch."""
        return ()

    @property
    def event_shape(self) -> tuple[int, ...]:
        """See `Distribution.event_shape`."""
        return tuple(self.points.shape[1:])

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return int(prod(self.event_shape))

    @cached_property
    def structure(self) -> Covariance:
        """The squared bandwidth, the covariance of a Gaussian window."""
        return as_squared(self.bandwidth, self.dim)

    @cached_property
    def _scale(self) -> Any:
        """What turns steps into units of the bandwidth: lengths, or a structure with correlations."""
        found = as_lengths(self.bandwidth, self.dim)
        return self.bandwidth if found is None else found

    @cached_property
    def _widths(self) -> Array:
        """The bandwidth of each coordinate, (d,)."""
        if isinstance(self._scale, Lengths):
            return self._scale.each
        xp = namespace_of(self.points)
        return xp.astype(xp.sqrt(self.structure.diagonal), xp.float64)

    @cached_property
    def _window(self) -> Window:
        return check_window(self.window)

    @property
    def _is_gaussian(self) -> bool:
        return self._window is WINDOWS["gaussian"]

    @cached_property
    def _rows(self) -> Array:
        """The points as rows (n, d) of double precision."""
        xp = namespace_of(self.points)
        return xp.astype(xp.reshape(self.points, (self.points.shape[0], -1)), xp.float64)

    @cached_property
    def _center(self) -> Array:
        """The median of each coordinate by weight: differences from it keep the digits of most points."""
        xp, stride = namespace_of(self._rows), max(1, self._rows.shape[0] // _MEDIAN_OF)
        parts = (self._rows[::stride, :], self.weights[::stride])
        rows, weights = (to_numpy(part).astype(np.float64) for part in parts)
        found = [_median(rows[:, j], weights) for j in range(self.dim)]
        return xp.asarray(found, dtype=xp.float64, device=device(self._rows))

    @property
    def _rounding(self) -> float:
        if self.dim == 1:
            return 0.0
        xp = namespace_of(self._rows)
        return 16.0 * float(xp.finfo(xp.float64).eps) * (1.0 + float(xp.max(xp.abs(self._sums.points))))

    @cached_property
    def _sums(self) -> WindowSums:
        """Sums over the points: numbers as they are, vectors about their middle in units of the bandwidth."""
        xp = namespace_of(self.weights)
        weights = xp.astype(self.weights, xp.float64)
        if self.dim == 1:
            h = self._widths[0]
            scale = float(h) if is_numpy_array(self._rows) else h
            return WindowSums(points=self._rows, weights=weights, window=self._window, scale=scale)
        return WindowSums(points=self._white(self._rows), weights=weights, window=self._window)

    def _white(self, rows: Array) -> Array:
        xp = namespace_of(rows)
        return xp.astype(self._scale.whiten(rows - self._center), xp.float64)

    @cached_property
    def _domain(self) -> FoldedDomain | None:
        if self.bounds is None and self.period is None:
            return None
        ends = [(self.bounds,), (self.period,)] if not self.event_shape else [self.bounds, self.period]
        reach = min(REACH if self._is_gaussian else REACH_OF_OTHERS, self._window.support)
        widths = [reach * float(h) for h in to_numpy(self._widths)]
        given = [None if end in (None, (None,)) else end for end in ends]
        return as_domain(given[0], given[1], self.dim, widths)

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        """Mean (d,) and covariance (d, d)."""
        if self._domain is not None:
            return folded_moments(self, self._domain)
        mean, scatter = weighted_means(self._rows - self._center, self._sums.weights)
        return self._center + mean, scatter + self._window.variance(self.dim) * self._squared()

    def _squared(self) -> Array:
        """The squared bandwidth, (d, d), which lengths may have while their squares are zero or infinite."""
        if not isinstance(self._scale, Lengths):
            return self.structure.dense()
        xp = namespace_of(self._widths)
        eye = xp.eye(self.dim, dtype=xp.float64, device=device(self._widths))
        with np.errstate(over="ignore", under="ignore"):
            square = self._widths * self._widths
        return xp.where(eye > 0, square, xp.zeros_like(eye))

    def _scored(self, rows: Array) -> Array:
        xp = namespace_of(rows)
        known = ~xp.any(xp.isnan(rows), axis=-1)
        if not bool(xp.all(known)) and self._is_gaussian and self.event_shape:
            return over_observed(lambda dims, part: self.marginal(dims)._density(part), rows, ())
        found = self._density(xp.where(known[:, None], rows, xp.zeros_like(rows)))
        return xp.where(known, found, xp.full_like(found, xp.nan))

    def _density(self, rows: Array) -> Array:
        """Return log p of rows without NaN, (m,)."""
        xp = namespace_of(rows)
        rows = xp.astype(rows, xp.float64)
        if self._domain is None:
            return self._log_density(rows)
        turned = self._domain.wrapped(xp.where(xp.isinf(rows), xp.zeros_like(rows), rows))
        inside = self._domain.inside(turned) & ~xp.any(xp.isinf(rows), axis=-1)
        total = folded_density(self, turned)
        return xp.where(inside, total, xp.full_like(total, -xp.inf))

    @cached_property
    def _log_volume(self) -> Any:
        """The log of what divides a window's profile."""
        xp = namespace_of(self._rows)
        return self._window.log_normaliser(self.dim) + 0.5 * xp.astype(self._scale.log_det, xp.float64)

    def _log_density(self, rows: Array) -> Array:
        """The density without a domain."""
        xp = namespace_of(rows)
        with np.errstate(over="ignore", invalid="ignore"):
            white = self._white(rows)
        # Beyond the root of the largest number a squared distance is infinite.
        near = xp.all(xp.abs(white) < 1e150, axis=-1)
        places = rows if self.dim == 1 else white
        sums = self._sums.log_sums(xp.where(near[:, None], places, self._sums.points[:1, :]))
        found = sums - self._log_volume - xp.log(xp.sum(self._sums.weights))
        return xp.where(near, found, xp.full_like(found, -xp.inf))

    def _log_explained(self, given: tuple[int, ...], values: Array) -> Array:
        """Return log w_i + log K(values - x_i) of the given coordinates, (*batch, n), up to a constant."""
        xp = namespace_of(values)
        scale = self._scale.marginal(given)
        points, weights = taken(self._rows, given), self._sums.weights
        domain = None if self._domain is None else self._domain.taken(given)
        images = [(np.ones(len(given)), np.zeros(len(given)))] if domain is None else domain.images
        terms = []
        for sign, offset in images:
            image = values * xp.asarray(sign, device=device(values)) + xp.asarray(
                offset, device=device(values)
            )
            terms.append(-0.5 * scale.mahalanobis(image[..., None, :] - points))
        some = weights > 0
        log_weights = xp.where(some, xp.log(xp.where(some, weights, xp.ones_like(weights))), -xp.inf)
        return log_sum_exp(xp.stack(terms, axis=-1)) + log_weights

    def _event(self, x: Any, name: str = "x") -> Array:
        like = self.points[0, ...]
        xp = namespace_of(like)
        if hasattr(x, "dtype") and not isinstance(x, np.generic) and namespace_of(x) is not xp:
            raise ValueError(f"{name} must be an array of {xp.__name__}, as the points are")
        x = as_reals(name, x, like)
        if self.event_shape and (x.ndim < 1 or x.shape[-1] != self.dim):
            raise ValueError(f"{name} must have shape (..., {self.dim}), got {tuple(x.shape)}")
        return x

    def _as_given(self, x: Array) -> Array:
        """Return rows (..., d) as events of the points' shape and dtype."""
        xp = namespace_of(x)
        x = xp.astype(x, self.points.dtype)
        return x if self.event_shape else x[..., 0]

    def _check_gaussian(self, what: str, *, alone: bool = False) -> None:
        if not self._is_gaussian and not alone:
            raise ValueError(f"{what} needs a gaussian window: others are not closed under it")

    def _check_domain(self) -> None:
        if (self.bounds is not None or self.period is not None) and not isinstance(self._scale, Lengths):
            raise ValueError(
                "bandwidth must be a number or one a coordinate where there are bounds or a period"
            )
        domain = self._domain
        if domain is None:
            return
        inside = domain.inside(domain.wrapped(self._rows))
        if not bool(namespace_of(inside).all(inside)):
            raise ValueError("points must lie within bounds")


def _median(x: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(x)
    total = np.cumsum(weights[order])
    return float(x[order[np.searchsorted(total, 0.5 * total[-1])]])
