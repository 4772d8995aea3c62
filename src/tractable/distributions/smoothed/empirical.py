"""The distribution of a sample, smoothed: a window on every point."""

# ruff: noqa: SLF001  (functions below belong to the class)

from collections.abc import Callable, Iterable
from functools import cached_property, partial
from math import prod
from typing import Any, Self

import numpy as np

from tractable.arrays.batched import as_reals, matvec
from tractable.arrays.limits import LARGEST, is_squarable
from tractable.arrays.log_space import log_sum_exp
from tractable.arrays.namespace import Array, device, freeze, is_numpy_array, namespace_of, to_numpy
from tractable.arrays.random import as_generator, either_seed_name, moved
from tractable.covariance import Covariance, Diagonal, Full, Isotropic
from tractable.covariance.diagonal import Uncorrelated
from tractable.distributions import tails
from tractable.distributions.checks import as_point_weights, check_finite, check_positive
from tractable.distributions.distribution import Distribution, Univariate, as_count, numbers_only
from tractable.distributions.expectation import expectation
from tractable.distributions.laplace import coordinate_medians
from tractable.distributions.mixture import Mixture, log_ratio, normal_modes
from tractable.distributions.normal import MultivariateNormal
from tractable.distributions.probabilities import as_probabilities
from tractable.distributions.smoothed import numbers
from tractable.distributions.smoothed.domain import (
    FoldedDomain,
    as_domain,
    as_ends,
    folded_density,
    folded_moments,
    in_first_period,
    weighted_means,
)
from tractable.distributions.vectors import VectorDistribution, as_names, over_observed, taken
from tractable.engines.mode_search import pattern_modes
from tractable.smoothing import WINDOWS, Window, WindowSums, check_window
from tractable.value import replace, set_fields, value

#: How many draws the entropy and the divergence of vectors average over, by default.
N_DRAWS = 65_536

#: The points whose median is taken for that of all.
_MEDIAN_OF = 4096

#: Beyond so many bandwidths a Gaussian window, or another, holds less than a rounding of one.
_REACH, _REACH_OF_OTHERS = 9.0, 45.0

#: The densest points from which the mode is searched, and how many points are compared.
_STARTS, _LOOKED_AT = 64, 20_000

#: The most points over which Newton's method, which sums them densely, is worth its last digits.
_MOST_COMPONENTS = 2_000


