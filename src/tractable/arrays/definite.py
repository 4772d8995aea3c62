"""Is this matrix a covariance?"""

from tractable.arrays.equilibrate import asymmetric, equilibrated, symmetrize
from tractable.arrays.factor import try_cholesky
from tractable.arrays.namespace import Array

__all__ = ["is_pd", "is_psd"]


def is_psd(a: Array, *, tol: float | None = None) -> Array:
    """Say whether xᵀAx ≥ 0 for every x: A is symmetric and no eigenvalue is negative.

    Parameters
    ----------
    a : array (..., d, d)
        Square matrices, of any scale.
    tol : float, optional
        How far below zero an eigenvalue may fall, as a share of the largest, once rows and columns are
        scaled to a diagonal near one; by default 10 d times the machine epsilon.

    Returns
    -------
    array of bool (...)

    Examples
    --------
    >>> import numpy as np
    >>> is_psd(np.array([[[9.0, -15.0], [-15.0, 25.0]], [[1.0, 2.0], [2.0, 1.0]]]))
    array([ True, False])
    """
    xp, _, unit = equilibrated(a, "a")
    if not unit.shape[-1]:
        return ~asymmetric(xp, unit)
    share = 10.0 * unit.shape[-1] * float(xp.finfo(unit.dtype).eps) if tol is None else tol
    eigenvalues = xp.linalg.eigvalsh(symmetrize(unit))
    largest = xp.max(xp.abs(eigenvalues), axis=-1)
    return ~asymmetric(xp, unit) & (xp.min(eigenvalues, axis=-1) >= -share * largest)


def is_pd(a: Array) -> Array:
    """Say whether xᵀAx > 0 for every x other than 0: whether `cholesky` has a factor for A.

    Examples
    --------
    >>> import numpy as np
    >>> is_pd(np.array([[[9.0, -15.0], [-15.0, 25.0]], [[2.0, 1.0], [1.0, 2.0]]]))
    array([False,  True])
    """
    xp, _, unit = equilibrated(a, "a")
    _, good = try_cholesky(xp, symmetrize(unit))
    return ~asymmetric(xp, unit) & good
