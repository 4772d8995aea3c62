"""Bandwidths as lengths: one a coordinate, never squared, so that any scale of data keeps its digits."""

from functools import cached_property
from typing import Any

from tractable.arrays.batched import positions, zero_gain
from tractable.arrays.namespace import Array, namespace_of
from tractable.covariance import Covariance, Diagonal, Isotropic, other_dims
from tractable.value import value

__all__ = ["Lengths", "as_lengths"]


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
