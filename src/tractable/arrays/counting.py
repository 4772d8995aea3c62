"""Factorials and powers in probabilities of counts, with their large terms cancelled on paper.

Loader (2000), Fast and accurate computation of binomial probabilities: log x! = x log x - x + rest(x), and
the x log x of all factorials together make deviances, which are small where the counts are probable.
"""

import math

import numpy as np

from tractable.arrays.deviance import stirling_rest
from tractable.arrays.gamma import gammaln
from tractable.arrays.log_space import xlogy
from tractable.arrays.namespace import Array
from tractable.arrays.native import floats
from tractable.arrays.saddle_point import deviance

__all__ = ["count_deviance", "factorial_rest"]

_LARGE = 10.0


def factorial_rest(x: Array) -> Array:
    """Return log x! - (x log x - x) for x ≥ 0: from 0 at 0 to ½ log 2πx.

    Examples
    --------
    >>> import numpy as np
    >>> factorial_rest(np.array([0.0, 1.0, 1e9])).round(6)
    array([ 0.      ,  1.      , 11.280571])
    """
    xp, x = floats(x)
    large = x >= _LARGE
    small = xp.where(large, xp.ones_like(x), x)
    big = xp.where(large, x, xp.full_like(x, _LARGE))
    direct = gammaln(small + 1.0) - xlogy(small, small) + small
    return xp.where(large, 0.5 * xp.log(2.0 * math.pi * big) + stirling_rest(big), direct)


def count_deviance(x: Array, mean: Array, rest: Array | float = 0.0) -> Array:
    """Return x log(x / mean) + mean - x for x, mean ≥ 0: `deviance`, and the mean itself where x is 0.

    Parameters
    ----------
    x, mean : array
        Not negative.
    rest : array
        What rounding took from the mean.

    Examples
    --------
    >>> import numpy as np
    >>> count_deviance(np.array([0.0, 3.0, 1e9 + 1.0, 1.0]), np.array([2.0, 3.0, 1e9, 0.0]))
    array([2.e+00, 0.e+00, 5.e-10,    inf])
    """
    xp, x, mean = floats(x, mean)
    x, mean = xp.broadcast_arrays(x, mean)
    some = x > 0.0
    # A quotient may overflow on the way where the answer does not.
    with np.errstate(over="ignore"):
        return xp.where(some, deviance(xp.where(some, x, xp.ones_like(x)), mean, rest), mean)
