"""The distribution of a sample, smoothed: a window on every point."""

import math
from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of, to_numpy
from tractable.arrays.random import as_generator, moved
from tractable.arrays.special import log_sum_exp
from tractable.covariance import Covariance, other_dims, resolve_dims
from tractable.covariance.rows import as_reals, matvec
from tractable.distributions.distribution import Distribution, Univariate, as_count
from tractable.distributions.expectation import expectation
from tractable.distributions.smoothed.folded_domain import FoldedDomain, as_domain, as_ends
from tractable.distributions.smoothed.parts import (
    REACH,
    REACH_OF_OTHERS,
    Lengths,
    Unsettled,
    as_bandwidth,
    as_lengths,
    as_mixture,
    as_sample,
    as_squared,
    corners,
    folded_density,
    folded_moments,
    panels,
    put_back,
    weighted_means,
)
from tractable.distributions.vectors import as_names, as_values, over_observed, split_mapping, taken
from tractable.engines.roots import increasing_root
from tractable.smoothing import WINDOWS, Window, WindowSums, check_window
from tractable.value import replace, value

__all__ = ["SmoothedDensity", "SmoothedEmpirical", "UnivariateSmoothedEmpirical"]

# ruff: noqa: SLF001  (smoothed samples of one kind ask each other)


#: How many draws the entropy and the divergence of vectors average over, unless told.
N_DRAWS = 65_536


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


