"""Least squares with a matrix penalty."""

from typing import Any

from tractable.arrays.batched import as_reals
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.engines import least_squares
from tractable.primitives.triangle import triangle
from tractable.statistics import LinearFactor

__all__ = ["tikhonov"]


def tikhonov(A: Any, b: Any, Gamma: Any) -> Array:
    """Return x for which ½|Ax - b|² + ½|Γx|² is least, x = (AᵀA + ΓᵀΓ)⁻¹ Aᵀb.

    By the QR of A above Γ, so that nothing is squared. Both terms carry the half; an objective
    ½|Ax - b|² + |Γx|² has Γ√2 here. Γ = √α I is ridge regression. Of several solutions, the shortest.

    Parameters
    ----------
    A : array (n, d)
    b : array (n,) or (n, t)
    Gamma : array (m, d)
        What is kept small: Γ = I shrinks x, Γ of differences smooths it.

    Returns
    -------
    array (d,) or (d, t)

    Examples
    --------
    >>> import numpy as np
    >>> differences = np.diff(np.eye(5), axis=0)
    >>> tikhonov(np.eye(5), [0.0, 0.0, 10.0, 0.0, 0.0], differences).round(2)
    array([0.91, 1.82, 4.55, 1.82, 0.91])
    """
    A = as_reals("A", A)
    b, Gamma = as_reals("b", b, A), as_reals("Gamma", Gamma, A)
    _check(A, b, Gamma)
    xp = namespace_of(A)
    flat = b.ndim == 1
    targets = b[:, None] if flat else b
    below = xp.zeros((Gamma.shape[0], targets.shape[1]), dtype=targets.dtype, device=device(A))
    rows = xp.concat([xp.concat([A, targets], axis=1), xp.concat([Gamma, below], axis=1)])
    fit = least_squares(
        LinearFactor(
            weight=float(rows.shape[0]),
            mean=xp.zeros_like(rows[0, :]),
            factor=triangle(xp.astype(rows, xp.float64)),
            n_targets=int(targets.shape[1]),
        )
    )
    return fit.coef[0, :] if flat else fit.coef.T


def _check(A: Array, b: Array, Gamma: Array) -> None:
    if A.ndim != 2 or not A.shape[0] or not A.shape[1]:
        raise ValueError(f"A must be a matrix, got shape {tuple(A.shape)}")
    if b.ndim not in (1, 2) or b.shape[0] != A.shape[0]:
        raise ValueError(f"b must have {A.shape[0]} entries, one a row of A, got shape {tuple(b.shape)}")
    if Gamma.ndim != 2 or Gamma.shape[1] != A.shape[1]:
        raise ValueError(f"Gamma must have {A.shape[1]} columns, as A has, got shape {tuple(Gamma.shape)}")
    for name, x in (("A", A), ("b", b), ("Gamma", Gamma)):
        if not bool(namespace_of(x).all(namespace_of(x).isfinite(x))):
            raise ValueError(f"{name} contains NaN or infinity")
