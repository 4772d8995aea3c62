"""Weights of rows, as frequencies, and the one check of them."""

from math import inf
from typing import Any

import numpy as np

from tractable.arrays.limits import LARGEST, check_squarable, too_large
from tractable.arrays.namespace import (
    Array,
    check_real_kind,
    is_array_api_obj,
    is_numpy_array,
    namespace_of,
)

__all__ = ["check_weights"]


def check_weights(
    weights: Any, n_rows: int, *, like: Array = None, name: str = "weights", some: bool = False
) -> Array:
    """Return weights as float64 of `like`'s library: one a row, not negative, none too large to square.

    Parameters
    ----------
    weights : array (n,)
    n_rows : int
    like : array, optional
        NumPy's when not given.
    name : str
        What to call them in an error.
    some : bool
        Whether one at least must be positive, and not too small to square.

    Examples
    --------
    >>> check_weights([1, 2], 2)
    array([1., 2.])
    """
    xp = namespace_of() if like is None else namespace_of(like)
    w = _numbers(weights, xp, name)
    if tuple(w.shape) != (n_rows,):
        raise ValueError(
            f"{name} must have one entry a row: expected shape ({n_rows},), got {tuple(w.shape)}"
        )
    good = (w >= 0) & (w <= LARGEST)  # written so that NaN is rejected too
    if not bool(xp.all(good)):
        bad = float(w[~good][0])
        if LARGEST < bad < inf:
            raise too_large(name)
        raise ValueError(f"{name} must be finite and not negative, found {bad:g}")
    if some and not bool(xp.any(w > 0)):
        raise ValueError(f"{name} must have a positive entry, all are zero")
    return check_squarable(name, w, nonzero=True) if some else w


def _numbers(weights: Any, xp: Any, name: str) -> Array:
    check_real_kind(name, weights)
    try:
        if is_numpy_array(weights) or not is_array_api_obj(weights):
            weights = np.asarray(weights, dtype=np.float64)
        return xp.astype(xp.asarray(weights), xp.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers, one a row: {error}") from None
