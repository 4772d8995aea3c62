"""Cholesky factors, with what was added to the diagonal to get one."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from tractable.arrays.equilibrate import asymmetric, equilibrated, symmetrize
from tractable.arrays.namespace import Array, device, is_torch_array
from tractable.value import value

__all__ = ["Factor", "cholesky", "jittered_cholesky", "try_cholesky"]

_STEP = 8.0  # ratio of the ladder of jitters: a power of two, so that every rung is exact


@value
class Factor:
    """A lower factor with L Lᵀ = A + diag(jitter); `jitter` is exactly zero where none was needed."""

    lower: Array  # (..., d, d)
    jitter: Array  # (..., d)


def cholesky(a: Array, *, name: str = "matrix") -> Array:
    """Return the lower factor of a positive definite matrix, A = L Lᵀ.

    A matrix whose smallest pivot is lost in rounding counts as singular: no digit of its log-determinant
    would be right. Use `jittered_cholesky` where singular matrices must be coped with.

    Parameters
    ----------
    a : array (..., d, d)
        Symmetric positive definite matrices, of any scale.
    name : str
        What to call the matrix in an error.

    Examples
    --------
    >>> import numpy as np
    >>> cholesky(np.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2., 0.],
           [1., 2.]])
    """
    xp, scale, unit = _symmetric(a, name)
    lower, good = try_cholesky(xp, unit)
    if not bool(xp.all(good)):
        raise ValueError(f"{name} must be positive definite{_where(xp, good)}")
    return scale[..., :, None] * lower


def jittered_cholesky(a: Array, *, max_jitter: float | None = None, name: str = "matrix") -> Factor:
    """Return the factor of A + diag(jitter), with the least jitter of a geometric ladder that succeeds.

    The ladder is relative to the diagonal, so the answer does not depend on units: scaling a variable scales
    its jitter. An entry of zero variance borrows the scale of the largest one.

    Parameters
    ----------
    a : array (..., d, d)
        Symmetric matrices, positive semi-definite up to rounding.
    max_jitter : float, optional
        The largest jitter to try, relative to the diagonal; by default the square root of the machine
        epsilon. A matrix that needs more is indefinite, and a ValueError.
    name : str
        What to call the matrix in an error.

    Examples
    --------
    >>> import numpy as np
    >>> jittered_cholesky(np.array([[9.0, -15.0], [-15.0, 25.0]])).jitter.round(14)
    array([2.e-14, 4.e-14])
    """
    xp, scale, unit = _symmetric(a, name)
    d = unit.shape[-1]
    diagonal = xp.linalg.diagonal(unit)
    weight = xp.where(diagonal > 0.0, diagonal, xp.ones_like(diagonal))
    identity = xp.eye(d, dtype=unit.dtype, device=device(unit))
    lower, good = try_cholesky(xp, unit)
    relative = xp.zeros_like(diagonal[..., 0]) if d else xp.sum(diagonal, axis=-1)
    for rung in _ladder(d, float(xp.finfo(unit.dtype).eps), max_jitter):
        if bool(xp.all(good)):
            break
        relative = xp.where(good, relative, xp.full_like(relative, rung))
        retried, fine = try_cholesky(xp, unit + (weight * relative[..., None])[..., None] * identity)
        lower = xp.where(good[..., None, None], lower, retried)
        good = good | fine
    if not bool(xp.all(good)):
        raise ValueError(f"{name} must be positive semi-definite{_where(xp, good)}")
    return Factor(lower=scale[..., :, None] * lower, jitter=scale**2 * weight * relative[..., None])


def _ladder(d: int, eps: float, max_jitter: float | None) -> Iterator[float]:
    rung = 4.0 * max(d, 1) * eps
    limit = max(eps**0.5, _STEP**2 * rung) if max_jitter is None else max_jitter
    while rung <= limit:
        yield rung
        rung *= _STEP


def _symmetric(a: Array, name: str) -> tuple[Any, Array, Array]:
    xp, scale, unit = equilibrated(a, name)
    if bool(xp.any(asymmetric(xp, unit))):
        raise ValueError(f"{name} must be symmetric")
    return xp, scale, symmetrize(unit)


def try_cholesky(xp: Any, unit: Array) -> tuple[Array, Array]:
    """Factor each matrix of the batch; say of each whether every pivot stands clear of rounding."""
    d = unit.shape[-1]
    lower = _torch_factor(unit) if is_torch_array(unit) else _factor(xp, unit)
    pivots = xp.linalg.diagonal(lower) ** 2
    floor = d * float(xp.finfo(unit.dtype).eps) * xp.linalg.diagonal(unit)
    good = xp.all(xp.isfinite(pivots) & (pivots > floor), axis=-1)
    return lower, good


def _torch_factor(unit: Array) -> Array:
    import torch

    lower, info = torch.linalg.cholesky_ex(unit)
    return torch.where((info == 0)[..., None, None], lower, torch.full_like(lower, torch.nan))


def _factor(xp: Any, unit: Array) -> Array:
    """Factor a batch; matrices that have no factor come back as NaN."""
    try:
        return xp.linalg.cholesky(unit)
    except np.linalg.LinAlgError:
        if unit.ndim == 2:
            return xp.full_like(unit, xp.nan)
    return xp.stack([_factor(xp, unit[i, ...]) for i in range(unit.shape[0])])


def _where(xp: Any, good: Array) -> str:
    """Name the first matrix of a batch that failed."""
    if not good.ndim:
        return ""
    index = tuple(int(i[0]) for i in xp.nonzero(~good))
    return f", but the one at index {index} is not"
