"""Log densities of gamma and beta variables in Loader's form: no large terms cancel, whatever the shapes.

C. Loader (2000), Fast and accurate computation of binomial probabilities.
"""

import math

import numpy as np

from tractable.arrays.double_double import two_product, two_sum
from tractable.arrays.gamma import gammaln, stirling_error
from tractable.arrays.log_space import HALF_LOG_2PI, xlogy
from tractable.arrays.namespace import Array
from tractable.arrays.native import floats, horner

__all__ = [
    "count_deviance",
    "deviance",
    "factorial_rest",
    "log_beta_kernel",
    "log_gamma_constant",
    "log_gamma_kernel",
]

_ATANH = tuple(1.0 / (2 * k + 3) for k in range(10))

_LARGE = 10.0  # from here on Stirling's series reaches the last digit


def deviance(a: Array, y: Array, rest: Array | float = 0.0) -> Array:
    """Return a log(a / y) + y - a ≥ 0 for a > 0, accurate where y is near a.

    Parameters
    ----------
    a, y : array
        Positive, and not negative.
    rest : array
        What rounding took from y.

    Examples
    --------
    >>> import numpy as np
    >>> deviance(np.array(1e8), np.array([1e8, 1e8 + 1e4]))
    array([0.        , 0.49996667])
    """
    xp, a, y = floats(a, y)
    gap = (y - a) + rest
    t = gap / a
    near = xp.abs(t) < 0.25
    t = xp.where(near, t, xp.zeros_like(t))
    s = t / (2.0 + t)
    close = a * (s * t - 2.0 * s * s * s * horner(_ATANH, s * s))
    inside = ~near & (y > 0.0) & (y < xp.inf)
    one = xp.ones_like(t)
    log_ratio = xp.log(xp.where(inside, y, one)) - xp.log(xp.where(inside, a * one, one))
    ratio = xp.where(inside, y / a, one)
    least = float(xp.finfo(t.dtype).smallest_normal)
    precise = (ratio > least) & (ratio < 1.0 / least)
    log_ratio = xp.where(precise, xp.log(xp.where(precise, ratio, one)), log_ratio)
    far = xp.where(inside, gap - a * log_ratio, xp.full_like(t, xp.inf))
    return xp.where(xp.isnan(gap), gap, xp.where(near, close, far))


def log_gamma_constant(a: Array) -> Array:
    """Return log(a^a e^-a / Γ(a)): the logarithm of a Gamma(a, 1) density times y, at y = a.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_gamma_constant(np.array(1.0))).round(6)
    np.float64(0.367879)
    """
    xp, a = floats(a)
    return 0.5 * xp.log(a) - HALF_LOG_2PI - stirling_error(a)


def log_gamma_kernel(a: Array, y: Array, rest: Array | float = 0.0, constant: Array | None = None) -> Array:
    """Return log(y^a e^-y / Γ(a)), a Gamma(a, 1) density times y.

    Parameters
    ----------
    a, y : array
        Positive, and not negative.
    rest : array
        What rounding took from y.
    constant : array, optional
        `log_gamma_constant` of a, where it is known.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_gamma_kernel(np.array(1.0), np.array([1.0, 2.0]))).round(6)
    array([0.367879, 0.270671])
    """
    _, a, y = floats(a, y)
    return (log_gamma_constant(a) if constant is None else constant) - deviance(a, y, rest)


def log_beta_kernel(a: Array, b: Array, x: Array, y: Array | None = None) -> Array:
    """Return log(x^a y^b / B(a, b)), a Beta(a, b) density times x (1 - x), where y = 1 - x.

    Parameters
    ----------
    a, b : array
        Positive.
    x, y : array
        From 0 to 1; y may be given where it is known better than as 1 - x.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_beta_kernel(np.array(2.0), np.array(1.0), np.array(0.5))).round(12)
    np.float64(0.25)
    """
    xp, a, b, x = floats(a, b, x)
    y = 1.0 - x if y is None else y
    total, lost = two_sum(a, b)
    low = x <= 0.5
    p, e = two_product(total, xp.where(low, x, y))
    own = xp.where(low, a, b)
    # n x - a and n y - b differ in sign alone: take the one that the smaller of x and y gives.
    gap = (p - own) + (e + lost * xp.where(low, x, y))
    nx, ny = total * x, total * y
    above, below = xp.where(low, gap, -gap), xp.where(low, -gap, gap)
    divergence = deviance(a, nx, above - (nx - a)) + deviance(b, ny, below - (ny - b))
    constant = stirling_error(total) - stirling_error(a) - stirling_error(b) - HALF_LOG_2PI
    smaller, share = xp.minimum(a, b), xp.maximum(a, b) / total
    return constant + 0.5 * (xp.log(smaller) + xp.log(share)) - divergence


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
    return xp.where(large, 0.5 * xp.log(2.0 * math.pi * big) + stirling_error(big), direct)


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
