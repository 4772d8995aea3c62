"""The incomplete gamma and beta functions, and their inverses.

NumPy arrays go to SciPy. Those of other libraries go to functions that sum a series or a continued fraction
until it settles, in about √a steps, and invert by Newton's method in log space; so do the NumPy arrays of
which SciPy loses digits. Gamma functions of shapes above 1e4 have an expansion of their own in every library.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.large_gamma import LARGE_SHAPE, large_gamma_quantile, large_gamma_tails
from tractable.arrays.log_space import sigmoid
from tractable.arrays.namespace import Array, is_numpy_array
from tractable.arrays.native import floats, special_function
from tractable.arrays.quantile import quantile
from tractable.arrays.saddle_point import log_beta_kernel, log_gamma_kernel
from tractable.arrays.tails import beta_tails, gamma_tails

__all__ = [
    "betainc",
    "betaincc",
    "betaincinv",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
]

_WHOLE, _BOTH = 1e3, 1e5  # above them SciPy loses digits: the greater of whole shapes, the smaller of any
_CHUNK = 4096  # entries at a time, which bounds the memory of quadratures
_AGREES = 4096.0  # units of rounding
_LAST_STEP = 1e-3
_LEAST = -744.4  # the logarithm of the least number above zero


def gammainc(a: Array, x: Array) -> Array:
    """Return P(a, x) = ∫_0^x t^(a-1) e^-t dt / Γ(a), for a > 0 and x ≥ 0.

    Examples
    --------
    >>> import numpy as np
    >>> gammainc(np.array(1.0), np.array([0.0, np.log(2.0)])).round(12)
    array([0. , 0.5])
    """
    return _by_shape("gammainc", agnostic_gammainc, lambda a, x: large_gamma_tails(a, x)[0], a, x)


def gammaincc(a: Array, x: Array) -> Array:
    """Return Q(a, x) = 1 - P(a, x), with its digits where it is small.

    Examples
    --------
    >>> import numpy as np
    >>> float(gammaincc(np.array(1.0), np.array(300.0)) * 1e130).__round__(4)
    0.5148
    """
    return _by_shape("gammaincc", agnostic_gammaincc, lambda a, x: large_gamma_tails(a, x)[1], a, x)


def gammaincinv(a: Array, q: Array) -> Array:
    """Return the x with P(a, x) = q.

    Examples
    --------
    >>> import numpy as np
    >>> gammaincinv(np.array(1.0), np.array([0.5, 0.75])).round(6)
    array([0.693147, 1.386294])
    """
    return _by_shape("gammaincinv", agnostic_gammaincinv, _large_inverse, a, q)


def gammainccinv(a: Array, q: Array) -> Array:
    """Return the x with Q(a, x) = q.

    Examples
    --------
    >>> import numpy as np
    >>> gammainccinv(np.array(1.0), np.array([1.0, np.exp(-300.0)])).round(9)
    array([  0., 300.])
    """
    return _by_shape("gammainccinv", agnostic_gammainccinv, _large_inverse_of_upper, a, q)


def betainc(a: Array, b: Array, x: Array) -> Array:
    """Return I_x(a, b) = ∫_0^x t^(a-1) (1 - t)^(b-1) dt / B(a, b), for a, b > 0 and x from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> betainc(np.array(2.0), np.array(1.0), np.array([0.0, 0.5, 1.0])).round(12)
    array([0.  , 0.25, 1.  ])
    """
    return _beta_tail("betainc", agnostic_betainc, a, b, x)


def betaincc(a: Array, b: Array, x: Array) -> Array:
    """Return 1 - I_x(a, b), with its digits where it is small.

    Examples
    --------
    >>> import numpy as np
    >>> betaincc(np.array(1.0), np.array(2.0), np.array(0.5)).round(12)
    np.float64(0.25)
    """
    return _beta_tail("betaincc", agnostic_betaincc, a, b, x)


def betaincinv(a: Array, b: Array, q: Array) -> Array:
    """Return the x with I_x(a, b) = q.

    Examples
    --------
    >>> import numpy as np
    >>> betaincinv(np.array(2.0), np.array(1.0), np.array(0.25)).round(12)
    np.float64(0.5)
    """
    _, a, b, q = floats(a, b, q)
    if not is_numpy_array(q):
        return agnostic_betaincinv(a, b, q)
    x = special_function("betaincinv", agnostic_betaincinv, a, b, q)
    tail, wanted = np.where(q <= 0.5, betainc(a, b, x), betaincc(a, b, x)), np.minimum(q, 1.0 - q)
    wrong = ~(np.abs(tail - wanted) <= _AGREES * np.finfo(wanted.dtype).eps * wanted)
    return _mended(x, wrong, agnostic_betaincinv, a, b, q)


def agnostic_gammainc(a: Array, x: Array) -> Array:
    """See `gammainc`."""
    xp, a, x = floats(a, x)
    return gamma_tails(xp, a, x)[0]


def agnostic_gammaincc(a: Array, x: Array) -> Array:
    """See `gammaincc`."""
    xp, a, x = floats(a, x)
    return gamma_tails(xp, a, x)[1]


def agnostic_gammaincinv(a: Array, q: Array) -> Array:
    """See `gammaincinv`."""
    xp, a, q = floats(a, q)
    return _gamma_quantile(xp, a, q, 1.0 - q)


def agnostic_gammainccinv(a: Array, q: Array) -> Array:
    """See `gammainccinv`."""
    xp, a, q = floats(a, q)
    return _gamma_quantile(xp, a, 1.0 - q, q)


def agnostic_betainc(a: Array, b: Array, x: Array) -> Array:
    """See `betainc`."""
    xp, a, b, x = floats(a, b, x)
    return beta_tails(xp, a, b, x, 1.0 - x)[0]


def agnostic_betaincc(a: Array, b: Array, x: Array) -> Array:
    """See `betaincc`."""
    xp, a, b, x = floats(a, b, x)
    return beta_tails(xp, a, b, x, 1.0 - x)[1]


def agnostic_betaincinv(a: Array, b: Array, q: Array) -> Array:
    """See `betaincinv`."""
    xp, a, b, q = floats(a, b, q)
    a, b, q = xp.broadcast_arrays(a, b, q)

    def tails(u: Array) -> tuple[Array, Array, Array]:
        x, y = sigmoid(u), sigmoid(-u)
        return *beta_tails(xp, a, b, x, y), xp.exp(log_beta_kernel(a, b, x, y))

    u = quantile(xp, tails, q, 1.0 - q, xp.log(a) - xp.log(b))
    # A last step of Newton's, in x or 1 - x: they hold digits that their log-odds do not.
    with np.errstate(all="ignore"):
        lower, upper, density = tails(u)
        step = xp.where(q <= 0.5, lower * xp.log(lower / q), -upper * xp.log(upper / (1.0 - q))) / density
    step = xp.where(xp.abs(step) < _LAST_STEP, step, xp.zeros_like(step))
    x, y = sigmoid(u), sigmoid(-u)
    found = xp.where(u > 0.0, 1.0 - y * (1.0 + x * step), x * (1.0 - y * step))
    return xp.where(u < _LEAST, xp.zeros_like(u), found)


def _gamma_quantile(xp: Any, a: Array, lower: Array, upper: Array) -> Array:
    a, lower, upper = xp.broadcast_arrays(a, lower, upper)

    def tails(u: Array) -> tuple[Array, Array, Array]:
        x = xp.exp(u)
        return *gamma_tails(xp, a, x), xp.exp(log_gamma_kernel(a, x))

    return xp.exp(quantile(xp, tails, lower, upper, xp.log(a)))


def _by_shape(
    name: str, agnostic: Callable[..., Array], large: Callable[..., Array], a: Any, x: Any
) -> Array:
    """Call the function, but for large shapes, of which SciPy's loses the tails, the expansion."""
    xp, a, x = floats(a, x)
    huge = a >= LARGE_SHAPE
    # Torch's own lose digits in the tails of smaller shapes as well.
    native = partial(special_function, name, agnostic) if is_numpy_array(x) else agnostic
    if not bool(xp.any(huge)):
        return native(a, x)
    small = native(xp.where(huge, xp.ones_like(a), a), x)
    return xp.where(huge, large(xp.where(huge, a, xp.full_like(a, LARGE_SHAPE)), x), small)


