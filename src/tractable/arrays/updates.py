"""What is known about A, carried over to A + w u vᵀ at the price of a product."""

from tractable.arrays.namespace import Array, as_float_array, device, namespace_of
from tractable.arrays.triangular import solve_triangular

__all__ = ["rank_one_update", "sherman_morrison"]


def rank_one_update(lower: Array, v: Array, weight: float | Array = 1.0) -> Array:
    """Return the Cholesky factor of L Lᵀ + w v vᵀ, in O(d²).

    With p = L⁻¹ v and b_j = 1 + w Σ_{i≤j} p_i², the factor of I + w p pᵀ has diagonal √(b_j / b_{j-1}) and
    entries w p_i p_j / √(b_j b_{j-1}) below it (Gill, Golub, Murray & Saunders 1974); its product with L is a
    running sum.

    Parameters
    ----------
    lower : array (..., d, d)
        Cholesky factors.
    v : array (..., d)
        Directions; batches broadcast.
    weight : float or array (...)
        Negative weights take an observation away; a ValueError if nothing positive definite remains.

    Examples
    --------
    >>> import numpy as np
    >>> rank_one_update(np.eye(2), np.array([0.0, 2.0]), weight=2.0)
    array([[1., 0.],
           [0., 3.]])
    """
    xp = namespace_of(lower, v)
    lower, v = as_float_array(lower, xp), as_float_array(v, xp)
    w = xp.asarray(weight, dtype=v.dtype, device=device(v))[..., None]
    if not bool(xp.all(xp.isfinite(v))):
        raise ValueError("v must be finite")
    if not bool(xp.all(xp.isfinite(w))):
        raise ValueError("weight must be finite")
    p = solve_triangular(lower, v[..., None])[..., 0]
    after = 1.0 + w * xp.cumulative_sum(p**2, axis=-1)
    # The part of b that rounding may have made: beyond it, a downdate has left nothing.
    if not bool(xp.all(after > p.shape[-1] * float(xp.finfo(p.dtype).eps))):
        raise ValueError("weight must leave the matrix positive definite")
    # Shifted sums, not differences of sums: a large update must not cancel against what it was added to.
    before = xp.concat([xp.ones_like(after[..., :1]), after[..., :-1]], axis=-1)
    tails = xp.flip(xp.cumulative_sum(xp.flip(lower * p[..., None, :], axis=-1), axis=-1), axis=-1)
    beyond = xp.concat([tails[..., 1:], xp.zeros_like(tails[..., :1])], axis=-1)
    stretch = xp.sqrt(after / before)
    share = w * p / xp.sqrt(after) / xp.sqrt(before)
    return lower * stretch[..., None, :] + beyond * share[..., None, :]


def sherman_morrison(inverse: Array, u: Array, v: Array | None = None) -> Array:
    """Return (A + u vᵀ)⁻¹ = A⁻¹ - A⁻¹ u vᵀ A⁻¹ / (1 + vᵀ A⁻¹ u), given A⁻¹.

    Parameters
    ----------
    inverse : array (..., d, d)
        A⁻¹, which need not be symmetric.
    u, v : array (..., d)
        The update; `v` is `u` where it is not given.

    Examples
    --------
    >>> import numpy as np
    >>> sherman_morrison(np.eye(2), np.array([1.0, 0.0]))
    array([[0.5, 0. ],
           [0. , 1. ]])
    """
    v = u if v is None else v
    xp = namespace_of(inverse, u, v)
    inverse, u, v = (as_float_array(x, xp) for x in (inverse, u, v))
    right = inverse @ u[..., None]
    left = v[..., None, :] @ inverse
    pivot = 1.0 + v[..., None, :] @ right
    if not bool(xp.all(xp.isfinite(pivot) & (pivot != 0.0))):
        raise ValueError("u and v must be finite and leave the matrix invertible")
    return inverse - right @ left / pivot
