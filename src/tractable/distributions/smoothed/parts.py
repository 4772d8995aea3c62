"""Parts of smoothed samples: bandwidths, moments, and conditionals as mixtures."""

import itertools
import math
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, freeze, namespace_of, to_numpy
from tractable.arrays.special import erfc, log_sum_exp
from tractable.covariance import Covariance, Diagonal, Full, Isotropic, other_dims
from tractable.covariance.rows import as_reals, positions, zero_gain
from tractable.distributions.checks import check_finite, check_nonnegative, check_positive
from tractable.distributions.smoothed.folded_domain import FoldedDomain, in_first_period
from tractable.engines.quadrature import integrate
from tractable.smoothing import WINDOWS, Window
from tractable.value import value

__all__ = [
    "REACH",
    "REACH_OF_OTHERS",
    "Lengths",
    "Unsettled",
    "as_bandwidth",
    "as_lengths",
    "as_mixture",
    "as_sample",
    "as_squared",
    "corners",
    "folded_density",
    "folded_moments",
    "panels",
    "put_back",
    "weighted_means",
]

# ruff: noqa: SLF001  (smoothed samples of one kind ask each other)


#: Beyond so many bandwidths a Gaussian window, or another, holds less than a rounding of one.
REACH, REACH_OF_OTHERS = 9.0, 45.0


def as_sample(points: Any, weights: Any, period: Any, ndim: int) -> tuple[Array, Array]:
    """Return the points that count, within their first period, and their weights."""
    x = as_reals("points", points)
    xp = namespace_of(x)
    if x.ndim != ndim or 0 in x.shape:
        raise ValueError(f"points must be (n, d) or (n,), not empty, got shape {tuple(x.shape)}")
    check_finite("points", x)
    one = xp.ones_like(xp.reshape(x, (x.shape[0], -1))[:, 0])
    w = one if weights is None else xp.astype(as_reals("weights", weights, x), x.dtype)
    if tuple(w.shape) != (x.shape[0],):
        raise ValueError(f"weights must have shape ({x.shape[0]},), got {tuple(w.shape)}")
    check_nonnegative("weights", w)
    if not bool(xp.any(w > 0)):
        raise ValueError("weights must have a positive entry")
    if not bool(xp.all(w > 0)):
        kept = xp.nonzero(w > 0)[0]
        x, w = xp.take(x, kept, axis=0), xp.take(w, kept, axis=0)
    return freeze(in_first_period(x, period)), freeze(w)


def as_bandwidth(bandwidth: Any, points: Array) -> Any:
    """Return a positive number for numbers, a squared bandwidth for vectors."""
    if points.ndim == 1:
        h = as_reals("bandwidth", bandwidth, points)
        if h.ndim:
            raise ValueError(f"bandwidth must be one number, got shape {tuple(h.shape)}")
        check_positive("bandwidth", h)
        return freeze(namespace_of(points).astype(h, points.dtype))
    dim = points.shape[1]
    found = bandwidth if isinstance(bandwidth, Covariance) else _as_lengths(bandwidth, points, dim)
    if isinstance(found, Covariance) and (found.dim != dim or found.batch_shape or found.noise_dim != dim):
        raise ValueError(f"bandwidth must be of {dim} coordinates, and not a batch, got {found!r}")
    return found


def _as_lengths(bandwidth: Any, points: Array, dim: int) -> Any:
    """Return one length or one a coordinate as an array, and a matrix as a structure."""
    h = as_reals("bandwidth", bandwidth, points)
    h = namespace_of(points).astype(h, points.dtype)
    if h.ndim == 2:
        try:
            return Full(matrix=h)
        except ValueError as error:
            raise ValueError(str(error).replace("matrix", "bandwidth", 1)) from None
    check_positive("bandwidth", h)
    if h.ndim and tuple(h.shape) != (dim,):
        raise ValueError(f"bandwidth must have {dim} entries, got shape {tuple(h.shape)}")
    return freeze(h)


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


