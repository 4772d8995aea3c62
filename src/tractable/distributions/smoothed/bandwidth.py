"""Bandwidths of smoothed samples: one length, one a coordinate, or a covariance."""

from functools import cached_property
from typing import Any

import numpy as np

from tractable.arrays.batched import as_reals, positions, zero_gain
from tractable.arrays.namespace import Array, freeze, namespace_of
from tractable.covariance import Covariance, Diagonal, Full, Isotropic, other_dims
from tractable.distributions.checks import check_positive
from tractable.value import value

__all__ = ["Lengths", "as_bandwidth", "as_lengths", "as_squared"]


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
