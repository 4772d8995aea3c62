"""One variance for every direction."""

from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, Self

from tractable.arrays.batched import diagonal_matrix, zero_gain
from tractable.arrays.namespace import Array, freeze, namespace_of
from tractable.covariance.structure import (
    Covariance,
    checked_factor,
    checked_variances,
    column_variances,
    other_dims,
)
from tractable.value import value

__all__ = ["Isotropic"]


@value
class Isotropic(Covariance):
    """Σ = variance · I: spheres.

    Parameters
    ----------
    variance : array (*batch,)
        The variance of every coordinate; positive.
    dim : int
        Number of coordinates.

    Examples
    --------
    >>> Isotropic(variance=4.0, dim=2).dense()
    array([[4., 0.],
           [0., 4.]])
    """

    _ndims: ClassVar[dict[str, int]] = {"variance": 0}

    variance: Array
    dim: int

    def __post_init__(self) -> None:
        object.__setattr__(self, "dim", _checked_dim(self.dim))
        object.__setattr__(self, "variance", checked_variances("variance", self.variance))

    @classmethod
    def from_moments(cls, moments: Any, ddof: float = 0.0) -> Self:
        """See `Covariance.from_moments`: the mean of the columns' variances."""
        variances = column_variances(moments, ddof)
        return cls(variance=namespace_of(variances).mean(variances, axis=-1), dim=int(variances.shape[-1]))

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(self.variance.shape)

    @cached_property
    def diagonal(self) -> Array:
        return freeze(self._repeated(self.dim))

    @property
    def log_det(self) -> Array:
        return self.dim * namespace_of(self.variance).log(self.variance)

    @property
    def n_free(self) -> int:
        """One variance."""
        return 1

    @cached_property
    def _scale(self) -> Array:
        return namespace_of(self.variance).sqrt(self.variance)[..., None]

    def dense(self) -> Array:
        return diagonal_matrix(self.diagonal)

    def whiten(self, z: Array) -> Array:
        return z / self._scale

    def solve(self, z: Array) -> Array:
        return z / self.variance[..., None]

    def multiply(self, z: Array) -> Array:
        return z * self.variance[..., None]

    def color(self, noise: Array) -> Array:
        return noise * self._scale

    def marginal(self, dims: Any) -> Self:
        return type(self)(variance=self.variance, dim=len(self._dims(dims)))

    def condition(self, given: Any) -> tuple[Array, Self]:
        """See `Covariance.condition`: knowing some coordinates says nothing about the others."""
        known = self._given(given)
        rest = len(other_dims(known, self.dim))
        return zero_gain(self.variance, rest, len(known)), type(self)(variance=self.variance, dim=rest)

    def scaled(self, factor: Any) -> Self:
        return type(self)(variance=self.variance * checked_factor(factor, self.variance, 0), dim=self.dim)

    def parallel(self, other: Covariance) -> Covariance:
        if not isinstance(other, Isotropic):
            return other.parallel(self)
        self._check_dim(other)
        return Isotropic(variance=in_parallel(self.variance, other.variance), dim=self.dim)

    def __add__(self, other: Any) -> Covariance:
        if not isinstance(other, Isotropic):
            return NotImplemented
        self._check_dim(other)
        return Isotropic(variance=self.variance + other.variance, dim=self.dim)

    def _repeated(self, n: int) -> Array:
        xp = namespace_of(self.variance)
        return xp.broadcast_to(self.variance[..., None], (*self.variance.shape, n))


def _checked_dim(dim: Any) -> int:
    if isinstance(dim, bool) or not isinstance(dim, Integral) or dim < 1:
        raise ValueError(f"dim must be a positive integer, got {dim!r}")
    return int(dim)


def in_parallel(a: Array, b: Array) -> Array:
    """Return 1 / (1/a + 1/b), without leaving the range of a and b."""
    xp = namespace_of(a, b)
    small, large = xp.minimum(a, b), xp.maximum(a, b)
    return small / (1.0 + small / large)
