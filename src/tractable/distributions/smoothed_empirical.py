# ruff: noqa: SLF001  (smoothed samples of one kind ask each other)
"""The distribution of a sample, smoothed: a window on every point."""

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Self

import numpy as np

from tractable.arrays.batched import as_reals, matvec
from tractable.arrays.namespace import Array, device, namespace_of, to_numpy
from tractable.arrays.random import as_generator, moved
from tractable.arrays.special import log_sum_exp
from tractable.covariance import Covariance, other_dims, resolve_dims
from tractable.distributions.distribution import Distribution, as_count
from tractable.distributions.folded_domain import as_ends
from tractable.distributions.smoothed_density import SmoothedDensity
from tractable.distributions.smoothed_lengths import Lengths
from tractable.distributions.smoothed_parts import as_bandwidth, as_mixture, as_sample
from tractable.distributions.vectors import as_names, as_values, split_mapping, taken
from tractable.smoothing import Window, check_window
from tractable.value import replace, value

__all__ = ["SmoothedEmpirical"]

#: How many draws the entropy and the divergence of vectors average over, unless told.
N_DRAWS = 65_536


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
        from tractable.distributions.univariate_smoothed_empirical import UnivariateSmoothedEmpirical

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
        from tractable.distributions.smoothed_mode import highest

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
