"""Any covariance matrix."""

from functools import cached_property
from typing import Any, ClassVar, Self

from tractable.arrays.batched import as_reals, matvec, on_columns, principal_block, zero_gain
from tractable.arrays.linalg import (
    cholesky,
    inv_triangular,
    jittered_cholesky,
    log_det_cholesky,
    solve_triangular,
)
from tractable.arrays.namespace import Array, any_true, device, freeze, is_numpy_array, namespace_of, to_numpy
from tractable.covariance.structure import Covariance, check_jitter, checked_factor, other_dims
from tractable.primitives.linear import squared_mahalanobis
from tractable.value import made, set_fields, value


@value
class Full(Covariance):
    """Any symmetric positive definite matrix Σ, held with its Cholesky factor Σ = L Lᵀ.

    Parameters
    ----------
    matrix : array (*batch, d, d), optional
        The matrix: symmetric, positive definite, of any scale.
    cholesky : array (*batch, d, d), optional
        Its lower factor, with a positive diagonal; give this or the matrix.
    jitter : array (*batch, d) or 0.0
        What :meth:`jittered` had to add to the diagonal to find a factor; zero otherwise.

    Examples
    --------
    >>> structure = Full(matrix=[[4.0, 2.0], [2.0, 5.0]])
    >>> structure.cholesky
    array([[2., 0.],
           [1., 2.]])
    >>> gain, rest = structure.condition([0])
    >>> gain, rest.dense()
    (array([[0.5]]), array([[4.]]))
    """

    _ndims: ClassVar[dict[str, int]] = {"matrix": 2, "cholesky": 2, "jitter": 1}

    matrix: Array = None
    cholesky: Array = None
    jitter: Array = 0.0

    def __post_init__(self) -> None:
        if (self.matrix is None) == (self.cholesky is None):
            raise ValueError("give exactly one of matrix and cholesky")
        if self.cholesky is None:
            if to_numpy(self.jitter).any():
                raise ValueError("jitter is told beside cholesky: a matrix is factorised as it is")
            matrix = as_reals("matrix", self.matrix)
            _check_square("matrix", matrix)
            set_fields(self, cholesky=freeze(cholesky(matrix)), matrix=freeze(_symmetric(matrix)))
        else:
            set_fields(self, cholesky=freeze(_checked_lower(self.cholesky)))
            check_jitter(self.jitter, self.cholesky)

    def _parameters(self) -> dict[str, Any]:
        if self.matrix is None:
            return {"cholesky": self.cholesky, "jitter": self.jitter}
        return {"matrix": self.matrix}

    @classmethod
    def from_cholesky(cls, lower: Array) -> Self:
        """Return L Lᵀ from its lower factor; entries above the diagonal must be zero."""
        return cls(cholesky=lower)

    @classmethod
    def from_precision(cls, precision: Array) -> Self:
        """Return Λ⁻¹ from Λ, by a triangular factor of Λ and no inverse of it."""
        precision = as_reals("precision", precision)
        xp = namespace_of(precision)
        flipped = cholesky(xp.flip(precision, axis=(-2, -1)), name="precision")
        # Λ = U Uᵀ with U upper, so Λ⁻¹ = (U⁻ᵀ)(U⁻ᵀ)ᵀ with U⁻ᵀ lower: the factor itself.
        inverse = solve_triangular(flipped, _identity(flipped))
        return cls(cholesky=xp.flip(xp.matrix_transpose(inverse), axis=(-2, -1)))

    @classmethod
    def jittered(cls, matrix: Array, *, max_jitter: float | None = None) -> Self:
        """Return the structure of a matrix that may be singular, with the least jitter that makes it regular.

        What was added to the diagonal is in the attribute `jitter`; it is zero where none was needed.
        """
        matrix = as_reals("matrix", matrix)
        found = jittered_cholesky(matrix, max_jitter=max_jitter)
        if not any_true(found.jitter > 0):
            return cls.from_factor(found.lower, _symmetric(matrix))
        return cls.from_factor(found.lower, jitter=found.jitter)

    @classmethod
    def from_factor(cls, lower: Array, matrix: Array | None = None, jitter: Any = 0.0) -> Self:
        """Return L Lᵀ from a factor that was computed, and is not checked again.

        Parameters
        ----------
        lower : array (*batch, d, d)
            L, lower triangular with a positive diagonal.
        matrix : array (*batch, d, d), optional
            L Lᵀ, where it is known.
        jitter : array (*batch, d) or 0.0
            What was added to a diagonal to find the factor.
        """
        return made(cls, matrix=freeze(matrix), cholesky=freeze(lower), jitter=freeze(jitter))

    @classmethod
    def from_moments(cls, moments: Any, ddof: float = 0.0) -> Self:
        return cls(matrix=moments.covariance(ddof))

    @cached_property
    def inverse_factor(self) -> Array:
        """L⁻¹ of Σ = L Lᵀ, (*batch, d, d): Σ⁻¹ is L⁻ᵀ L⁻¹."""
        return freeze(inv_triangular(self.cholesky))

    @cached_property
    def precision_diagonal(self) -> Array:
        """The diagonal of Σ⁻¹, (*batch, d): squared lengths of the columns of L⁻¹."""
        return freeze(namespace_of(self.cholesky).sum(self.inverse_factor**2, axis=-2))

    @cached_property
    def _precision(self) -> Array:
        transposed = namespace_of(self.cholesky).matrix_transpose(self.inverse_factor)
        return freeze(_symmetric(transposed @ self.inverse_factor))

    @property
    def batch_shape(self) -> tuple[int, ...]:
        return tuple(self.cholesky.shape[:-2])

    @property
    def dim(self) -> int:
        return int(self.cholesky.shape[-1])

    @cached_property
    def diagonal(self) -> Array:
        if self.matrix is None:  # rows of the factor, and no product
            return freeze(namespace_of(self.cholesky).sum(self.cholesky**2, axis=-1))
        return freeze(namespace_of(self.cholesky).linalg.diagonal(self.matrix))

    @cached_property
    def log_det(self) -> Array:
        return freeze(log_det_cholesky(self.cholesky))

    @property
    def n_free(self) -> int:
        """One number for each entry on and below the diagonal."""
        return self.dim * (self.dim + 1) // 2

    @cached_property
    def _product(self) -> Array:
        xp = namespace_of(self.cholesky)
        return freeze(_symmetric(self.cholesky @ xp.matrix_transpose(self.cholesky)))

    def dense(self) -> Array:
        return self._product if self.matrix is None else self.matrix

    def whiten(self, z: Array) -> Array:
        """Return L⁻¹ z."""
        return on_columns(lambda b: solve_triangular(self.cholesky, b), z, len(self.batch_shape))

    def whiten_transposed(self, z: Array) -> Array:
        """Return L⁻ᵀ z."""
        return on_columns(
            lambda b: solve_triangular(self.cholesky, b, transposed=True), z, len(self.batch_shape)
        )

    def solve(self, z: Array) -> Array:
        """Return L⁻ᵀ L⁻¹ z."""
        return self.whiten_transposed(self.whiten(z))

    def multiply(self, z: Array) -> Array:
        return matvec(self.dense(), z)

    def color(self, noise: Array) -> Array:
        """Return L e."""
        return matvec(self.cholesky, noise)

    def mahalanobis(self, z: Array, center: Array | None = None) -> Array:
        one = self.cholesky.ndim == 2 and z.ndim >= 2
        if not (one and is_numpy_array(z) and (center is None or center.ndim == 1)):
            return super().mahalanobis(z, center)
        origin = namespace_of(z).zeros(self.dim, dtype=z.dtype) if center is None else center
        return squared_mahalanobis(z.reshape(-1, self.dim), origin, self.cholesky).reshape(z.shape[:-1])

    def marginal(self, dims: Any) -> Self:
        keep = self._dims(dims)
        if keep == tuple(range(self.dim)):
            return self
        return type(self)(matrix=principal_block(self.dense(), keep, keep))

    def condition(self, given: Any) -> tuple[Array, Self]:
        """See `Covariance.condition`, by one factor of the matrix with the given coordinates first.

        The last block of that factor is the factor of the conditional covariance: nothing is subtracted, so
        the answer is positive definite however strong the correlation.
        """
        xp = namespace_of(self.cholesky)
        known = self._given(given)
        if not known:
            return zero_gain(self.diagonal[..., 0], self.dim, 0), self
        order = known + other_dims(known, self.dim)
        k = len(known)
        in_order = order == tuple(range(self.dim))
        lower = self.cholesky if in_order else cholesky(principal_block(self.dense(), order, order))
        across = xp.matrix_transpose(lower[..., k:, :k])
        gain = xp.matrix_transpose(solve_triangular(lower[..., :k, :k], across, transposed=True))
        return gain, type(self)(cholesky=lower[..., k:, k:])

    def scaled(self, factor: Any) -> Self:
        c = checked_factor(factor, self.cholesky, 2)
        if self.matrix is None:
            return type(self)(cholesky=self.cholesky * namespace_of(c).sqrt(c))
        return type(self)(matrix=self.matrix * c)

    def parallel(self, other: Covariance) -> Covariance:
        """(Σ₁⁻¹ + Σ₂⁻¹)⁻¹ = L (I + Lᵀ Σ₂⁻¹ L)⁻¹ Lᵀ with Σ₁ = L Lᵀ."""
        self._check_dim(other)
        xp = namespace_of(self.cholesky)
        white = xp.moveaxis(other.whiten(self.root(len(other.batch_shape))), 0, -1)
        inner = cholesky(_identity(white) + xp.matrix_transpose(white) @ white)
        root = solve_triangular(inner, xp.matrix_transpose(self.cholesky))
        return Full(matrix=_symmetric(xp.matrix_transpose(root) @ root))

    def __add__(self, other: Any) -> Covariance:
        if not isinstance(other, Covariance):
            return NotImplemented
        self._check_dim(other)
        return Full(matrix=self.dense() + other.dense())


def _check_square(name: str, matrix: Array) -> None:
    if matrix.ndim < 2 or matrix.shape[-1] != matrix.shape[-2] or not matrix.shape[-1]:
        raise ValueError(f"{name} must be square, (*batch, d, d), got shape {tuple(matrix.shape)}")


def _checked_lower(lower: Any) -> Array:
    lower = as_reals("cholesky", lower)
    xp = namespace_of(lower)
    _check_square("cholesky", lower)
    if not bool(xp.all(xp.isfinite(lower))):
        raise ValueError("cholesky must be finite")
    if bool(xp.any(xp.triu(lower, k=1) != 0)) or not bool(xp.all(xp.linalg.diagonal(lower) > 0)):
        raise ValueError("cholesky must be lower triangular with a positive diagonal")
    return lower


def _symmetric(matrix: Array) -> Array:
    return 0.5 * matrix + 0.5 * namespace_of(matrix).matrix_transpose(matrix)


def _identity(like: Array) -> Array:
    return namespace_of(like).eye(like.shape[-1], dtype=like.dtype, device=device(like))
