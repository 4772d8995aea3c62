"""Covariance structures: the names they share."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import cached_property, partial
from operator import index
from typing import TYPE_CHECKING, Any, ClassVar, Self

from tractable.arrays.batched import as_reals, batch_index, one_vectors
from tractable.arrays.namespace import Array, as_float_array, freeze, namespace_of
from tractable.value import parameters, replace


def checked_variances(name: str, x: Any) -> Array:
    """Return finite positive numbers as a frozen array, or raise ValueError that names the parameter."""
    x = as_reals(name, x)
    xp = namespace_of(x)
    # Written so that NaN is rejected too.
    if not bool(xp.all((x > 0) & xp.isfinite(x))):
        raise ValueError(f"{name} must be positive and finite")
    return freeze(x)


def checked_vectors(name: str, x: Any) -> Array:
    """Return positive vectors (*batch, d) as a frozen array."""
    x = checked_variances(name, x)
    if x.ndim < 1 or not x.shape[-1]:
        raise ValueError(f"{name} must be (*batch, d) with d at least 1, got shape {tuple(x.shape)}")
    return x


def checked_factor(factor: Any, like: Array, n_axes: int) -> Array:
    """Return positive numbers (*batch,) with axes of one behind them, to stand beside vectors or matrices."""
    factor = checked_variances("factor", as_reals("factor", factor, like))
    return factor[(..., *(None,) * n_axes)]


def check_jitter(jitter: Any, like: Array) -> None:
    """Refuse a jitter that is not finite and at least zero."""
    xp = namespace_of(like)
    jitter = as_reals("jitter", jitter, like)
    if not bool(xp.all((jitter >= 0) & xp.isfinite(jitter))):
        raise ValueError("jitter must be finite and not negative")


def column_variances(moments: Any, ddof: float) -> Array:
    """Return the variance of each column from the moments of all columns together, or of each by itself."""
    xp = namespace_of(moments.mean)
    alone = moments.scatter.ndim == moments.mean.ndim
    scatter = moments.scatter if alone else xp.linalg.diagonal(moments.scatter)
    weight = as_reals("weight", moments.weight, scatter)
    rest = (weight if alone else weight[..., None]) - ddof
    if not bool(xp.all(rest > 0)):
        raise ValueError(f"a variance with ddof={ddof} needs a weight above {ddof}, got {moments.weight}")
    return scatter / rest


def resolve_dims(dims: Any, dim: int, names: Sequence[str] | None = None) -> tuple[int, ...]:
    """Return the positions that `dims` means among `dim` coordinates, in the order given.

    Parameters
    ----------
    dims : int, str, slice, or a sequence of ints and names
        Negative integers count from the end.
    dim : int
        How many coordinates there are.
    names : sequence of str, optional
        What the coordinates are called.

    Examples
    --------
    >>> resolve_dims([0, -1], 4)
    (0, 3)
    >>> resolve_dims(slice(1, None), 3)
    (1, 2)
    >>> resolve_dims("width", 2, names=("length", "width"))
    (1,)
    """
    if isinstance(dims, slice):
        return tuple(range(dim)[dims])
    one = isinstance(dims, str) or not isinstance(dims, Iterable)
    positions = tuple(_position(d, dim, names) for d in ([dims] if one else dims))
    if len(set(positions)) < len(positions):
        raise ValueError(f"dims must be distinct, got {dims!r}")
    return positions


def other_dims(dims: Sequence[int], dim: int) -> tuple[int, ...]:
    """Return the positions that are not in `dims`, in increasing order.

    Parameters
    ----------
    dims : sequence of int
        Positions to leave out.
    dim : int
        Number of positions.

    Examples
    --------
    >>> other_dims([1], 3)
    (0, 2)
    """
    return tuple(i for i in range(dim) if i not in set(dims))


def _position(given: Any, dim: int, names: Sequence[str] | None) -> int:
    if isinstance(given, str):
        return _named(given, names)
    try:
        position = index(given)
    except TypeError:
        raise ValueError(f"dims must be integers, names or a slice, got {given!r}") from None
    if isinstance(given, bool) or not -dim <= position < dim:
        raise ValueError(f"dims must be integers from {-dim} to {dim - 1}, got {given!r}")
    return position % dim


def _named(given: str, names: Sequence[str] | None) -> int:
    if names is None:
        raise ValueError(f"dims has the name {given!r}, but the coordinates have no names; use integers")
    if given in names:
        return list(names).index(given)
    near = get_close_matches(given, names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise ValueError(f"dims has no coordinate {given!r} among {', '.join(map(repr, names))}{hint}")


class Covariance(ABC):
    """A symmetric positive definite matrix, or a batch of them, with a structure.

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
        return self._precision

    @cached_property
    def _precision(self) -> Array:
        xp = namespace_of(self.diagonal)
        inverse = xp.moveaxis(self.solve(one_vectors(self.dim, len(self.batch_shape), self.diagonal)), 0, -1)
        return freeze(0.5 * (inverse + xp.matrix_transpose(inverse)))

    def affine(self, A: Array) -> "Covariance":
        """Return the covariance A Σ Aᵀ of A x, a `Full` structure; A is (*batch, m, d)."""
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
        return self.expanded_item(batch_shape, ())

    def __getitem__(self, index: Any) -> Self:
        """Return some of the batch."""
        return self.expanded_item(self.batch_shape, index)

    def expanded_item(self, batch_shape: tuple[int, ...], index: Any) -> Self:
        """Return some of the matrices repeated to a batch shape, and check no others.

        Examples
        --------
        >>> from tractable.covariance import Full
        >>> Full(matrix=[[[2.0]], [[3.0]]]).expanded_item((5, 2), (0, 1)).dense().tolist()
        [[3.0]]
        """

        def item(x: Array, n: int) -> Array:
            whole = namespace_of(x).broadcast_to(x, batch_shape + tuple(x.shape[x.ndim - n :]))
            return whole[batch_index(index, n)]

        return self._each(item)

    def _each(self, change: Callable[[Array, int], Array]) -> Self:
        """Rebuild with every array parameter changed, given the array and how many axes are not batch."""
        arrays = {k: x for k, x in parameters(self).items() if k in self._ndims and hasattr(x, "ndim")}
        return replace(self, **{k: change(x, self._ndims[k]) for k, x in arrays.items()})

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
    """Return a structure as it is, and a matrix (*batch, d, d) as `Full`.

    Parameters
    ----------
    covariance : Covariance or array (*batch, d, d)
        A covariance structure, or a matrix.
    like : array, optional
        The array library and device of the result, for a matrix given as nested lists.

    Examples
    --------
    >>> as_structure([[2.0, 0.0], [0.0, 1.0]]).dim
    2
    """
    from tractable.covariance.full import Full

    if isinstance(covariance, Covariance):
        return covariance
    if like is not None:
        covariance = as_reals("covariance", covariance)
        covariance = as_float_array(covariance, namespace_of(covariance, like))
    return Full(matrix=covariance)
