"""Covariance structures: the names they share."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tractable.arrays.namespace import Array, as_float_array, namespace_of
from tractable.covariance.dims import resolve_dims
from tractable.covariance.rows import as_reals, batch_index, one_vectors
from tractable.value import parameters

__all__ = ["Covariance", "as_structure"]


class Covariance(ABC):
    """A symmetric positive definite matrix, or a batch of them, that knows its own structure.

    Vectors stand on the last axis and batches in front, ``(..., *batch_shape, dim)``, with broadcasting.
    Every method equals what one would do with :meth:`dense`; the structure only makes it cheaper.
    """

    #: How many axes of each parameter are not batch axes.
    _ndims: ClassVar[dict[str, int]]

    if TYPE_CHECKING:  # a field of some structures, a property of others

        @property
        def dim(self) -> int:
            """Number of rows of each matrix."""

    @property
    @abstractmethod
    def batch_shape(self) -> tuple[int, ...]:
        """Shape of the batch of matrices; empty for one matrix."""

    @property
    @abstractmethod
    def diagonal(self) -> Array:
        """The variances, (*batch, d)."""

    @property
    @abstractmethod
    def log_det(self) -> Array:
        """Logarithm of the determinant, (*batch,)."""

    @property
    @abstractmethod
    def n_free(self) -> int:
        """Number of free parameters of one matrix."""

    @property
    def noise_dim(self) -> int:
        """How many independent standard normals :meth:`color` takes for one vector."""
        return self.dim

    @abstractmethod
    def dense(self) -> Array:
        """Return the matrices as an array, (*batch, d, d)."""

    @abstractmethod
    def whiten(self, z: Array) -> Array:
        """Return W z with WᵀW = Σ⁻¹: vectors of covariance Σ come out with covariance I."""

    @abstractmethod
    def solve(self, z: Array) -> Array:
        """Return Σ⁻¹ z."""

    @abstractmethod
    def multiply(self, z: Array) -> Array:
        """Return Σ z."""

    @abstractmethod
    def color(self, noise: Array) -> Array:
        """Return R e with RRᵀ = Σ: standard normals (..., noise_dim) come out with covariance Σ."""

    @abstractmethod
    def marginal(self, dims: Any) -> Self:
        """Return the structure of some of the coordinates, in the order given."""

    @abstractmethod
    def condition(self, given: Any) -> tuple[Array, Self]:
        """Return the gain Σ_rg Σ_gg⁻¹ and the structure Σ_rr - Σ_rg Σ_gg⁻¹ Σ_gr of the rest given some."""

    @abstractmethod
    def scaled(self, factor: Any) -> Self:
        """Return c Σ for positive numbers c, (*batch,)."""

    @classmethod
    @abstractmethod
    def from_moments(cls, moments: Any, ddof: float = 0.0) -> Self:
        """Return the maximum likelihood structure of data; ddof=1 corrects the bias of an unknown mean."""

    def mahalanobis(self, z: Array, center: Array | None = None) -> Array:
        """Return the squared length of the whitened z - center, zᵀ Σ⁻¹ z, over the last axis."""
        white = self.whiten(z if center is None else z - center)
        return namespace_of(white).sum(white * white, axis=-1)

    def root(self, n_batch: int = 0) -> Array:
        """Return vectors r_j with Σ = Σ_j r_j r_jᵀ, one a standard normal, (noise_dim, *batch, d).

        Where another structure with `n_batch` axes will take them, at least so many axes stand in the middle.
        """
        n_batch = max(n_batch, len(self.batch_shape))
        return self.color(one_vectors(self.noise_dim, n_batch, self.diagonal))

    def precision(self) -> Array:
        """Return Σ⁻¹ as an array, (*batch, d, d)."""
        xp = namespace_of(self.diagonal)
        inverse = xp.moveaxis(self.solve(one_vectors(self.dim, len(self.batch_shape), self.diagonal)), 0, -1)
        return 0.5 * (inverse + xp.matrix_transpose(inverse))

    def affine(self, A: Array) -> "Covariance":
        """Return the covariance A Σ Aᵀ of A x, a :class:`Full` structure; A is (*batch, m, d)."""
        from tractable.covariance.full import Full

        xp = namespace_of(A, self.diagonal)
        mapped = as_float_array(A, xp) @ xp.moveaxis(self.root(), 0, -1)
        return Full(matrix=mapped @ xp.matrix_transpose(mapped))

    def parallel(self, other: "Covariance") -> "Covariance":
        """Return (Σ₁⁻¹ + Σ₂⁻¹)⁻¹, the covariance of a product of two Gaussian densities."""
        from tractable.covariance.full import Full

        return Full(matrix=self.dense()).parallel(other)

    def expand(self, batch_shape: tuple[int, ...]) -> Self:
        """Return the same matrices repeated to a batch shape."""
        return self._each(
            lambda x, n: namespace_of(x).broadcast_to(x, batch_shape + tuple(x.shape[x.ndim - n :]))
        )

    def __getitem__(self, index: Any) -> Self:
        """Return some of the batch."""
        whole = self.expand(self.batch_shape)
        return whole._each(lambda x, n: x[batch_index(index, n)])  # noqa: SLF001

    def _each(self, change: Callable[[Array, int], Array]) -> Self:
        """Rebuild with every array parameter changed, given the array and how many axes are not batch."""
        given = parameters(self)
        return type(self)(
            **{k: change(x, self._ndims[k]) if k in self._ndims else x for k, x in given.items()}
        )

    def __add__(self, other: Any) -> "Covariance":
        """Return Σ₁ + Σ₂, the covariance of a sum of independent vectors; structured where it can be."""
        return NotImplemented

    def __radd__(self, other: Any) -> "Covariance":
        return self + other

    def __reduce__(self) -> tuple[Any, ...]:
        return partial(type(self), **parameters(self)), ()

    def _check_dim(self, other: "Covariance") -> None:
        if self.dim != other.dim:
            raise ValueError(f"covariances must have the same dim, got {self.dim} and {other.dim}")

    def _dims(self, dims: Any) -> tuple[int, ...]:
        found = resolve_dims(dims, self.dim)
        if not found:
            raise ValueError("dims must name at least one coordinate")
        return found

    def _given(self, given: Any) -> tuple[int, ...]:
        found = resolve_dims(given, self.dim)
        if len(found) == self.dim:
            raise ValueError(f"dims must leave at least one of the {self.dim} coordinates free")
        return found


def as_structure(covariance: Any, like: Array | None = None) -> Covariance:
    """Return a structure as it is, and a matrix (*batch, d, d) as :class:`Full`.

    Examples
    --------
    >>> as_structure([[2.0, 0.0], [0.0, 1.0]]).dim
    2
    """
    from tractable.covariance.full import Full

    if isinstance(covariance, Covariance):
        return covariance
    return Full(matrix=covariance if like is None else _in_the_library_of(like, covariance))


def _in_the_library_of(like: Any, covariance: Any) -> Array:
    covariance = as_reals("covariance", covariance)
    return as_float_array(covariance, namespace_of(covariance, like))