@value
class SmoothedEmpirical(VectorDistribution):
    """A kernel density estimate as a distribution.

    p(x) = Σ_i w_i K_h(x - x_i) / Σ_i w_i: the kernel density estimate, as a distribution.

    It is the convolution of the sample with the window. A sample of numbers has `cdf`, `icdf`, `survival` and
    `interval` too; one of vectors has `marginal` and `condition`. Densities keep eleven digits at any
    distance from the sample; `evaluation` is the way they are summed.

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
        (low, high), either of which may be infinite or None: mass beyond a bound is reflected at it.
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
    >>> angles = SmoothedEmpirical(points=[0.1, 6.2], bandwidth=0.2, period=2 * np.pi)
    >>> float(angles.prob(0.0).round(3)), float(angles.cdf(np.pi).round(3))
    (1.795, 0.515)
    """

    points: Array
    bandwidth: Any
    weights: Array
    window: Any
    bounds: Any
    period: Any
    names: tuple[str, ...] | None

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
        x, w = _as_sample(points, weights, period)
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
        set_fields(self, **found)
        check_window(window)
        self._check_domain()

    @property
    def event_shape(self) -> tuple[int, ...]:
        return tuple(self.points.shape[1:])

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return int(prod(self.event_shape))

    @cached_property
    def structure(self) -> Covariance:
        """The squared bandwidth, the covariance of a Gaussian window."""
        return as_squared(self.bandwidth, self.dim)

    @property
    def evaluation(self) -> str:
        """How densities are summed: by a transform, running totals, two passes, a tree, or directly."""
        return self._sums.path

    @property
    def evaluation_error(self) -> float:
        """Largest relative error of a density within nine bandwidths of a point.

        What the way of summing is certified to leave out, and the rounding of differences: numbers are
        subtracted before they are divided by the bandwidth; vectors are measured from their median in units
        of the bandwidth, of which the farthest decides how many digits are left.
        """
        return self._sums.tolerance + self._rounding

    @property
    def support(self) -> tuple[Any, Any]:
        """Least and greatest value of each coordinate."""
        xp, rows = namespace_of(self.points), self._rows
        margin = self._window.support * self._widths
        low, high = xp.min(rows, axis=0) - margin, xp.max(rows, axis=0) + margin
        if self._domain is not None:
            place = {"dtype": low.dtype, "device": device(low)}
            least, most = (xp.asarray(e, **place) for e in (self._domain.low, self._domain.high))
            # A window that is reflected or that begins again may fill the domain.
            low = xp.where(least > -xp.inf, least, low)
            high = xp.where(most < xp.inf, most, high)
        return self._as_given(low), self._as_given(high)

    @property
    def mean(self) -> Array:
        return self._as_given(self._moments[0])

    @property
    def variance(self) -> Array:
        return self._as_given(namespace_of(self.points).linalg.diagonal(self._moments[1]))

    @property
    def covariance(self) -> Array:
        """That of the sample and that of the window, (d, d)."""
        return namespace_of(self.points).astype(self._moments[1], self.points.dtype)

    @property
    def mode(self) -> Array:
        """The highest mode that a search from the densest points of the sample finds."""
        return self._as_given(_highest(self))

    def log_prob(self, x: Any) -> Array:
        """See `Distribution.log_prob`; with a Gaussian window a missing entry (NaN) is integrated out."""
        x = self._event(x)
        xp = namespace_of(x)
        shape = tuple(x.shape[: x.ndim - len(self.event_shape)])
        rows = xp.reshape(x, (prod(shape), self.dim))
        found = self._scored(rows)
        return xp.reshape(xp.astype(found, self.points.dtype), shape)

    @numbers_only
    def cdf(self, x: Any) -> Array:
        """Return Σ_i w_i F((x - x_i)/h) / Σ_i w_i, accurate in the lower tail."""
        return self._of_known(partial(numbers.mass_below, self), x)

    @numbers_only
    def survival(self, x: Any) -> Array:
        """See `Univariate.survival`, accurate in the upper tail."""
        return self._of_known(partial(numbers.mass_below, self, upper=True), x)

    @numbers_only
    def icdf(self, q: Any) -> Array:
        """See `Univariate.icdf`: where the distribution function reaches q, by a guarded Newton search."""
        q = self._quantile(q)
        xp = namespace_of(q)
        found = numbers.quantiles(self, xp.reshape(xp.astype(q, xp.float64), (-1,)))
        return xp.astype(xp.reshape(found, tuple(q.shape)), self.points.dtype)

    log_cdf = numbers_only(tails.log_cdf)
    log_survival = numbers_only(tails.log_survival)
    isf = numbers_only(tails.isf)
    probability_between = numbers_only(Univariate.probability_between)
    interval = numbers_only(Univariate.interval)

    @numbers_only  # type: ignore[prop-decorator]
    @property
    def breaks(self) -> Array:
        """The points at which the density has a corner, or jumps; of a user's window, as far as is known."""
        xp = namespace_of(self.points)
        found = self._corners if not self._is_gaussian else self._corners[:0]
        return xp.asarray(found, dtype=self.points.dtype, device=device(self.points))

    @either_seed_name
    def entropy(self, *, n_samples: int | None = None, rng: Any = 0) -> Array:
        """See `Distribution.entropy`: numbers by quadrature, vectors by draws (65,536 by default)."""
        double = self._double
        return self._as_scalar(double._expected(lambda x: -double.log_prob(x), n_samples, rng))

    @either_seed_name
    def kl_divergence(self, other: Any, *, n_samples: int | None = None, rng: Any = 0) -> Array:
        """See `Distribution.kl_divergence`, found as `entropy` is; the other may be of any family.

        Parameters
        ----------
        other : Distribution
            The distribution that is compared.
        n_samples, rng
            Number of draws where it is found by them, and their seed.
        """
        self._check_events(other)
        p, q = self._double, other._double if isinstance(other, SmoothedEmpirical) else other
        found = self._as_scalar(p._expected(partial(log_ratio, p, q), n_samples, rng))
        return namespace_of(found).where(found < 0, 0.0 * found, found)

    def marginal(self, dims: Any) -> "SmoothedEmpirical":
        """Return p(x_dims): with a Gaussian window the smoothed sample of those columns."""
        keep = self._resolved(dims)
        self._check_gaussian("marginal", alone=len(keep) == self.dim == 1)
        return SmoothedEmpirical(
            points=taken(self.points, keep),
            bandwidth=self._bandwidth_of(self._scale.marginal(keep)),
            weights=self.weights,
            window=self.window,
            **self._columns_of(keep),
        )

    def condition(self, dims: Any, values: Any = None) -> Distribution:
        """Return p(x_rest | x_dims = values): points weighted by how they explain the values.

        With a Gaussian window. Several values at once give a batch of mixtures of normals, which are the same
        distributions. Arguments as of `MultivariateNormal.condition`.
        """
        given, rest, values = self._given(dims, values, self.points[0, ...])
        if not given and values.ndim == 1:
            return self
        self._check_gaussian("condition")
        gain, scale = self._scale.condition(given)
        xp = namespace_of(self.points)
        logs = self._log_explained(given, values)
        weights = xp.exp(logs - log_sum_exp(logs)[..., None])
        points, named = taken(self.points, rest), self._columns_of(rest)
        if not isinstance(scale, Uncorrelated):
            points = points + matvec(gain, values[..., None, :] - taken(self.points, given))
        if values.ndim > 1:
            return _as_mixture(points, self.structure.condition(given)[1], weights, named, self._domain)
        h = self._bandwidth_of(scale)
        return SmoothedEmpirical(points=points, bandwidth=h, weights=weights, window=self.window, **named)

    def _one_column(self) -> "SmoothedEmpirical":
        return self._univariate

    @cached_property
    def _univariate(self) -> "SmoothedEmpirical":
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
        if not isinstance(scale, Uncorrelated):
            return scale
        return xp.astype(xp.sqrt(scale.diagonal), self.points.dtype)

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
        if n_samples is None and not self.event_shape:
            return expectation(f, self).value
        x = self.sample(N_DRAWS if n_samples is None else as_count(n_samples), rng=rng)
        return namespace_of(x).mean(f(x))

    @cached_property
    def _double(self) -> Self:
        """The same distribution in double precision, for integrals."""
        xp = namespace_of(self.points)
        if self.points.dtype == xp.float64:
            return self
        exact = {name: xp.astype(getattr(self, name), xp.float64) for name in ("points", "weights")}
        if not isinstance(self.bandwidth, Covariance):
            exact["bandwidth"] = xp.astype(self.bandwidth, xp.float64)
        return replace(self, **exact)

    def _as_scalar(self, x: Array) -> Array:
        return namespace_of(x).astype(x, self.points.dtype)

    def _columns_of(self, dims: tuple[int, ...]) -> dict[str, Any]:
        parts = {"bounds": self.bounds, "period": self.period, "names": self.names}
        return {name: None if part is None else tuple(part[i] for i in dims) for name, part in parts.items()}

    @cached_property
    def _scale(self) -> Covariance:
        """The squared bandwidth in double precision, uncorrelated where it can be."""
        h = self.bandwidth
        if isinstance(h, Covariance):
            if not isinstance(h, Uncorrelated) and self.dim > 1:
                return h
            h = namespace_of(h.diagonal).sqrt(h.diagonal)
        xp = namespace_of(h)
        return as_squared(xp.astype(h, xp.float64), self.dim)

    @cached_property
    def _widths(self) -> Array:
        """The bandwidth of each coordinate, (d,)."""
        xp = namespace_of(self.points)
        return xp.astype(xp.sqrt(self._scale.diagonal), xp.float64)

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
        stride = max(1, self._rows.shape[0] // _MEDIAN_OF)
        weights = namespace_of(self._rows).astype(self.weights[::stride], self._rows.dtype)
        return coordinate_medians(self._rows[::stride, :], weights)

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
        reach = min(_REACH if self._is_gaussian else _REACH_OF_OTHERS, self._window.support)
        widths = [reach * float(h) for h in to_numpy(self._widths)]
        given = [None if end in (None, (None,)) else end for end in ends]
        return as_domain(given[0], given[1], self.dim, widths)

    @cached_property
    def _moments(self) -> tuple[Array, Array]:
        """Mean (d,) and covariance (d, d)."""
        if self._domain is not None:
            return folded_moments(self, self._domain)
        mean, scatter = weighted_means(self._rows - self._center, self._sums.weights)
        return self._center + mean, scatter + self._window.variance(self.dim) * self._scale.dense()

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
        wrapped = self._domain.wrapped(xp.where(xp.isinf(rows), xp.zeros_like(rows), rows))
        inside = self._domain.inside(wrapped) & ~xp.any(xp.isinf(rows), axis=-1)
        total = folded_density(self, wrapped)
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
        near = xp.all(xp.abs(white) < LARGEST, axis=-1)
        positions = rows if self.dim == 1 else white
        sums = self._sums.log_sums(xp.where(near[:, None], positions, self._sums.points[:1, :]))
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

    def _event(self, x: Any, name: str = "x", **options: Any) -> Array:
        return super()._event(x, name, like=self.points[0, ...])

    def _as_given(self, x: Array) -> Array:
        """Return rows (..., d) as events of the points' shape and dtype."""
        xp = namespace_of(x)
        x = xp.astype(x, self.points.dtype)
        return x if self.event_shape else x[..., 0]

    def _check_gaussian(self, what: str, *, alone: bool = False) -> None:
        if not self._is_gaussian and not alone:
            raise ValueError(f"{what} needs a gaussian window: others are not closed under it")

    def _check_domain(self) -> None:
        if (self.bounds is not None or self.period is not None) and not isinstance(self._scale, Uncorrelated):
            raise ValueError(
                "bandwidth must be a number or one a coordinate where there are bounds or a period"
            )
        domain = self._domain
        if domain is None:
            return
        inside = domain.inside(domain.wrapped(self._rows))
        if not bool(namespace_of(inside).all(inside)):
            raise ValueError("points must lie within bounds")

    def _of_known(self, function: Callable[[Array], Array], x: Any) -> Array:
        """Apply a function of doubles (m,) to events that are not NaN."""
        x = self._event(x)
        xp = namespace_of(x)
        flat = xp.reshape(xp.astype(x, xp.float64), (-1,))
        known = ~xp.isnan(flat)
        found = xp.clip(function(xp.where(known, flat, xp.zeros_like(flat))), 0.0, 1.0)
        found = xp.where(known, found, xp.full_like(found, xp.nan))
        return xp.astype(xp.reshape(found, tuple(x.shape)), self.points.dtype)

    def _tail_sums(self, x: Array, *, upper: bool) -> Array:
        return self._sums.tail_masses(x, upper=upper)

    @cached_property
    def _corners(self) -> np.ndarray:
        return numbers.corners(self)

    def _landmarks(self) -> Array:
        """Return the ends of panels about the points, and corners, at which quadrature divides the line."""
        xp = namespace_of(self.points)
        return xp.asarray(numbers.panels(self), dtype=self.points.dtype, device=device(self.points))


def _as_sample(points: Any, weights: Any, period: Any) -> tuple[Array, Array]:
    """Return the points that count, within their first period, and their weights."""
    x = as_reals("points", points)
    xp = namespace_of(x)
    if x.ndim not in (1, 2) or 0 in x.shape:
        raise ValueError(f"points must be (n, d) or (n,), not empty, got shape {tuple(x.shape)}")
    check_finite("points", x)
    w = as_point_weights(weights, x)
    if not bool(xp.all(w > 0)):
        rows = xp.nonzero(w > 0)[0]
        x, w = xp.take(x, rows, axis=0), xp.take(w, rows, axis=0)
    return freeze(in_first_period(x, period)), freeze(w)


def as_bandwidth(bandwidth: Any, points: Array) -> Any:
    """Return a length for numbers; one length, one a coordinate or a squared bandwidth for vectors."""
    dim = 1 if points.ndim == 1 else points.shape[1]
    h = bandwidth
    if points.ndim == 1 or not isinstance(bandwidth, Covariance):
        h = namespace_of(points).astype(as_reals("bandwidth", bandwidth, points), points.dtype)
        if h.ndim < points.ndim:
            if h.ndim and tuple(h.shape) != (dim,):
                raise ValueError(f"bandwidth must have {dim} entries, got shape {tuple(h.shape)}")
            check_positive("bandwidth", h)
            if not is_squarable(h):
                raise ValueError(f"bandwidth must have a square that is a number, got {bandwidth}")
            return freeze(h)
        if h.ndim != 2 or points.ndim == 1:
            raise ValueError(f"bandwidth must be one number, got shape {tuple(h.shape)}")
        try:
            h = Full(matrix=h)
        except ValueError as error:
            raise ValueError(str(error).replace("matrix", "bandwidth", 1)) from None
    if h.dim != dim or h.batch_shape or h.noise_dim != dim:
        raise ValueError(f"bandwidth must be of {dim} coordinates, and not a batch, got {h!r}")
    return h


def as_squared(bandwidth: Any, dim: int) -> Covariance:
    """Return a stored bandwidth as a covariance, where the squares of lengths are numbers."""
    if isinstance(bandwidth, Covariance):
        return bandwidth
    with np.errstate(over="ignore", under="ignore"):
        square = bandwidth * bandwidth
    try:
        return Isotropic(variance=square, dim=dim) if square.ndim == 0 else Diagonal(variances=square)
    except ValueError:
        raise ValueError(f"bandwidth must have a square that is a number, got {bandwidth}") from None


def _as_mixture(
    points: Array, structure: Covariance, weights: Array, named: dict[str, Any], domain: FoldedDomain | None
) -> Any:
    """Return a batch of conditionals as mixtures of normals, points (*batch, n, d)."""
    if domain is not None and (named["bounds"] is not None or named["period"] is not None):
        raise ValueError("values must be of one event where the other coordinates have bounds or a period")
    xp = namespace_of(points)
    points = xp.broadcast_to(points, (*weights.shape, points.shape[-1]))
    weights = xp.astype(weights / xp.sum(weights, axis=-1, keepdims=True), points.dtype)
    components = MultivariateNormal(mean=points, covariance=structure, names=named["names"])
    return Mixture(weights=weights, components=components)


def _highest(d: Any) -> Array:
    """Return the best point, (d,), that a search from the densest points of the sample leads to."""
    xp = namespace_of(d._rows)
    stride = max(1, d._rows.shape[0] // _LOOKED_AT)
    rows = d._rows[::stride, :]
    rows = xp.concat([rows, _between_edges(d, rows)], axis=0)
    order = xp.argsort(-d._density(rows), stable=True)[: min(_STARTS, rows.shape[0])]
    starts = xp.take(rows, order, axis=0)
    if d._is_gaussian and d._rows.shape[0] <= _MOST_COMPONENTS:
        found = _normal_modes(d, starts)
    else:
        eye = xp.eye(d.dim, dtype=xp.float64, device=device(starts))
        axes = xp.astype(d._scale.color(xp.concat([eye, -eye], axis=0)), xp.float64)
        found = pattern_modes(d._density, starts, axes, longest=0.5)[0]
    found = xp.concat([starts[:1, :], found], axis=0)
    found = found if d._domain is None else d._domain.fold(found)
    heights = d._density(found)
    # Of points that are equally high up to rounding, take the least of those that were searched.
    close = heights >= xp.max(heights) - 1e-13 * xp.abs(xp.max(heights)) - 1e-14
    if bool(xp.any(close[1:])):
        found, close = found[1:, :], close[1:]
    first = xp.where(close, found[:, 0], xp.full_like(found[:, 0], xp.inf))
    return found[int(xp.argmin(first)), :]


def _between_edges(d: Any, rows: Array) -> Array:
    """Return the middles between the ends of windows on a line: a box is highest between two of them."""
    xp = namespace_of(rows)
    if d.dim > 1 or np.isinf(d._window.support):
        return rows[:0, :]
    h = d._window.support * d._widths
    edges = xp.sort(xp.concat([rows - h, rows + h], axis=0), axis=0)
    middles = 0.5 * (edges[1:, :] + edges[:-1, :])
    if d._domain is not None:
        middles = d._domain.fold(middles)
    return middles


def _normal_modes(d: Any, starts: Array) -> Array:
    """Newton's method on the mixture of normals that it is, the images beyond a domain's ends included."""
    xp = namespace_of(starts)
    images = [(np.ones(d.dim), np.zeros(d.dim))] if d._domain is None else d._domain.images
    place = {"dtype": xp.float64, "device": device(starts)}
    means = [d._rows * xp.asarray(s, **place) + xp.asarray(o, **place) for s, o in images]
    weights = d._sums.weights / xp.sum(d._sums.weights) / len(images)
    mixture = Mixture(
        weights=as_probabilities(xp.concat([weights] * len(images))),
        components=MultivariateNormal(mean=xp.concat(means, axis=0), covariance=d.structure),
    )
    return normal_modes(mixture, starts)