def _beta_tail(name: str, agnostic: Callable[..., Array], a: Any, b: Any, x: Any) -> Array:
    """Call SciPy's function on NumPy arrays, but for large shapes, whole or both, whose digits it loses."""
    xp, a, b, x = floats(a, b, x)
    if not is_numpy_array(x):
        return agnostic(a, b, x)
    whole = (xp.maximum(a, b) > _WHOLE) & (a == xp.floor(a)) & (b == xp.floor(b))
    rough = whole | (xp.minimum(a, b) > _BOTH)
    return _mended(special_function(name, agnostic, a, b, x), rough, agnostic, a, b, x)


def _mended(found: np.ndarray, wrong: np.ndarray, agnostic: Callable[..., Array], *given: Any) -> np.ndarray:
    """Replace the wrong entries by those of the agnostic function."""
    if not np.any(wrong):
        return found
    found, wrong, *wide = np.broadcast_arrays(found, wrong, *given)
    mended, chosen = np.array(found), [x[wrong] for x in wide]
    starts = range(0, chosen[0].size, _CHUNK)
    mended[wrong] = np.concatenate([agnostic(*(x[i : i + _CHUNK] for x in chosen)) for i in starts])
    return mended[()]


def _large_inverse(a: Array, q: Array) -> Array:
    return large_gamma_quantile(a, q, 1.0 - q)


def _large_inverse_of_upper(a: Array, q: Array) -> Array:
    return large_gamma_quantile(a, 1.0 - q, q)
