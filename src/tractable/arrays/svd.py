"""Singular value decompositions, and what follows: best low-rank approximations and pseudo-inverses."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

from tractable.arrays.namespace import Array, as_float_array, device, namespace_of
from tractable.value import value

__all__ = ["SVD", "orientation", "pinv", "svd_from_gram", "thin_svd", "truncated_svd"]


@value
class SVD:
    """A = U diag(σ) Vᵀ with orthonormal columns, k = min(m, n) of them or fewer.

    A pair of vectors may change sign together; here the largest entry of each right vector is positive (the
    first, of several), so that every array library gives the same factors.

    Of rows that are centred samples, the right vectors are the principal directions and U σ the scores.

    Parameters
    ----------
    left : array (..., m, k)
        U.
    singular : array (..., k)
        σ, not negative and not increasing.
    right : array (..., n, k)
        V, one right singular vector a column: V itself, not Vᵀ.
    """

    left: Array
    singular: Array
    right: Array

    def dense(self) -> Array:
        """Return U diag(σ) Vᵀ."""
        xp = namespace_of(self.left)
        return (self.left * self.singular[..., None, :]) @ xp.matrix_transpose(self.right)

    def truncated(self, k: int) -> "SVD":
        """Return the k largest singular values and their vectors."""
        return SVD(left=self.left[..., :k], singular=self.singular[..., :k], right=self.right[..., :k])


def thin_svd(a: Any) -> SVD:
    """Return the thin singular value decomposition, A = U diag(σ) Vᵀ.

    Parameters
    ----------
    a : array (..., m, n)
        Of any shape, m ≥ n or not.

    Examples
    --------
    >>> import numpy as np
    >>> svd = thin_svd(np.array([[3.0, 0.0], [0.0, 2.0], [0.0, 0.0]]))
    >>> svd.left.shape, svd.singular, svd.right.shape
    ((3, 2), array([3., 2.]), (2, 2))
    """
    a = _matrix(a)
    xp = namespace_of(a)
    u, s, vt = xp.linalg.svd(a, full_matrices=False)
    return _signed(u, s, xp.matrix_transpose(vt))


def svd_from_gram(a: Any) -> SVD:
    """Return the thin singular value decomposition, from the eigenvectors of AᵀA, as its proof builds it.

    AᵀA = V Λ Vᵀ, σ = √λ, u_i = A v_i / σ_i; where σ_i = 0, any u_i and v_i orthogonal to the others will do,
    found by QR. For reading: AᵀA squares the condition, so singular values below σ₁ √ε are lost in it, and
    `thin_svd` is what to use.

    Examples
    --------
    >>> import numpy as np
    >>> svd_from_gram(np.array([[3.0, 0.0], [4.0, 0.0]])).singular
    array([5., 0.])
    """
    a = _matrix(a)
    xp = namespace_of(a)
    m, n = a.shape[-2:]
    if m < n:
        wide = svd_from_gram(xp.matrix_transpose(a))
        return _signed(wide.right, wide.singular, wide.left)
    eigenvalues, v = xp.linalg.eigh(xp.matrix_transpose(a) @ a)
    eigenvalues, v = xp.flip(eigenvalues, axis=-1), xp.flip(v, axis=-1)
    seen = eigenvalues > m * float(xp.finfo(a.dtype).eps) * eigenvalues[..., :1]
    singular = xp.sqrt(xp.where(seen, eigenvalues, xp.zeros_like(eigenvalues)))
    images = a @ (v / xp.where(seen, singular, xp.ones_like(singular))[..., None, :])
    return _signed(_completed(images, seen), singular, _completed(v, seen))


def truncated_svd(a: Any, k: int) -> SVD:
    """Return the best approximation of rank k, in the Frobenius and the spectral norm (Eckart and Young).

    |A - A_k|² = Σ_{i>k} σ_i² in the former.

    Parameters
    ----------
    a : array (..., m, n)
    k : int
        From 0 to min(m, n).

    Examples
    --------
    >>> import numpy as np
    >>> truncated_svd(np.array([[3.0, 0.0], [0.0, 2.0]]), 1).dense()
    array([[3., 0.],
           [0., 0.]])
    """
    a = _matrix(a)
    most = min(a.shape[-2:])
    _check(k, f"k must be a whole number from 0 to {most}", Integral, lambda x: 0 <= x <= most)
    return thin_svd(a).truncated(int(k))


def pinv(a: Any, *, rank_tol: float | None = None) -> Array:
    """Return the Moore-Penrose inverse A⁺ = V diag(1/σ) Uᵀ over the singular values that are not rounding.

    A⁺b is the shortest x of those that bring A x nearest to b; with full column rank A⁺ = (AᵀA)⁻¹Aᵀ.

    Parameters
    ----------
    a : array (..., m, n)
    rank_tol : float, optional
        Singular values up to rank_tol σ₁ count as zero; max(m, n) ε by default.

    Examples
    --------
    >>> import numpy as np
    >>> pinv(np.array([[2.0, 0.0], [0.0, 0.0]]))
    array([[0.5, 0. ],
           [0. , 0. ]])
    """
    if rank_tol is not None:
        _check(rank_tol, "rank_tol must be a number from 0 and below 1", Real, lambda x: 0.0 <= x < 1.0)
    svd = thin_svd(a)
    xp = namespace_of(svd.left)
    s = svd.singular
    size = max(svd.left.shape[-2], svd.right.shape[-2])
    tol = size * float(xp.finfo(s.dtype).eps) if rank_tol is None else rank_tol
    seen = s > tol * s[..., :1]
    inverse = xp.where(seen, 1.0 / xp.where(seen, s, xp.ones_like(s)), xp.zeros_like(s))
    return SVD(left=svd.right, singular=inverse, right=svd.left).dense()


def _check(given: Any, wanted: str, kind: type, good: Callable[[Any], bool]) -> None:
    if isinstance(given, bool) or not isinstance(given, kind) or not good(given):
        raise ValueError(f"{wanted}, got {given!r}")


def _matrix(a: Any) -> Array:
    a = as_float_array(a)
    xp = namespace_of(a)
    if a.ndim < 2:
        raise ValueError(f"a must be a matrix, or a batch of them; got shape {tuple(a.shape)}")
    if not bool(xp.all(xp.isfinite(a))):
        raise ValueError("a must be finite")
    return a


def orientation(columns: Array) -> Array:
    """Return the sign, 1 or -1, that makes the largest entry of each column positive: (..., 1, k).

    Entries that rounding alone sets apart count as equal, and the first of them decides.

    Examples
    --------
    >>> import numpy as np
    >>> orientation(np.array([[0.6, -1.0], [-0.8, 0.0]]))
    array([[-1., -1.]])
    """
    xp = namespace_of(columns)
    if 0 in columns.shape:
        return xp.ones((*columns.shape[:-2], 1, columns.shape[-1]), dtype=columns.dtype)
    size = xp.abs(columns)
    near = 1.0 - float(xp.finfo(columns.dtype).eps) ** 0.5
    largest = xp.astype(size >= near * xp.max(size, axis=-2, keepdims=True), columns.dtype)
    place = xp.arange(columns.shape[-2], device=device(columns))[:, None]
    deciding = place == xp.argmax(largest, axis=-2, keepdims=True)
    entry = xp.sum(xp.where(deciding, columns, xp.zeros_like(columns)), axis=-2, keepdims=True)
    return xp.where(entry < 0, -xp.ones_like(entry), xp.ones_like(entry))


def _signed(left: Array, singular: Array, right: Array) -> SVD:
    """Return the decomposition with the largest entry of each right vector positive."""
    sign = orientation(right)
    return SVD(left=left * sign, singular=singular, right=right * sign)


def _completed(columns: Array, seen: Array) -> Array:
    """Return the columns made orthonormal; one that is rounding is replaced by a unit vector."""
    xp = namespace_of(columns)
    basis = columns[..., :0]
    for i in range(columns.shape[-1]):
        column = xp.where(seen[..., None, i : i + 1], columns[..., i : i + 1], _farthest_axis(basis))
        basis = xp.concat([basis, _orthogonal_part(basis, column)], axis=-1)
    return basis


def _orthogonal_part(basis: Array, column: Array) -> Array:
    """Return the column less its part in the span of the basis, of length one; twice is enough."""
    xp = namespace_of(column)
    for _ in range(2):
        column = column - basis @ (xp.matrix_transpose(basis) @ column)
    return column / xp.sqrt(xp.sum(column * column, axis=-2, keepdims=True))


def _farthest_axis(basis: Array) -> Array:
    """Return the unit vector that is least in the span of the basis, as a column."""
    xp = namespace_of(basis)
    covered = xp.sum(basis * basis, axis=-1)
    place = xp.arange(covered.shape[-1], device=device(basis))
    return xp.astype(place == xp.argmin(covered, axis=-1, keepdims=True), basis.dtype)[..., None]
