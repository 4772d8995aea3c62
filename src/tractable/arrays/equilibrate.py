"""Symmetric matrices brought to a diagonal near one, so that no answer depends on the units of a variable."""

from typing import Any

from tractable.arrays.namespace import Array, as_float_array, namespace_of

__all__ = ["asymmetric", "equilibrated", "symmetrize"]


def symmetrize(a: Array) -> Array:
    """Return ½ (A + Aᵀ).

    Examples
    --------
    >>> import numpy as np
    >>> symmetrize(np.array([[1.0, 2.0], [0.0, 1.0]]))
    array([[1., 1.],
           [1., 1.]])
    """
    return 0.5 * a + 0.5 * namespace_of(a).matrix_transpose(a)


def equilibrated(a: Array, name: str) -> tuple[Any, Array, Array]:
    """Return the namespace, scales s and A_ij / (s_i s_j): powers of two, so nothing is rounded."""
    xp = namespace_of(a)
    a = as_float_array(a, xp)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise ValueError(f"{name} must be square, got shape {tuple(a.shape)}")
    if not bool(xp.all(xp.isfinite(a))):
        raise ValueError(f"{name} must be finite")
    scale = _power_of_two_roots(xp, xp.linalg.diagonal(a))
    return xp, scale, a / scale[..., :, None] / scale[..., None, :]


def asymmetric(xp: Any, unit: Array) -> Array:
    """Say of each matrix whether it differs from its transpose by more than rounding could."""
    # Entries beyond the diagonal's scale make a matrix indefinite, not asymmetric: compare with their size.
    slack = float(xp.finfo(unit.dtype).eps) ** 0.5 * (1.0 + xp.abs(unit))
    return xp.any(xp.abs(unit - xp.matrix_transpose(unit)) > slack, axis=(-2, -1))


def _power_of_two_roots(xp: Any, diagonal: Array) -> Array:
    """Round the roots of the diagonal to powers of two; an entry without variance borrows the largest."""
    if not diagonal.shape[-1]:
        return diagonal
    largest = xp.max(diagonal, axis=-1, keepdims=True)
    largest = xp.where(largest > 0.0, largest, xp.ones_like(largest))
    exponent = xp.round(0.5 * xp.log2(xp.where(diagonal > 0.0, diagonal, largest)))
    return xp.pow(xp.full_like(exponent, 2.0), exponent)