@value
class SmoothedEmpirical(SmoothedDensity):
    """p(x) = Σ_i w_i K_h(x - x_i) / Σ_i w_i: the kernel density estimate, as a distribution.

    It is the convolution of the sample with the window. A sample of numbers is made as a
    `UnivariateSmoothedEmpirical`, which has `cdf`, `icdf` and `interval` too. Densities keep eleven digits at
    any distance from the sample; `evaluation` says which way they are summed.

    Parameters
    ----------
    points : array (n, d) or (n,)
        Those of weight zero are dropped; coordinates of a period are brought into the first.
    bandwidth : float, array (d,), array (d, d) or Covariance
        Lengths: one, or one a coordinate. A matrix, or a structure, is squared: the covariance of a Gaussian
        window.
    weights : array (n,), optional
        How often each point counts; once when not given.
    window : str, Window or callable
        A name of `tractable.smoothing.WINDOWS`, or what `tractable.smoothing.check_window` accepts.
    bounds : pair, or one pair (or None) a coordinate, optional
        (low, high), either of which may be infinite or None: mass beyond a wall is reflected at it.
    period : number or pair, or one (or None) a coordinate, optional
        (low, high), or the length of a period from zero: mass beyond an end begins again at the other.
        Within bounds or a period, moments of vectors need a Gaussian window; all windows score and draw.
    names : sequence of str, optional
        What the coordinates are called.

    Examples
    --------
    >>> d = SmoothedEmpirical(points=[[0.0, 0.0], [2.0, 1.0]], bandwidth=0.5)
    >>> d.prob([[0.0, 0.0], [1.0, 0.5]]).round(4), d.variance
    (array([0.3183, 0.0523]), array([1.25, 0.5 ]))
    >>> d.condition([0], [2.0]).mean.round(3)
    array([1.])
    >>> positive = SmoothedEmpirical(points=[0.1, 0.2, 0.4], bandwidth=0.2, bounds=(0.0, np.inf))
    >>> float(positive.cdf(0.0)), float(positive.prob(-0.1))
    (0.0, 0.0)
    """

    _event_ndim: ClassVar[int] = 1

    points: Array
    bandwidth: Any
    weights: Array
    window: Any
    bounds: Any
    period: Any
    names: tuple[str, ...] | None

    def __new__(cls, *, points: Any, **_: Any) -> "SmoothedEmpirical":
        """Make a sample of numbers a `UnivariateSmoothedEmpirical`."""
        from tractable.distributions.smoothed.smoothed import UnivariateSmoothedEmpirical

        numbers = cls is SmoothedEmpirical and as_reals("points", points).ndim == 1
        return super().__new__(UnivariateSmoothedEmpirical if numbers else cls)

    def __init__(
        self,
        *,
        points: Any,
        bandwidth: Any,
        weights: Any = None,
        window: Any = "gaussian",
        bounds: Any = None,
        period: Any = None,
        names: Iterable[str] | None = None,
    ) -> None:
        x, w = as_sample(points, weights, period, 1 + self._event_ndim)
        dim = x.shape[1] if x.ndim == 2 else None
        found = {
            "points": x,
            "bandwidth": as_bandwidth(bandwidth, x),
            "weights": w,
            "window": window if isinstance(window, (str, Window)) else check_window(window),
            "bounds": as_ends("bounds", bounds, dim),
            "period": as_ends("period", period, dim),
            "names": None if dim is None else as_names(names, dim),
        }
        for name, given in found.items():
            object.__setattr__(self, name, given)
        check_window(window)
        self._check_domain()

    @property
    def evaluation(self) -> str:
        """How densities are summed: by a transform, running totals, two passes, a tree, or directly."""
        return self._sums.path

    @property
    def evaluation_error(self) -> float:
        """How far a density may be from the exact sum, as a share of it, within nine bandwidths of a point.

        What the way of summing is certified to leave out, and the rounding of differences: numbers are
        subtracted before they are divided by the bandwidth; vectors are measured from their median in units
        of the bandwidth, of which the farthest says how many digits are left.
        """
        return self._sums.tolerance + self._rounding

    @property
    def support(self) -> tuple[Any, Any]:
        """Least and greatest value of each coordinate."""
        xp, kept = namespace_of(self.points), self._rows
        margin = self._window.support * self._widths
        low, high = xp.min(kept, axis=0) - margin, xp.max(kept, axis=0) + margin
        if self._domain is not None:
            place = {"dtype": low.dtype, "device": device(low)}
            least, most = (xp.asarray(e, **place) for e in (self._domain.low, self._domain.high))
            # A window that is reflected or that begins again may fill the domain.
            low = xp.where(least > -xp.inf, least, low)
            high = xp.where(most < xp.inf, most, high)
        return self._as_given(low), self._as_given(high)

    @property
    def mean(self) -> Array:
        """See `Distribution.mean`."""
        return self._as_given(self._moments[0])

    @property
    def variance(self) -> Array:
        """See `Distribution.variance`: that of the sample and that of the window."""
        return self._as_given(namespace_of(self.points).linalg.diagonal(self._moments[1]))

    @property
    def covariance(self) -> Array:
        """That of the sample and that of the window, (d, d)."""
        return namespace_of(self.points).astype(self._moments[1], self.points.dtype)

    @property
    def mode(self) -> Array:
        """See `Distribution.mode`: the highest that is found by climbing from the densest points."""
        from tractable.distributions.smoothed.modes import highest

        return self._as_given(highest(self))

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`; with a Gaussian window a missing entry (NaN) is integrated out."""
        x = self._event(x)
        xp = namespace_of(x)
        shape = tuple(x.shape[: x.ndim - len(self.event_shape)])
        rows = xp.reshape(x, (prod(shape), self.dim))
        found = self._scored(rows)
        return xp.reshape(xp.astype(found, self.points.dtype), shape)

    def entropy(self, *, n_samples: int | None = None, rng: Any = 0) -> Array:
        """See `Distribution.entropy`: numbers by quadrature, vectors by draws (65,536 unless told)."""
        double = self._double
        return self._as_scalar(double._expected(lambda x: -double.log_prob(x), n_samples, rng))

    def kl_divergence(self, other: Any, *, n_samples: int | None = None, rng: Any = 0) -> Array:
        """See `Distribution.kl_divergence`, found as `entropy` is; the other may be of any family."""
        if not isinstance(other, Distribution):
            raise TypeError(f"other must be a distribution, got {type(other).__name__}")
        if other.event_shape != self.event_shape:
            raise ValueError(f"other must have events of shape {self.event_shape}, got {other.event_shape}")

        p, q = self._double, other._double if isinstance(other, SmoothedEmpirical) else other

        def ratio(x: Array) -> Array:
            ours = p.log_prob(x)
            xp = namespace_of(ours)
            some = ours > -xp.inf
            none = xp.zeros_like(ours)
            return xp.where(some, ours, none) - xp.where(some, q.log_prob(x), none)

        found = self._as_scalar(p._expected(ratio, n_samples, rng))
        return namespace_of(found).where(found < 0, 0.0 * found, found)

    def marginal(self, dims: Any) -> "SmoothedEmpirical":
        """Return p(x_dims): with a Gaussian window the smoothed sample of those columns."""
        keep = resolve_dims(dims, self.dim, self.names)
        self._check_gaussian("marginal", alone=len(keep) == self.dim == 1)
        return SmoothedEmpirical(
            points=taken(self.points, keep),
            bandwidth=self._bandwidth_of(self._scale.marginal(keep)),
            weights=self.weights,
            window=self.window,
            **self._named(keep),
        )

    def condition(self, dims: Any, values: Any = None) -> Distribution:
        """Return p(x_rest | x_dims = values): points weighted by how they explain the values.

        With a Gaussian window. Several values at once give a batch of mixtures of normals, which are the same
        distributions.

        Parameters
        ----------
        dims : positions, names, a slice, or a mapping of names or positions to values
        values : array (*batch, len(dims))
        """
        if isinstance(dims, Mapping):
            dims, values = split_mapping(dims, values, self.points[0, :])
        given = resolve_dims(dims, self.dim, self.names)
        values = as_values(values, given, self.points)
        if not given and values.ndim == 1:
            return self
        self._check_gaussian("condition")
        rest = other_dims(given, self.dim)
        gain, scale = self._scale.condition(given)
        xp = namespace_of(self.points)
        logs = self._log_explained(given, values)
        weights = xp.exp(logs - log_sum_exp(logs)[..., None])
        points, named = taken(self.points, rest), self._named(rest)
        if not isinstance(scale, Lengths):
            points = points + matvec(gain, values[..., None, :] - taken(self.points, given))
        if values.ndim > 1:
            return as_mixture(points, self.structure.condition(given)[1], weights, named, self._domain)
        h = self._bandwidth_of(scale)
        return SmoothedEmpirical(points=points, bandwidth=h, weights=weights, window=self.window, **named)

    def as_univariate(self) -> Any:
        """Return vectors of one coordinate as numbers, which have `cdf`, `icdf` and `interval`."""
        if self.dim != 1:
            raise ValueError(f"as_univariate needs one coordinate, and there are {self.dim}")
        return self._univariate

    @cached_property
    def _univariate(self) -> Any:
        given = {"bounds": self.bounds, "period": self.period}
        return SmoothedEmpirical(
            points=self.points[:, 0],
            bandwidth=self._bandwidth_of(self._scale)[0],
            weights=self.weights,
            window=self.window,
            **{name: None if end is None else end[0] for name, end in given.items()},
        )

    def _bandwidth_of(self, scale: Any) -> Any:
        """Return lengths, or a structure, as this was given its own."""
        xp = namespace_of(self.points)
        return xp.astype(scale.each, self.points.dtype) if isinstance(scale, Lengths) else scale

    def __getitem__(self, index: Any) -> Self:
        if index not in ((), Ellipsis):
            raise IndexError(f"{type(self).__name__} has no batch to take {index!r} of")
        return self

    def _sample(self, n: int, rng: Any) -> Array:
        rng = as_generator(rng)
        total = np.cumsum(to_numpy(self.weights).astype(np.float64))
        chosen = np.searchsorted(total, rng.random(n) * total[-1], side="right")
        xp = namespace_of(self.points)
        noise = moved(self._window.sample(n, self.dim, rng), self._rows)
        index = xp.asarray(np.minimum(chosen, len(total) - 1), device=device(self.points))
        found = xp.take(self._rows, index, axis=0) + self._scale.color(noise)
        found = found if self._domain is None else self._domain.fold(found)
        return self._as_given(found)

    def _expected(self, f: Callable[[Array], Array], n_samples: int | None, rng: Any) -> Array:
        x = self.sample(N_DRAWS if n_samples is None else as_count(n_samples), rng=rng)
        return namespace_of(x).mean(f(x))

    @cached_property
    def _double(self) -> Self:
        """The same in double precision, where integrals settle."""
        xp = namespace_of(self.points)
        if self.points.dtype == xp.float64:
            return self
        exact = {name: xp.astype(getattr(self, name), xp.float64) for name in ("points", "weights")}
        if not isinstance(self.bandwidth, Covariance):
            exact["bandwidth"] = xp.astype(self.bandwidth, xp.float64)
        return replace(self, **exact)

    def _as_scalar(self, x: Array) -> Array:
        return namespace_of(x).astype(x, self.points.dtype)

    def _named(self, dims: tuple[int, ...]) -> dict[str, Any]:
        parts = {"bounds": self.bounds, "period": self.period, "names": self.names}
        return {name: None if part is None else tuple(part[i] for i in dims) for name, part in parts.items()}


# ruff: noqa: SLF001  (smoothed samples of one kind ask each other)


#: The points whose median is taken for that of all.
_MEDIAN_OF = 4096


def _median(x: np.ndarray, weights: np.ndarray) -> float:
    order = np.argsort(x)
    total = np.cumsum(weights[order])
    return float(x[order[np.searchsorted(total, 0.5 * total[-1])]])


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
