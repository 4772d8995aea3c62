"""Uncorrelated coordinates: one variance for all of them, or one for each."""

from abc import abstractmethod
from functools import cached_property
from numbers import Integral
from typing import Any, ClassVar, Self

from tractable.arrays.batched import diagonal_matrix, positions, zero_gain
from tractable.arrays.namespace import Array, freeze, namespace_of
from tractable.covariance.structure import (
    Covariance,
    checked_factor,
    checked_variances,
    checked_vectors,
    column_variances,
    other_dims,
)
from tractable.value import set_fields, value


class Uncorrelated(Covariance):
    """A matrix with variances on its diagonal and zeros off it."""

    @property
    @abstractmethod
    def _variances(self) -> Array:
        """The variances, (*batch, d), or (*batch, 1) where they are all the same."""

    @cached_property
    def _scales(self) -> Array:
        return namespace_of(self._variances).sqrt(self._variances)

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(self._variances.shape[:-1])

    def dense(self) -> Array:
        return diagonal_matrix(self.diagonal)

    def whiten(self, z: Array) -> Array:
        return z / self._scales

    def solve(self, z: Array) -> Array:
        return z / self._variances

    def multiply(self, z: Array) -> Array:
        return z * self._variances

    def color(self, noise: Array) -> Array:
        return noise * self._scales

    def condition(self, given: Any) -> tuple[Array, Self]:
        """See `Covariance.condition`: the others are independent of the given coordinates."""
        known = self._given(given)
        rest = other_dims(known, self.dim)
        return zero_gain(self._variances[..., 0], len(rest), len(known)), self.marginal(rest)

    def parallel(self, other: Covariance) -> Covariance:
        if not isinstance(other, Uncorrelated):
            return other.parallel(self)
        a, b = self._variances, other._variances  # noqa: SLF001
        xp = namespace_of(a, b)
        small, large = xp.minimum(a, b), xp.maximum(a, b)
        return self._beside(other, small / (1.0 + small / large))  # within the range of a and b

    def __add__(self, other: Any) -> Covariance:
        if not isinstance(other, Uncorrelated):
            return NotImplemented
        return self._beside(other, self._variances + other._variances)

    def _beside(self, other: "Uncorrelated", variances: Array) -> Covariance:
        """Return the structure of variances found from those of two: isotropic if both are."""
        self._check_dim(other)
        if isinstance(self, Isotropic) and isinstance(other, Isotropic):
            return Isotropic(variance=variances[..., 0], dim=self.dim)
        return Diagonal(variances=variances)


@value
class Isotropic(Uncorrelated):
    """An isotropic covariance matrix: one variance for all columns.

    Σ = variance · I: spheres.

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
        dim: Any = self.dim
        if isinstance(dim, bool) or not isinstance(dim, Integral) or dim < 1:
            raise ValueError(f"dim must be a positive integer, got {dim!r}")
        set_fields(self, dim=int(dim), variance=checked_variances("variance", self.variance))

    @classmethod
    def from_moments(cls, moments: Any, ddof: float = 0.0) -> Self:
        """See `Covariance.from_moments`: the mean of the columns' variances."""
        variances = column_variances(moments, ddof)
        return cls(variance=namespace_of(variances).mean(variances, axis=-1), dim=int(variances.shape[-1]))

    @property
    def _variances(self) -> Array:
        return self.variance[..., None]

    @cached_property
    def diagonal(self) -> Array:
        xp = namespace_of(self.variance)
        return freeze(xp.broadcast_to(self._variances, (*self.batch_shape, self.dim)))

    @property
    def log_det(self) -> Array:
        return self.dim * namespace_of(self.variance).log(self.variance)

    @property
    def n_free(self) -> int:
        """One variance."""
        return 1

    def marginal(self, dims: Any) -> Self:
        return type(self)(variance=self.variance, dim=len(self._dims(dims)))

    def scaled(self, factor: Any) -> Self:
        return type(self)(variance=self.variance * checked_factor(factor, self.variance, 0), dim=self.dim)


@value
class Diagonal(Uncorrelated):
    """A diagonal covariance matrix.

    Σ = diag(variances): uncorrelated coordinates, cost linear in their number.

    Parameters
    ----------
    variances : array (*batch, d)
        The variance of each coordinate; positive.

    Examples
    --------
    >>> import numpy as np
    >>> float(Diagonal(variances=[4.0, 0.25]).mahalanobis(np.array([2.0, 1.0])))
    5.0
    """

    _ndims: ClassVar[dict[str, int]] = {"variances": 1}

    variances: Array

    def __post_init__(self) -> None:
        set_fields(self, variances=checked_vectors("variances", self.variances))

    @classmethod
    def from_moments(cls, moments: Any, ddof: float = 0.0) -> Self:
        return cls(variances=column_variances(moments, ddof))

    @property
    def dim(self) -> int:
        return int(self.variances.shape[-1])

    @property
    def diagonal(self) -> Array:
        return self.variances

    _variances = diagonal

    @property
    def log_det(self) -> Array:
        xp = namespace_of(self.variances)
        return xp.sum(xp.log(self.variances), axis=-1)

    @property
    def n_free(self) -> int:
        """One variance a coordinate."""
        return self.dim

    def marginal(self, dims: Any) -> Self:
        xp = namespace_of(self.variances)
        return type(self)(
            variances=xp.take(self.variances, positions(self._dims(dims), self.variances), axis=-1)
        )

    def scaled(self, factor: Any) -> Self:
        return type(self)(variances=self.variances * checked_factor(factor, self.variances, 1))
