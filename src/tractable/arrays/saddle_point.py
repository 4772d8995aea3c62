"""Log densities of gamma and beta variables in Loader's form: no large terms cancel, whatever the shapes.

C. Loader (2000), Fast and accurate computation of binomial probabilities.
"""

from tractable.arrays.constants import HALF_LOG_2PI
from tractable.arrays.deviance import stirling_rest
from tractable.arrays.exact import two_product, two_sum
from tractable.arrays.gamma import digamma
from tractable.arrays.namespace import Array
from tractable.arrays.native import floats, horner

__all__ = ["deviance", "log_beta_kernel", "log_gamma_kernel", "log_minus_digamma", "trigamma_excess"]

_ATANH = tuple(1.0 / (2 * k + 3) for k in range(10))

# log x - ψ(x) - 1/2x = Σ B_2k / (2k x^2k), and ψ'(x) - 1/x - 1/2x² = Σ B_2k / x^(2k+1)
_DIGAMMA = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160)
_TRIGAMMA = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_LARGE = 10.0  # from here on the terms above reach the last digit


def deviance(a: Array, y: Array, rest: Array | float = 0.0) -> Array:
    """Return a log(a / y) + y - a ≥ 0 for a > 0, with its digits where y is near a.

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


def log_gamma_kernel(a: Array, y: Array, rest: Array | float = 0.0) -> Array:
    """Return log(y^a e^-y / Γ(a)), a Gamma(a, 1) density times y.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(log_gamma_kernel(np.array(1.0), np.array([1.0, 2.0]))).round(6)
    array([0.367879, 0.270671])
    """
    xp, a, y = floats(a, y)
    return (0.5 * xp.log(a) - HALF_LOG_2PI - stirling_rest(a)) - deviance(a, y, rest)


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
    constant = stirling_rest(total) - stirling_rest(a) - stirling_rest(b) - HALF_LOG_2PI
    smaller, share = xp.minimum(a, b), xp.maximum(a, b) / total
    return constant + 0.5 * (xp.log(smaller) + xp.log(share)) - divergence


def log_minus_digamma(x: Array) -> Array:
    """Return log x - ψ(x) for x > 0: about 1/2x when x is large, with its digits.

    Examples
    --------
    >>> import numpy as np
    >>> (2e9 * log_minus_digamma(np.array(1e9))).round(6)
    np.float64(1.0)
    """
    xp, x = floats(x)
    large = x >= _LARGE
    one = xp.ones_like(x)
    r = 1.0 / xp.where(large, x, one)
    small = xp.where(large, one, x)
    return xp.where(large, r * (0.5 + r * horner(_DIGAMMA, r * r)), xp.log(small) - digamma(small))


def trigamma_excess(x: Array) -> Array:
    """Return x (x ψ'(x) - 1) for x > 0: from 1 at zero down to ½ when x is large, with its digits.

    It is -x² times the slope of `log_minus_digamma`.

    Examples
    --------
    >>> import numpy as np
    >>> trigamma_excess(np.array([1e-9, 1.0, 1e9])).round(6)
    array([1.      , 0.644934, 0.5     ])
    """
    xp, x = floats(x)
    large = x >= _LARGE
    one = xp.ones_like(x)
    r = 1.0 / xp.where(large, x, one)
    series = 0.5 + r * horner(_TRIGAMMA, r * r)
    small = xp.where(large, one, x)
    return xp.where(large, series, small * (small * _climbed_trigamma(small) - 1.0))


def _climbed_trigamma(x: Array) -> Array:
    """Return ψ'(x) for x < 10, from its value at x + 10."""
    steps = [1.0 / (x + k) ** 2 for k in range(10)]
    r = 1.0 / (x + 10.0)
    total = r * (1.0 + r * (0.5 + r * horner(_TRIGAMMA, r * r)))
    for step in reversed(steps):
        total = total + step
    return total