def weighted_means(x: Array, weights: Array) -> tuple[Array, Array]:
    """Return the mean and the covariance of weighted rows, in two passes."""
    share = weights / namespace_of(weights).sum(weights)
    mean = share @ x
    away = x - mean
    with np.errstate(over="ignore", under="ignore"):
        return mean, (away * share[:, None]).T @ away


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
    share = d._sums.weights / xp.sum(d._sums.weights)
    within = xp.stack([share @ variance for _, variance in columns])
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


def as_mixture(
    points: Array, structure: Covariance, weights: Array, named: dict[str, Any], domain: FoldedDomain | None
) -> Any:
    """Return a batch of conditionals as mixtures of normals, points (*batch, n, d)."""
    from tractable.distributions.mixture.mixture import Mixture
    from tractable.distributions.multivariate_normal import MultivariateNormal

    if domain is not None and (named["bounds"] is not None or named["period"] is not None):
        raise ValueError("values must be of one event where the other coordinates have bounds or a period")
    xp = namespace_of(points)
    points = xp.broadcast_to(points, (*weights.shape, points.shape[-1]))
    weights = xp.astype(weights / xp.sum(weights, axis=-1, keepdims=True), points.dtype)
    components = MultivariateNormal(mean=points, covariance=structure, names=named["names"])
    return Mixture(weights=weights, components=components)


@value
class Lengths:
    """A window stretched along the axes, with the verbs of a `Covariance` that smoothed samples use.

    Examples
    --------
    >>> import numpy as np
    >>> Lengths(each=np.array([1e-200, 2.0])).whiten(np.array([3e-200, 1.0]))
    array([3. , 0.5])
    """

    each: Array  # (d,)

    @property
    def dim(self) -> int:
        """Number of coordinates."""
        return int(self.each.shape[0])

    @cached_property
    def log_det(self) -> Array:
        """Twice the log of the volume that a unit window is stretched to."""
        xp = namespace_of(self.each)
        return 2.0 * xp.sum(xp.log(self.each))

    def whiten(self, z: Array) -> Array:
        """Return steps (..., d) in units of the bandwidth."""
        return z / self.each

    def color(self, noise: Array) -> Array:
        """Return steps in units of the data."""
        return noise * self.each

    def mahalanobis(self, z: Array) -> Array:
        """Return the squared length of steps in units of the bandwidth."""
        white = self.whiten(z)
        return namespace_of(white).sum(white * white, axis=-1)

    def marginal(self, dims: Any) -> "Lengths":
        """Return the lengths of some coordinates."""
        xp = namespace_of(self.each)
        return Lengths(each=xp.take(self.each, positions(dims, self.each)))

    def condition(self, given: Any) -> tuple[Array, "Lengths"]:
        """Return no gain, and the lengths of the other coordinates."""
        rest = other_dims(given, self.dim)
        return zero_gain(self.each[0], len(rest), len(given)), self.marginal(rest)


def as_lengths(bandwidth: Any, dim: int) -> Lengths | None:
    """Return the lengths that a stored bandwidth is, in double precision; None of one with correlations."""
    if isinstance(bandwidth, Covariance):
        if not isinstance(bandwidth, (Isotropic, Diagonal)) and dim > 1:
            return None
        each = namespace_of(bandwidth.diagonal).sqrt(bandwidth.diagonal)
    else:
        each = bandwidth
    xp = namespace_of(each)
    each = xp.astype(each, xp.float64)
    return Lengths(each=xp.broadcast_to(each[None] if each.ndim == 0 else each, (dim,)))


# ruff: noqa: SLF001  (parts of smoothed samples ask them)


#: The most corners, and the most panels, that quadrature begins with.
_MOST = 4000

#: How many panels lie about those that hold points: nearly all mass of any window that has a rule for it.
_BESIDE = np.array([-32, -16, -8, -4, -3, -2, -1, 0, 1, 2, 3, 4, 8, 16, 32])

#: Where known windows have corners, or jumps, in units of the bandwidth.
_CORNERS = {"gaussian": (), "laplace": (0.0,), "triangular": (-1.0, 0.0, 1.0)}


