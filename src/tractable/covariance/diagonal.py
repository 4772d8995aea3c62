"""A variance for every coordinate, and no correlation."""

from functools import cached_property
from typing import Any, ClassVar, Self

from tractable.arrays.batched import diagonal_matrix, positions, zero_gain
from tractable.arrays.namespace import Array, namespace_of
from tractable.covariance.isotropic import Isotropic, in_parallel
from tractable.covariance.structure import (
    Covariance,
    checked_factor,
    checked_vectors,
    column_variances,
    other_dims,
)
from tractable.value import value

__all__ = ["Diagonal"]


@value
class Diagonal(Covariance):
    """Σ = diag(variances): uncorrelated coordinates, cost linear in their number.

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
        object.__setattr__(self, "variances", checked_vectors("variances", self.variances))

    @classmethod
    def from_moments(cls, moments: Any, ddof: float = 0.0) -> Self:
        return cls(variances=column_variances(moments, ddof))

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(self.variances.shape[:-1])

    @property
    def dim(self) -> int:
        return int(self.variances.shape[-1])

    @property
    def diagonal(self) -> Array:
        return self.variances

    @property
    def log_det(self) -> Array:
        """See `Covariance.log_det`: Σ_i log variances_i."""
        xp = namespace_of(self.variances)
        return xp.sum(xp.log(self.variances), axis=-1)

    @property
    def n_free(self) -> int:
        """One variance a coordinate."""
        return self.dim

    @cached_property
    def _scales(self) -> Array:
        return namespace_of(self.variances).sqrt(self.variances)

    def dense(self) -> Array:
        return diagonal_matrix(self.variances)

    def whiten(self, z: Array) -> Array:
        return z / self._scales

    def solve(self, z: Array) -> Array:
        return z / self.variances

    def multiply(self, z: Array) -> Array:
        return z * self.variances

    def color(self, noise: Array) -> Array:
        return noise * self._scales

    def marginal(self, dims: Any) -> Self:
        return self._of(self._dims(dims))

    def condition(self, given: Any) -> tuple[Array, Self]:
        """See `Covariance.condition`: knowing some coordinates says nothing about the others."""
        known = self._given(given)
        rest = other_dims(known, self.dim)
        return zero_gain(self.variances[..., 0], len(rest), len(known)), self._of(rest)

    def scaled(self, factor: Any) -> Self:
        return type(self)(variances=self.variances * checked_factor(factor, self.variances, 1))

    def parallel(self, other: Covariance) -> Covariance:
        if not isinstance(other, (Isotropic, Diagonal)):
            return super().parallel(other)
        self._check_dim(other)
        return Diagonal(variances=in_parallel(self.variances, other.diagonal))

    def __add__(self, other: Any) -> Covariance:
        if not isinstance(other, (Isotropic, Diagonal)):
            return NotImplemented
        self._check_dim(other)
        return Diagonal(variances=self.variances + other.diagonal)

    def _of(self, dims: tuple[int, ...]) -> Self:
        xp = namespace_of(self.variances)
        return type(self)(variances=xp.take(self.variances, positions(dims, self.variances), axis=-1))
