"""The derivative of the digamma function."""

from tractable.arrays.namespace import Array
from tractable.arrays.native import floats, horner

__all__ = ["trigamma"]

# B_2k, the asymptotic series of ψ′
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_LARGE = 10.0  # from here on the eight terms above reach the last digit


def trigamma(x: Array) -> Array:
    """Return ψ′(x) = Σ_{k≥0} 1 / (x + k)² for x > 0: climb to x ≥ 10, then the asymptotic series.

    Examples
    --------
    >>> import numpy as np
    >>> trigamma(np.array([1.0, 2.0])).round(6)
    array([1.644934, 0.644934])
    """
    xp, x = floats(x)
    climb = xp.zeros_like(x)
    for _ in range(int(_LARGE)):
        low = x < _LARGE
        climb = climb + xp.where(low, 1.0 / x / x, xp.zeros_like(x))
        x = xp.where(low, x + 1.0, x)
    r = 1.0 / x
    return climb + r * (1.0 + r * (0.5 + r * horner(_BERNOULLI, r * r)))