def corners(d: Any) -> np.ndarray:
    """Return where a density of numbers has a corner or jumps, in order; of users' windows, what is known."""
    window: Window = d._window
    if WINDOWS.get(window.name) is window:
        places = _CORNERS.get(window.name, (-1.0, 1.0))
    else:
        places = (0.0,) if math.isinf(window.support) else (-window.support, 0.0, window.support)
    steps = np.asarray(places) * float(d._widths[0])
    return _folded(d, (to_numpy(d._rows)[:, :1] + steps).ravel())


def panels(d: Any) -> np.ndarray:
    """Return the ends of panels, two bandwidths wide about the points, and the corners where they are few."""
    x, width = to_numpy(d._rows)[:, 0], 2.0 * float(d._widths[0])
    start = float(x.min())
    held = np.unique(np.floor((x - start) / width))
    ends = np.unique(held[:, None] + np.append(_BESIDE, 5))
    ends = ends[:: math.ceil(len(ends) / _MOST)]
    found, known = start + width * ends, corners(d)
    found = _folded(d, np.append(found, [start, float(x.max())]))
    return np.unique(np.append(found, known)) if len(known) <= _MOST else found


def _folded(d: Any, x: np.ndarray) -> np.ndarray:
    """Bring places into the domain, with the walls that they reach."""
    if d._domain is None:
        low, high = (to_numpy(end).reshape(()) for end in d.support)
        return np.unique(np.clip(x, low, high))
    inside = np.unique(to_numpy(d._domain.fold(x[:, None]))[:, 0])
    ends = np.array([d._domain.low[0], d._domain.high[0]])
    reached = [d._domain.wraps[0] or np.any(x <= ends[0]), d._domain.wraps[0] or np.any(x >= ends[1])]
    return np.unique(np.append(inside, ends[np.array(reached)]))


class Unsettled:
    """A function and its slope at every entry, for `increasing_root`: asked only where an entry still moves.

    An entry that came back within its rounding is found: its value is zero from then on.

    Parameters
    ----------
    function : callable
        ``function(x, level)`` returns values and slopes, entry by entry.
    levels : array (m,)

    Examples
    --------
    >>> import numpy as np
    >>> from tractable.engines.roots import increasing_root
    >>> square = Unsettled(lambda x, q: (x * x - q, 2.0 * x), np.array([4.0, 9.0]))
    >>> increasing_root(square, np.array([0.0, 0.0]), np.array([10.0, 10.0]))
    array([2., 3.])
    """

    def __init__(self, function: Callable[[Array, Array], tuple[Array, Array]], levels: Array) -> None:
        self.function, self.levels = function, levels
        self.last: Array = None

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Return values and slopes; zero and one where the entry did not move."""
        xp = namespace_of(x)
        if self.last is None:
            self.last = x
            return self.function(x, self.levels)
        moves = xp.abs(x - self.last) > 2.0 * xp.finfo(x.dtype).eps * xp.abs(x)
        self.last = x
        value, slope = xp.zeros_like(x), xp.ones_like(x)
        if not bool(xp.any(moves)):
            return value, slope
        found = self.function(*(xp.take(part, xp.nonzero(moves)[0]) for part in (x, self.levels)))
        return put_back(moves, found[0], value), put_back(moves, found[1], slope)


def put_back(some: Array, found: Array, others: Array) -> Array:
    """Return `others` (m,) with what was found of some entries, in their order, in their places.

    Examples
    --------
    >>> import numpy as np
    >>> put_back(np.array([False, True, True]), np.array([5.0, 6.0]), np.zeros(3))
    array([0., 5., 6.])
    """
    xp = namespace_of(others)
    if found.shape[0] == 0:
        return others
    place = xp.cumulative_sum(xp.astype(some, xp.int64)) - 1
    return xp.where(some, xp.take(found, xp.where(some, place, xp.zeros_like(place))), others)


# ruff: noqa: SLF001  (parts of smoothed samples ask them)


#: The log of less than a rounding of one.
_NOTHING = -39.0

#: Pairs of a query and a point that are held at a time.
_PAIRS = 2**20


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
