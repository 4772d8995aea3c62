# ruff: noqa: SLF001  (smoothed samples of one kind ask each other)
"""Parts of smoothed samples: bandwidths, moments, and conditionals as mixtures."""

import math
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, device, freeze, namespace_of
from tractable.arrays.special import erfc
from tractable.covariance import Covariance, Diagonal, Full, Isotropic
from tractable.distributions.checks import check_finite, check_nonnegative, check_positive
from tractable.distributions.folded_domain import FoldedDomain, in_first_period
from tractable.distributions.smoothed_breaks import panels
from tractable.engines.quadrature import integrate

__all__ = [
    "REACH",
    "REACH_OF_OTHERS",
    "as_bandwidth",
    "as_mixture",
    "as_sample",
    "as_squared",
    "folded_moments",
    "weighted_means",
]

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
    from tractable.distributions.mixture import Mixture
    from tractable.distributions.multivariate_normal import MultivariateNormal

    if domain is not None and (named["bounds"] is not None or named["period"] is not None):
        raise ValueError("values must be of one event where the other coordinates have bounds or a period")
    xp = namespace_of(points)
    points = xp.broadcast_to(points, (*weights.shape, points.shape[-1]))
    weights = xp.astype(weights / xp.sum(weights, axis=-1, keepdims=True), points.dtype)
    components = MultivariateNormal(mean=points, covariance=structure, names=named["names"])
    return Mixture(weights=weights, components=components)
