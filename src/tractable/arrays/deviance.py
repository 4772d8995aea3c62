"""What Stirling's formula lacks: large terms of log Γ are then cancelled on paper, not in floating point."""

from typing import Any

from tractable.arrays.namespace import Array
from tractable.arrays.native import floats, horner

__all__ = ["stirling_rest"]

# B_2k / (2k (2k - 1)), the asymptotic series of log Γ
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
_LARGE = 10.0  # from here on the eight terms above reach the last digit


def stirling_rest(x: Array) -> Array:
    """Return log Γ(x) - ((x - ½) log x - x + ½ log 2π) for x > 0: what Stirling's formula lacks.

    Below 10 it climbs there by R(x) = R(x + 1) + (x + ½) log(1 + 1/x) - 1, a sum of small positive terms.

    Examples
    --------
    >>> import numpy as np
    >>> (1e6 * stirling_rest(np.array([1e6]))).round(6)
    array([0.083333])
    """
    xp, x = floats(x)
    climb = xp.zeros_like(x)
    for _ in range(int(_LARGE)):
        low = x < _LARGE
        climb = climb + xp.where(low, (x + 0.5) * _log_next(xp, x) - 1.0, xp.zeros_like(x))
        x = xp.where(low, x + 1.0, x)
    r = 1.0 / x
    return climb + r * horner(_STIRLING, r * r)


def _log_next(xp: Any, x: Array) -> Array:
    """Return log((x + 1) / x)."""
    small = x < 1.0
    one = xp.ones_like(x)
    below = xp.log1p(x) - xp.log(xp.where(small, x, one))
    return xp.where(small, below, xp.log1p(1.0 / xp.where(small, one, x)))
