"""Domains with ends: mass beyond a bound is reflected at it, mass beyond a period begins again.

`FoldedDomain` maps an unbounded variable into the domain; `folded_density` and `folded_moments` are those of
a smoothed sample in it.
"""

# ruff: noqa: SLF001  (the functions are of smoothed samples)

import itertools
import math
from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.error_function import erfc
from tractable.arrays.log_space import log_sum_exp
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.distributions.smoothed.numbers import panels
from tractable.engines.quadrature import integrate
from tractable.engines.roots import put_back
from tractable.smoothing import WINDOWS, Window
from tractable.value import value

#: The most times that a window may reach across its domain, on either side.
MOST_FOLDS = 32

#: The log of less than a rounding of one.
_NOTHING = -39.0

#: Pairs of a query and a point that are held at a time.
_PAIRS = 2**20


@value
class FoldedDomain:
    """The bounds or period of each coordinate, and the map that folds an unbounded variable into them.

    A density p of unbounded x becomes Σ p(image of x) over the images that are folded onto x, so that its
    total mass stays one whatever the window.
    """

    low: tuple[float, ...]
    high: tuple[float, ...]
    wraps: tuple[bool, ...]
    reach: tuple[float, ...] = ()

    @cached_property
    def images(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """Signs and offsets (d,) of the maps x → sign x + offset from the domain to what folds onto it."""
        each = [self.maps(j) for j in range(len(self.low))]
        return [
            (np.array([s for s, _ in choice]), np.array([o for _, o in choice]))
            for choice in itertools.product(*each)
        ]

    def folds(self, j: int = 0) -> int:
        """Return across how many copies of the domain a window reaches, on either side."""
        width = self.high[j] - self.low[j]
        return 1 if not self.reach else max(1, math.ceil(min(self.reach[j] / width, 1e6)))

    def fold(self, x: Array) -> Array:
        """Bring unbounded rows (..., d) into the domain."""
        xp = namespace_of(x)
        return xp.stack([self._folded(xp, x[..., j], j) for j in range(len(self.low))], axis=-1)

    def inside(self, x: Array) -> Array:
        """Whether rows (..., d) are in the domain; a coordinate that wraps is, wherever it is."""
        xp = namespace_of(x)
        return xp.all(
            (x >= self._like(x, self._bounds(self.low))) & (x <= self._like(x, self._bounds(self.high, 1))),
            axis=-1,
        )

    def wrapped(self, x: Array) -> Array:
        """Bring the coordinates that wrap into their first period, and leave the others."""
        xp = namespace_of(x)
        if not any(self.wraps):
            return x
        columns = [
            self._folded(xp, x[..., j], j) if wraps else x[..., j] for j, wraps in enumerate(self.wraps)
        ]
        return xp.stack(columns, axis=-1)

    def taken(self, dims: Any) -> "FoldedDomain":
        """Return the domain of some of the coordinates."""
        parts = [tuple(part[j] for j in dims) for part in (self.low, self.high, self.wraps, self.reach)]
        return FoldedDomain(low=parts[0], high=parts[1], wraps=parts[2], reach=parts[3])

    def _bounds(self, ends: tuple[float, ...], upper: int = 0) -> list[float]:
        free = math.inf if upper else -math.inf
        return [free if wraps else end for end, wraps in zip(ends, self.wraps, strict=True)]

    def _like(self, x: Array, ends: list[float]) -> Array:
        return namespace_of(x).asarray(ends, dtype=x.dtype, device=device(x))

    def _folded(self, xp: Any, x: Array, j: int) -> Array:
        low, high = self.low[j], self.high[j]
        if self.wraps[j]:
            return _in_period(x, low, high)
        # About the nearer bound first: a bound far away must not cost the digits of what is near the other.
        x = xp.where(x < low, low + (low - x), x) if math.isfinite(low) else x
        if math.isinf(high):
            return x
        x = xp.where(x > high, high - (x - high), x)
        if math.isinf(low):
            return x
        width = high - low
        shifted = xp.remainder(x - low, xp.full_like(x, 2.0 * width))
        shifted = low + xp.where(shifted > width, 2.0 * width - shifted, shifted)
        return xp.where((x >= low) & (x <= high), x, shifted)

    def maps(self, j: int = 0) -> list[tuple[float, float]]:
        """Return the signs and offsets of one coordinate, the coordinate itself first."""
        low, high = self.low[j], self.high[j]
        if math.isinf(low) and math.isinf(high):
            return [(1.0, 0.0)]
        if math.isinf(low) or math.isinf(high):
            return [(1.0, 0.0), (-1.0, 2.0 * (high if math.isinf(low) else low))]
        turns = sorted(range(-self.folds(j), self.folds(j) + 1), key=abs)
        if self.wraps[j]:
            return [(1.0, k * (high - low)) for k in turns]
        return [self._reflected(low, high, k) for k in turns]

    def _reflected(self, low: float, high: float, k: int) -> tuple[float, float]:
        """Return the k-th image: the offset of the first beyond a bound is twice that bound, to the digit."""
        width = high - low
        if k % 2 == 0:
            return 1.0, k * width
        return (-1.0, 2.0 * low + (k + 1) * width) if k < 0 else (-1.0, 2.0 * high + (k - 1) * width)


def _in_period(x: Array, low: float, high: float) -> Array:
    """Bring numbers into [low, high) by whole periods; what is there stays as it is, to the digit."""
    xp = namespace_of(x)
    shifted = low + xp.remainder(x - low, xp.full_like(x, high - low))
    shifted = xp.where(shifted >= high, xp.full_like(x, low), shifted)
    return xp.where((x >= low) & (x < high), x, shifted)


def in_first_period(x: Array, period: Any) -> Array:
    """Return rows (n, d), or numbers (n,), with the coordinates of a period brought into the first.

    A period is given as `SmoothedEmpirical` takes it.
    """
    ends = as_ends("period", period, x.shape[1] if x.ndim == 2 else None)
    if ends is None:
        return x
    xp = namespace_of(x)
    if x.ndim == 1:
        return _in_period(x, *ends)
    columns = [x[:, j] if end is None else _in_period(x[:, j], *end) for j, end in enumerate(ends)]
    return xp.stack(columns, axis=1)


def as_ends(name: str, given: Any, dim: int | None) -> tuple[Any, ...] | None:
    """Return (low, high) of a number, or one pair (or None) for each of `dim` coordinates, as floats.

    An end that is None is open. One pair of bounds, or the length of one period, is that of all coordinates.
    """
    if given is None:
        return None
    given = given.tolist() if isinstance(given, np.ndarray) else given
    if dim is None:
        return _as_pair(name, given)
    if _is_one(name, given, dim):
        given = [given] * dim
    if not hasattr(given, "__len__") or len(given) != dim:
        raise ValueError(
            f"{name} must be a pair (low, high) for each of {dim} coordinates, or None, got {given!r}"
        )
    found = tuple(None if pair is None else _as_pair(name, pair) for pair in given)
    return None if all(pair is None for pair in found) else found


def _is_one(name: str, given: Any, dim: int) -> bool:
    """Whether bounds or a period are given once for all coordinates."""
    if not hasattr(given, "__len__"):
        return name == "period"
    pair = len(given) == 2 and all(end is None or np.ndim(end) == 0 for end in given)
    if not pair or all(end is None for end in given):
        return False
    # Two lengths are the periods of two coordinates; a length is positive, and an end need not be.
    return name == "bounds" or dim != 2 or (given[0] is not None and given[0] <= 0)


def _as_pair(name: str, pair: Any) -> tuple[float, float]:
    if name == "period" and np.ndim(pair) == 0:
        pair = (0.0, pair)
    try:
        low, high = pair
        low, high = -math.inf if low is None else float(low), math.inf if high is None else float(high)
    except (TypeError, ValueError):
        raise ValueError(f"{name} must be a pair (low, high), got {pair!r}") from None
    if not low < high or (name == "period" and math.isinf(high - low)):
        raise ValueError(f"{name} must have its low below its high, got {(low, high)!r}")
    return low, high


def as_domain(bounds: Any, period: Any, dim: int, reach: list[float]) -> FoldedDomain | None:
    """Return the domain of `dim` coordinates, or None where none has an end."""
    if bounds is None and period is None:
        return None
    limits, periods = ([None] * dim if given is None else list(given) for given in (bounds, period))
    for j, (bound, cycle) in enumerate(zip(limits, periods, strict=True)):
        if bound is not None and cycle is not None:
            raise ValueError(f"period and bounds must not both be given for coordinate {j}")
    ends = [bound or cycle or (-math.inf, math.inf) for bound, cycle in zip(limits, periods, strict=True)]
    domain = FoldedDomain(
        low=tuple(end[0] for end in ends),
        high=tuple(end[1] for end in ends),
        wraps=tuple(cycle is not None for cycle in periods),
        reach=tuple(reach),
    )
    if any(domain.folds(j) > MOST_FOLDS for j in range(dim) if math.isfinite(ends[j][1] - ends[j][0])):
        raise ValueError("bandwidth must not be many times wider than bounds or period")
    return domain


def folded_density(d: Any, rows: Array) -> Array:
    """Return log p of rows (m, d) of the domain: the density at all images that are folded onto them.

    Images are left out where a bound by their distance from the points shows that they add nothing.
    """
    xp = namespace_of(rows)
    total = d._log_density(rows)
    maps = [_counting(d, rows, j, total) for j in range(d.dim)]
    n_images = int(np.prod([float(len(each)) for each in maps]))
    if d._is_gaussian and n_images > 2 * sum(len(each) for each in maps):
        return _factored(d, rows, maps)
    place = {"dtype": xp.float64, "device": device(rows)}
    for image in itertools.islice(itertools.product(*maps), 1, None):
        sign, offset = (xp.asarray([pair[i] for pair in image], **place) for i in (0, 1))
        total = log_sum_exp(xp.stack([total, _added(d, rows * sign + offset, total)], axis=-1))
    return total


def _counting(d: Any, rows: Array, j: int, total: Array) -> list[tuple[float, float]]:
    """Return the maps of a coordinate under which some row is near enough to the points to count."""
    first, *others = d._domain.maps(j)
    return [
        first,
        *((s, o) for s, o in others if _any(_log_most(d, rows[:, j] * s + o, j) > total + _NOTHING)),
    ]


def _any(some: Array) -> bool:
    return bool(namespace_of(some).any(some))


def _added(d: Any, rows: Array, total: Array) -> Array:
    """Return the density where it may add to a total; elsewhere none."""
    xp = namespace_of(rows)
    some = _log_most(d, rows) > total + _NOTHING
    if not _any(~some):
        return d._log_density(rows)
    found = d._log_density(xp.take(rows, xp.nonzero(some)[0], axis=0))
    return put_back(some, found, xp.full_like(total, -xp.inf))


def _log_most(d: Any, rows: Array, j: int | None = None) -> Array:
    """Return a bound on the density by the distance from the box about the points, in all axes or in one."""
    xp = namespace_of(rows)
    points, widths = (d._rows, d._widths) if j is None else (d._rows[:, j], d._widths[j])
    with np.errstate(over="ignore", invalid="ignore"):
        outside = xp.maximum(xp.min(points, axis=0) - rows, rows - xp.max(points, axis=0))
        away = xp.clip(outside, min=0.0) / widths
        squares = xp.sum(away * away, axis=-1) if j is None else away * away
    window: Window = d._window
    if WINDOWS.get(window.name) is not window:  # it may rise with the distance
        most = xp.full_like(squares, xp.inf)
        return xp.where(squares > window.support**2, -most, most)
    return window.log_profile(squares) - d._log_volume


def _factored(d: Any, rows: Array, maps: list[list[tuple[float, float]]]) -> Array:
    """Sum Gaussian windows over the images of each axis by itself, since their product is over all."""
    xp = namespace_of(rows)
    log_weights = xp.log(d._sums.weights / xp.sum(d._sums.weights))
    step = max(1, _PAIRS // d._rows.shape[0])
    parts = []
    for begin in range(0, rows.shape[0], step):
        block = rows[begin : min(begin + step, rows.shape[0]), :]
        logs = log_weights[None, :] + xp.zeros_like(block[:, :1])
        for j, each in enumerate(maps):
            away = [((block[:, j] * s + o)[:, None] - d._rows[:, j][None, :]) / d._widths[j] for s, o in each]
            logs = logs + log_sum_exp(xp.stack([-0.5 * z * z for z in away], axis=-1))
        parts.append(log_sum_exp(logs) - d._log_volume)
    return xp.concat(parts) if parts else rows[:, 0]


def weighted_means(x: Array, weights: Array) -> tuple[Array, Array]:
    """Return the mean and the covariance of weighted rows, in two passes."""
    weight = weights / namespace_of(weights).sum(weights)
    mean = weight @ x
    away = x - mean
    with np.errstate(over="ignore", under="ignore"):
        return mean, (away * weight[:, None]).T @ away


def folded_moments(d: Any, domain: FoldedDomain) -> tuple[Array, Array]:
    """Return the mean (d,) and covariance (d, d) of a smoothed sample folded into a domain."""
    xp = namespace_of(d.points)
    if not d._is_gaussian:
        if d.dim > 1:
            raise ValueError("moments of vectors within bounds or a period need a gaussian window")
        return _by_quadrature(d)
    widths = d._widths
    columns = [_folded_normal(d._rows[:, j], widths[j], domain, j) for j in range(d.dim)]
    means = xp.stack([mean for mean, _ in columns], axis=1)
    center = d._center
    mean, between = weighted_means(means - center, d._sums.weights)
    weight = d._sums.weights / xp.sum(d._sums.weights)
    within = xp.stack([weight @ variance for _, variance in columns])
    eye = xp.eye(d.dim, dtype=xp.float64, device=device(within))
    return center + mean, between + within * eye


def _folded_normal(x: Array, h: Array, domain: FoldedDomain, j: int) -> tuple[Array, Array]:
    """Return the mean and variance of each N(x_i, h²) folded into coordinate j of a domain."""
    xp = namespace_of(x)
    low, high = domain.low[j], domain.high[j]
    first = second = xp.zeros_like(x)
    for sign, offset in domain.maps(j):
        middle = sign * (x - offset)  # the image of the point, from which the domain is seen
        a, b = (low - middle) / h, (high - middle) / h
        mass = 0.5 * (erfc(-math.sqrt(0.5) * b) - erfc(-math.sqrt(0.5) * a))
        step, slope = middle - x, h * (_height(a) - _height(b))
        first = first + step * mass + slope
        second = second + step * step * mass + 2.0 * step * slope
        second = second + h * h * (mass + _moment(a) - _moment(b))
    return x + first, second - first * first


def _height(z: Array) -> Array:
    return namespace_of(z).exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def _moment(z: Array) -> Array:
    xp = namespace_of(z)
    finite = xp.isfinite(z)
    return xp.where(finite, z, xp.zeros_like(z)) * _height(z)


def _by_quadrature(d: Any) -> tuple[Array, Array]:
    """Moments of numbers under a window without partial moments of its own."""
    xp = namespace_of(d.points)
    center = float(d._center[0])
    breaks = xp.asarray(panels(d), device=device(d.points))

    def moments(x: Array) -> Array:
        p = xp.exp(d._density(x[:, None]))
        away = x - center
        return xp.stack([p, away * p, away * away * p], axis=-1)

    mass, first, second = (float(part) for part in integrate(moments, breaks, rtol=1e-11).value)
    mean = first / mass
    place = {"dtype": xp.float64, "device": device(d.points)}
    return xp.asarray([center + mean], **place), xp.asarray([[second / mass - mean * mean]], **place)
