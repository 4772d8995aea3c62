"""What Stirling's formula lacks: large terms of log Γ are then cancelled on paper, not in floating point."""

import math

from tractable.arrays.gamma import gammaln
from tractable.arrays.namespace import Array
from tractable.arrays.native import floats, horner

__all__ = ["stirling_rest"]

# B_2k / (2k (2k - 1)), the asymptotic series of log Γ
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
_LARGE = 10.0  # from here on the eight terms above reach the last digit
_HALF_LOG_2PI = 0.5 * math.log(2.0 * math.pi)


def stirling_rest(x: Array) -> Array:
    """Return log Γ(x) - ((x - ½) log x - x + ½ log 2π) for x > 0: what Stirling's formula lacks.

    Examples
    --------
    >>> import numpy as np
    >>> (1e6 * stirling_rest(np.array([1e6]))).round(6)
    array([0.083333])
    """
    xp, x = floats(x)
    large = x >= _LARGE
    r = 1.0 / xp.where(large, x, xp.ones_like(x))
    small = xp.where(large, xp.ones_like(x), x)
    direct = gammaln(small) - ((small - 0.5) * xp.log(small) - small + _HALF_LOG_2PI)
    return xp.where(large, r * horner(_STIRLING, r * r), direct)
