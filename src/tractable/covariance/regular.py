"""A covariance that data may have left singular, made regular by the least that does it."""

from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.covariance.full import Full

__all__ = ["constant_columns", "regular"]

#: A column that never varies is given so many roundings of its values as a standard deviation.
ROUNDINGS = 8.0


def regular(matrix: Array, mean: Array, *, added: Array | None = None) -> tuple[Full, Any]:
    """Return a covariance matrix (d, d) as a structure, and what was added to its diagonal to be regular.

    A constant column is given a variance by the rounding of its values; columns that follow from others get
    the least jitter that gives the matrix a factor, which leaves no digit of what is solved for. Where
    variances to be `added` are given, they are taken for both. Nothing is added where nothing is needed.

    Examples
    --------
    >>> structure, jitter = regular(np.array([[2.0, 0.0], [0.0, 0.0]]), np.array([0.0, 1.0]))
    >>> jitter > 0
    array([False,  True])
    """
    xp = namespace_of(matrix)
    identity = xp.eye(matrix.shape[-1], dtype=matrix.dtype, device=device(matrix))
    floor, constant = constant_columns(xp.linalg.diagonal(matrix), mean)
    if added is not None:
        floor = xp.where(constant & (added > floor), added, floor)
    # A constant column is uncorrelated with the others; what rounding left there is not evidence.
    both = constant[:, None] | constant[None, :]
    matrix = xp.where(both, xp.zeros_like(matrix), matrix) + floor * identity
    structure = Full.jittered(matrix)
    if added is not None and bool(xp.any(structure.jitter > 0)):
        more = xp.where(constant, xp.zeros_like(added), added)
        floor, structure = floor + more, Full.jittered(matrix + more * identity)
    return structure, floor + structure.jitter


def constant_columns(variances: Array, mean: Array) -> tuple[Array, Array]:
    """Return what constant columns need as a variance (0 for the others), and which they are."""
    xp = namespace_of(variances)
    rounding = float(np.finfo(np.float64).eps) * xp.abs(mean)
    constant = variances <= rounding**2
    size = xp.where(mean != 0, rounding, float(np.finfo(np.float64).eps) * xp.ones_like(mean))
    # The square of the smallest numbers would be zero again.
    square = (ROUNDINGS * size) ** 2
    floor = xp.where(square > 0, square, xp.full_like(square, float(np.finfo(np.float64).tiny)))
    return xp.where(constant, floor, xp.zeros_like(floor)), constant
