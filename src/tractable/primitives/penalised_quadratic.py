"""Coordinate descent on a quadratic with a price on absolute values."""

from tractable.arrays.namespace import Array, is_numpy_array
from tractable.primitives._agnostic.penalised_quadratic import coordinate_sweeps as agnostic

__all__ = ["coordinate_sweeps"]


def coordinate_sweeps(
    hessian: Array, slope: Array, price: Array, x: Array, n_sweeps: int
) -> tuple[Array, Array]:
    """Lower slopeᵀ(u - x) + ½ (u - x)ᵀ H (u - x) + Σ_j price_j |u_j|, one coordinate after the other, from x.

    Parameters
    ----------
    hessian : array (m, m)
        Symmetric, positive semi-definite. Coordinates with nothing on the diagonal stay.
    slope, price, x : arrays (m,)
    n_sweeps : int
        The most rounds over all coordinates; it ends before where nothing moves.

    Returns
    -------
    u : array (m,)
    q : array (m,)
        The slope of the quadratic there, slope + H (u - x).

    Examples
    --------
    >>> import numpy as np
    >>> coordinate_sweeps(np.eye(2), np.array([-3.0, 0.5]), np.ones(2), np.zeros(2), 5)[0]
    array([2., 0.])
    """
    if not is_numpy_array(hessian):
        return agnostic(hessian, slope, price, x, n_sweeps)
    from tractable.primitives._compiled.penalised_quadratic import coordinate_sweeps as compiled

    return compiled(hessian, slope, price, x, n_sweeps)
