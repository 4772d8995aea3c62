"""Partitioned matrices: the Schur complement and the inverse by blocks."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from tractable.arrays.equilibrate import symmetrize
from tractable.arrays.factor import cholesky
from tractable.arrays.namespace import Array, as_float_array, device, is_torch_array, namespace_of
from tractable.arrays.triangular import solve_triangular

__all__ = ["block_inverse", "schur_complement"]


def schur_complement(a: Array, keep: Sequence[int]) -> Array:
    """Return A_kk - A_kr A_rr⁻¹ A_rk: of a covariance, the covariance of k given the rest.

    Its inverse is the block Λ_kk of the precision, Bishop (2.79).

    Parameters
    ----------
    a : array (..., d, d)
        Symmetric matrices, positive definite on the indices that are not kept.
    keep : sequence of int
        The indices k, in the order wanted.

    Examples
    --------
    >>> import numpy as np
    >>> schur_complement(np.array([[2.0, 1.0], [1.0, 4.0]]), [0])
    array([[1.75]])
    """
    xp = namespace_of(a)
    a = as_float_array(a, xp)
    kept = _indices(keep, a.shape[-1])
    rest = [i for i in range(a.shape[-1]) if i not in set(kept)]
    lower = cholesky(_block(xp, a, rest, rest), name="the block of a that is not kept")
    white = solve_triangular(lower, _block(xp, a, rest, kept))
    return symmetrize(_block(xp, a, kept, kept)) - xp.matrix_transpose(white) @ white


def block_inverse(a: Array, n_first: int) -> Array:
    """Invert a matrix partitioned after its first rows and columns, Bishop (2.76).

    With S = A - B D⁻¹ C, the inverse of [[A, B], [C, D]] is

    [[S⁻¹, -S⁻¹ B D⁻¹], [-D⁻¹ C S⁻¹, D⁻¹ + D⁻¹ C S⁻¹ B D⁻¹]].

    Parameters
    ----------
    a : array (..., d, d)
        Invertible matrices whose last block D is invertible too; they need not be symmetric.
    n_first : int
        The size of the first block.

    Examples
    --------
    >>> import numpy as np
    >>> block_inverse(np.array([[2.0, 1.0], [1.0, 1.0]]), 1)
    array([[ 1., -1.],
           [-1.,  2.]])
    """
    xp = namespace_of(a)
    a = as_float_array(a, xp)
    if not 0 < n_first < a.shape[-1]:
        raise ValueError(f"n_first must lie between 1 and {a.shape[-1] - 1}, got {n_first}")
    A, B = a[..., :n_first, :n_first], a[..., :n_first, n_first:]
    C, D = a[..., n_first:, :n_first], a[..., n_first:, n_first:]
    D_inv = _inverse(xp, D, "the last block of a")
    S_inv = _inverse(xp, A - B @ D_inv @ C, "a")
    top = xp.concat([S_inv, -S_inv @ B @ D_inv], axis=-1)
    bottom = xp.concat([-D_inv @ C @ S_inv, D_inv + D_inv @ C @ S_inv @ B @ D_inv], axis=-1)
    return xp.concat([top, bottom], axis=-2)


def _indices(keep: Sequence[int], d: int) -> list[int]:
    kept = [int(i) for i in keep]
    if not all(-d <= i < d for i in kept) or len({i % d for i in kept}) < len(kept):
        raise ValueError(f"keep must hold different indices below {d}, got {kept}")
    return [i % d for i in kept]


def _block(xp: Any, a: Array, rows: list[int], columns: list[int]) -> Array:
    at = {"dtype": xp.int64, "device": device(a)}
    return xp.take(xp.take(a, xp.asarray(rows, **at), axis=-2), xp.asarray(columns, **at), axis=-1)


def _inverse(xp: Any, a: Array, name: str) -> Array:
    """Invert, and say in one sentence when there is no inverse."""
    if is_torch_array(a):
        import torch

        inverse, info = torch.linalg.inv_ex(a)
        singular = bool(torch.any(info != 0))
    else:
        try:
            inverse, singular = xp.linalg.inv(a), False
        except np.linalg.LinAlgError:
            inverse, singular = a, True
    if singular or not bool(xp.all(xp.isfinite(inverse))):
        raise ValueError(f"{name} must be finite and invertible")
    return inverse
