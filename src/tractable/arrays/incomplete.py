"""The incomplete gamma and beta functions, and their inverses.

NumPy arrays go to SciPy. Those of other libraries go to functions that sum a series or a continued fraction
until it converges, in about √a steps, and invert by Newton's method in log space; so do the NumPy arrays of
which SciPy loses digits.

Gamma functions of shapes above 1e4 have Temme's expansion in every library, uniform in x (N. M. Temme 1979;
DLMF 8.12). With ½η² = x/a - 1 - log(x/a), Q(a, x) = ½ erfc(η √(a/2)) + R and P(a, x) = ½ erfc(-η √(a/2)) - R,
where R = exp(-½aη²) / √(2πa) Σ_k c_k(η) / a^k. Both terms decrease at the same rate in the tails, so that
nothing cancels there.
"""

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from tractable.arrays.double_double import two_product, two_sum
from tractable.arrays.error_function import erfc, ndtri
from tractable.arrays.log_space import sigmoid
from tractable.arrays.namespace import Array, device, is_numpy_array, namespace_of
from tractable.arrays.native import floats, horner, special_function
from tractable.arrays.saddle_point import deviance, log_beta_kernel, log_gamma_kernel

__all__ = [
    "LARGE_SHAPE",
    "beta_tails",
    "betainc",
    "betaincc",
    "betaincinv",
    "gamma_tails",
    "gammainc",
    "gammaincc",
    "gammainccinv",
    "gammaincinv",
    "large_gamma_quantile",
    "large_gamma_tails",
    "quantile",
]

_WHOLE, _BOTH = 1e3, 1e5  # above them SciPy loses digits: the greater of whole shapes, the smaller of any
_CHUNK = 4096  # entries at a time, which bounds the memory of quadratures
_AGREES = 4096.0  # units of rounding
_LAST_STEP = 1e-3
_LEAST = -744.4  # the logarithm of the least number above zero

#: From here on a tail that is not zero has |η| < 0.4, and the terms below reach the last digit.
LARGE_SHAPE = 1e4

# Taylor coefficients in η of c_0, …, c_3
_TEMME = (
    (
        *(-0.3333333333333333, 0.08333333333333333, -0.014814814814814815, 0.0011574074074074073),
        *(0.0003527336860670194, -0.0001787551440329218, 3.919263178522438e-05, -2.185448510679992e-06),
        *(-1.85406221071516e-06, 8.296711340953087e-07, -1.7665952736826078e-07, 6.707853543401498e-09),
        *(1.0261809784240309e-08, -4.382036018453353e-09),
    ),
    (
        *(-0.001851851851851852, -0.003472222222222222, 0.0026455026455026454, -0.0009902263374485596),
        *(0.00020576131687242798, -4.018775720164609e-07, -1.8098550334489977e-05, 7.64916091608111e-06),
        *(-1.6120900894563446e-06, 4.647127802807434e-09),
    ),
    (
        *(0.004133597883597883, -0.0026813271604938273, 0.0007716049382716049, 2.0093878600823047e-06),
        *(-0.0001073665322636516, 5.2923448829120125e-05),
    ),
    (0.0006494341563786008, 0.00022947209362139917, -0.0004691894943952557),
)

_MOST_TERMS = 1_000_000
_LARGE, _STEP = 1e4, 0.0625  # where both shapes are large the fraction takes too many terms
_REACH, _MOST_STEPS = 750.0, 200  # beyond exp(±750) there are no numbers

Tails = Callable[[Array], tuple[Array, Array, Array]]


def gammainc(a: Array, x: Array) -> Array:
    """Return P(a, x) = ∫_0^x t^(a-1) e^-t dt / Γ(a), for a > 0 and x ≥ 0.

    Examples
    --------
    >>> import numpy as np
    >>> gammainc(np.array(1.0), np.array([0.0, np.log(2.0)])).round(12)
    array([0. , 0.5])
    """
    return _gamma_tail("gammainc", 0, a, x)


def gammaincc(a: Array, x: Array) -> Array:
    """Return Q(a, x) = 1 - P(a, x), accurate where it is small.

    Examples
    --------
    >>> import numpy as np
    >>> float(gammaincc(np.array(1.0), np.array(300.0)) * 1e130).__round__(4)
    0.5148
    """
    return _gamma_tail("gammaincc", 1, a, x)


def gammaincinv(a: Array, q: Array) -> Array:
    """Return the x with P(a, x) = q.

    Examples
    --------
    >>> import numpy as np
    >>> gammaincinv(np.array(1.0), np.array([0.5, 0.75])).round(6)
    array([0.693147, 1.386294])
    """
    return _gamma_inverse("gammaincinv", lambda q: (q, 1.0 - q), a, q)


def gammainccinv(a: Array, q: Array) -> Array:
    """Return the x with Q(a, x) = q.

    Examples
    --------
    >>> import numpy as np
    >>> gammainccinv(np.array(1.0), np.array([1.0, np.exp(-300.0)])).round(9)
    array([  0., 300.])
    """
    return _gamma_inverse("gammainccinv", lambda q: (1.0 - q, q), a, q)


def betainc(a: Array, b: Array, x: Array) -> Array:
    """Return I_x(a, b) = ∫_0^x t^(a-1) (1 - t)^(b-1) dt / B(a, b), for a, b > 0 and x from 0 to 1.

    Examples
    --------
    >>> import numpy as np
    >>> betainc(np.array(2.0), np.array(1.0), np.array([0.0, 0.5, 1.0])).round(12)
    array([0.  , 0.25, 1.  ])
    """
    return _beta_tail("betainc", 0, a, b, x)


def betaincc(a: Array, b: Array, x: Array) -> Array:
    """Return 1 - I_x(a, b), accurate where it is small.

    Examples
    --------
    >>> import numpy as np
    >>> betaincc(np.array(1.0), np.array(2.0), np.array(0.5)).round(12)
    np.float64(0.25)
    """
    return _beta_tail("betaincc", 1, a, b, x)


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


def agnostic_betaincinv(a: Array, b: Array, q: Array) -> Array:
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


def _gamma_tail(name: str, which: int, a: Any, x: Any) -> Array:
    return _by_shape(
        name, lambda *ax: gamma_tails(*ax)[which], lambda *ax: large_gamma_tails(*ax)[which], a, x
    )


def _gamma_inverse(name: str, both: Callable[[Array], tuple[Array, Array]], a: Any, q: Any) -> Array:
    """Return the x whose tails, lower and upper, are both(q)."""
    small, large = _gamma_quantile, large_gamma_quantile
    return _by_shape(name, lambda a, q: small(a, *both(q)), lambda a, q: large(a, *both(q)), a, q)


def _by_shape(
    name: str, agnostic: Callable[..., Array], large: Callable[..., Array], a: Any, x: Any
) -> Array:
    """Call the function, or for large shapes, where SciPy's tails are inaccurate, the expansion."""
    xp, a, x = floats(a, x)
    huge = a >= LARGE_SHAPE
    # Torch's own lose digits in the tails of smaller shapes as well.
    native = partial(special_function, name, agnostic) if is_numpy_array(x) else agnostic
    if not bool(xp.any(huge)):
        return native(a, x)
    small = native(xp.where(huge, xp.ones_like(a), a), x)
    return xp.where(huge, large(xp.where(huge, a, xp.full_like(a, LARGE_SHAPE)), x), small)


def _beta_tail(name: str, which: int, a: Any, b: Any, x: Any) -> Array:
    """Call SciPy's function on NumPy arrays, except for the large shapes for which it is inaccurate."""
    xp, a, b, x = floats(a, b, x)

    def agnostic(a: Array, b: Array, x: Array) -> Array:
        return beta_tails(xp, a, b, x, 1.0 - x)[which]

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


def _gamma_quantile(a: Array, lower: Array, upper: Array) -> Array:
    xp = namespace_of(a)
    a, lower, upper = xp.broadcast_arrays(a, lower, upper)

    def tails(u: Array) -> tuple[Array, Array, Array]:
        x = xp.exp(u)
        return *gamma_tails(a, x), xp.exp(log_gamma_kernel(a, x))

    return xp.exp(quantile(xp, tails, lower, upper, xp.log(a)))


def gamma_tails(a: Array, x: Array) -> tuple[Array, Array]:
    """Return P(a, x) and Q(a, x): the series below a + 1, the continued fraction above."""
    xp = namespace_of(a, x)
    a, x = xp.broadcast_arrays(a, x)
    inside = (x > 0.0) & (x < xp.inf)
    safe = xp.where(inside, x, a)
    kernel = xp.exp(log_gamma_kernel(a, safe))
    low = safe < a + 1.0
    lower = kernel * _gamma_series(xp, a, xp.where(low, safe, xp.zeros_like(safe)))
    upper = kernel * _gamma_fraction(xp, a, xp.where(low, a + 2.0, safe))
    p, q = xp.where(low, lower, 1.0 - upper), xp.where(low, 1.0 - lower, upper)
    edge = xp.where(xp.isnan(x), x, xp.where(x > 0.0, xp.ones_like(x), xp.zeros_like(x)))
    return xp.where(inside, p, edge), xp.where(inside, q, 1.0 - edge)


def _gamma_series(xp: Any, a: Array, x: Array) -> Array:
    """Return Σ_n x^n / (a (a + 1) … (a + n))."""
    term = 1.0 / a
    total, n = term, 0
    while n < _MOST_TERMS and bool(xp.any(xp.abs(term) > _eps(xp, x) * total)):
        n += 1
        term = term * x / (a + n)
        total = total + term
    return total


def _gamma_fraction(xp: Any, a: Array, x: Array) -> Array:
    """Return 1 / (x + 1 - a - 1 (1 - a) / (x + 3 - a - 2 (2 - a) / …)), by Lentz's method."""

    def step(n: int) -> tuple[Array, Array]:
        return -n * (n - a), x + (2 * n + 1) - a

    return 1.0 / _lentz(xp, x + 1.0 - a, step)


def large_gamma_tails(a: Array, x: Array) -> tuple[Array, Array]:
    """Return P(a, x) and Q(a, x) for a ≥ 1e4 and x ≥ 0.

    Examples
    --------
    >>> import numpy as np
    >>> lower, upper = large_gamma_tails(np.array(1e8), np.array(1e8 - 5.6e4))
    >>> float(lower * 1e8).__round__(4), float(lower + upper)
    (1.0655, 1.0)
    """
    xp, a, x = floats(a, x)
    half = deviance(a, x)  # ½aη²
    finite = half < 700.0
    half = xp.where(finite, half, xp.full_like(half, 700.0))
    y = xp.where(x < a, -xp.sqrt(half), xp.sqrt(half))
    eta = y * xp.sqrt(2.0 / a)
    c0, c1, c2, c3 = (horner(row, eta) for row in _TEMME)
    series = c0 + (c1 + (c2 + c3 / a) / a) / a
    rest = xp.exp(-half) / xp.sqrt(2.0 * math.pi * a) * series
    lower, upper = 0.5 * erfc(-y) - rest, 0.5 * erfc(y) + rest
    end = xp.where(x < a, xp.zeros_like(y), xp.ones_like(y))
    end = xp.where(xp.isnan(x), x, end)
    return xp.where(finite, lower, end), xp.where(finite, upper, 1.0 - end)


def large_gamma_quantile(a: Array, lower: Array, upper: Array) -> Array:
    """Return the x with P(a, x) = lower and Q(a, x) = upper, for a ≥ 1e4; the smaller of the two decides.

    Newton's steps on the logarithm of that tail, from Wilson and Hilferty's cube.

    Examples
    --------
    >>> import numpy as np
    >>> large_gamma_quantile(np.array(1e8), np.array([0.5]), np.array([0.5])).round(3)
    array([99999999.667])
    """
    xp, a, lower, upper = floats(a, lower, upper)
    low = lower <= upper
    tail = xp.where(low, lower, upper)
    inside = (tail > 0.0) & (tail < 1.0)
    tail = xp.where(inside, tail, xp.full_like(tail, 0.5))
    z = xp.where(low, ndtri(tail), -ndtri(tail))
    root = 1.0 - 1.0 / (9.0 * a) + z / (3.0 * xp.sqrt(a))
    x = a * root * root * root
    for _ in range(4):
        found = xp.where(low, *large_gamma_tails(a, x))
        with np.errstate(over="ignore"):
            step = found * xp.log(found / tail) * xp.exp(-log_gamma_kernel(a, x))
        x = x * (1.0 - xp.where(low, step, -step))
    end = xp.where(lower <= 0.0, xp.zeros_like(x), xp.where(upper <= 0.0, xp.full_like(x, xp.inf), x))
    return xp.where(inside, x, xp.where(xp.isnan(lower), lower, end))


def beta_tails(xp: Any, a: Array, b: Array, x: Array, y: Array) -> tuple[Array, Array]:
    """Return I_x(a, b) and I_y(b, a), given x and y = 1 - x: the fraction of the smaller side."""
    a, b, x, y = xp.broadcast_arrays(a, b, x, y)
    inside = (x > 0.0) & (y > 0.0)
    half = xp.full_like(x, 0.5)
    u, v = xp.where(inside, x, half), xp.where(inside, y, half)
    kernel = xp.exp(log_beta_kernel(a, b, u, v))
    low = u * (b + 1.0) < v * (a + 1.0)
    p, q = xp.where(low, a, b), xp.where(low, b, a)
    z, rest = xp.where(low, u, v), xp.where(low, v, u)
    large = xp.minimum(a, b) > _LARGE
    one = xp.ones_like(p)
    small = (xp.where(large, c, w) for c, w in zip((one, one, half, half), (p, q, z, rest), strict=True))
    tail = kernel / _beta_fraction(xp, *small)
    if bool(xp.any(large)):
        tail = xp.where(large, _beta_integral(xp, p, q, z, rest), tail)
    lower, upper = xp.where(low, tail, 1.0 - tail), xp.where(low, 1.0 - tail, tail)
    edge = xp.where(xp.isnan(x), x, xp.where(x > 0.0, xp.ones_like(x), xp.zeros_like(x)))
    return xp.where(inside, lower, edge), xp.where(inside, upper, 1.0 - edge)


def _beta_integral(xp: Any, a: Array, b: Array, x: Array, y: Array) -> Array:
    """Return I_x(a, b) below the mean, for large a and b: the density of log x/(1 - x) by quadrature.

    The variable is x/(1 - x) e^-s with s = exp(½π sinh v) in units of the width of the density at x, and v on
    an even grid (Takahasi & Mori 1974).
    """
    v = xp.arange(-4.5, 3.0, _STEP, dtype=x.dtype, device=device(x))
    v = xp.reshape(v, (-1,) + (1,) * x.ndim)
    # Slope and curvature of the log density at x: n x - a and n y - b differ in sign alone.
    fall, bend = _beta_slope(xp, a, b, x, y), xp.sqrt((a + b) * x * y)
    s = xp.exp(0.5 * math.pi * xp.sinh(v)) / (xp.abs(fall) + bend)
    drop = fall * s + (a + b) * _centred_cumulant(xp, x, y, s)
    total = _STEP * xp.sum(xp.exp(-drop) * s * (0.5 * math.pi * xp.cosh(v)), axis=0)
    return xp.exp(log_beta_kernel(a, b, x, y)) * total


def _beta_slope(xp: Any, a: Array, b: Array, x: Array, y: Array) -> Array:
    """Return a - (a + b) x, without rounding the product."""
    total, lost = two_sum(a, b)
    low = x <= 0.5
    least = xp.where(low, x, y)
    product, rest = two_product(total, least)
    gap = (xp.where(low, a, b) - product) - (rest + lost * least)
    return xp.where(low, gap, -gap)


def _centred_cumulant(xp: Any, x: Array, y: Array, s: Array) -> Array:
    """Return log(y + x e^-s) + x s for s ≥ 0: for small s by the cumulants of a trial of probability x."""
    v, skew = x * y, y - x
    near = s < 0.02
    t = -xp.where(near, s, xp.zeros_like(s))
    even = (1.0 / 2.0, (1.0 - 6.0 * v) / 24.0, (1.0 - 30.0 * v + 120.0 * v * v) / 720.0)
    odd = (1.0 / 6.0, (1.0 - 12.0 * v) / 120.0, (1.0 - 60.0 * v + 360.0 * v * v) / 5040.0)
    square = t * t
    series = even[0] + square * (even[1] + square * even[2])
    series = series + t * skew * (odd[0] + square * (odd[1] + square * odd[2]))
    return xp.where(near, v * square * series, xp.log1p(x * xp.expm1(-s)) + x * s)


def _beta_fraction(xp: Any, a: Array, b: Array, x: Array, y: Array) -> Array:
    """Return the continued fraction of Didonato and Morris (1992), (9), whose terms do not cancel."""
    above = a * y - b * x + 1.0

    def step(n: int) -> tuple[Array, Array]:
        ratio = x / (a + (2 * n - 1))
        p = (a + (n - 1)) * ratio * ((a + b + (n - 1)) * ratio) * (n * (b - n))
        return p, n + n * (b - n) * ratio + (a + n) / (a + (2 * n + 1)) * (above + n * (1.0 + y))

    return _lentz(xp, a / (a + 1.0) * above, step)


def _lentz(xp: Any, first: Array, step: Callable[[int], tuple[Array, Array]]) -> Array:
    """Return first + p_1 / (q_1 + p_2 / (q_2 + …)) with (p_n, q_n) = step(n) (Thompson and Barnett)."""
    tiny = float(xp.finfo(first.dtype).smallest_normal) / _eps(xp, first)

    def apart(x: Array) -> Array:
        return xp.where(xp.abs(x) < tiny, xp.full_like(x, tiny), x)

    total = above = apart(first)
    below, settled, n = xp.zeros_like(first), False, 0
    while n < _MOST_TERMS and not settled:
        n += 1
        p, q = step(n)
        below = 1.0 / apart(q + p * below)
        above = apart(q + p / above)
        change = above * below
        total = total * change
        settled = not bool(xp.any(xp.abs(change - 1.0) > 2.0 * _eps(xp, first)))
    return total


def _eps(xp: Any, x: Array) -> float:
    return float(xp.finfo(x.dtype).eps)


def quantile(xp: Any, tails: Tails, lower: Array, upper: Array, start: Array) -> Array:
    """Return the u, from -750 to 750, at which the tails are as given; the smaller of the two decides.

    Newton's method on the logarithm of that tail, which is concave, so that a step overshoots once at most;
    where a step leaves the bracket, the bracket is halved.

    Parameters
    ----------
    xp : namespace
    tails : callable
        ``tails(u)`` returns P(U ≤ u), P(U > u) and the density of U at u.
    lower, upper : array
        What the two tails should be.
    start : array
        Near the centre.
    """
    falls = lower > upper
    target = xp.where(falls, upper, lower)
    inside = (target > 0.0) & (target <= 0.5)
    target = xp.where(inside, target, xp.full_like(target, 0.5))
    # Six evaluations for a thousand quantiles of a Beta; `increasing_root`, in a layer above, takes 63.
    u, low, high = start, xp.full_like(start, -_REACH), xp.full_like(start, _REACH)
    eps = float(xp.finfo(u.dtype).eps)
    for _ in range(_MOST_STEPS):
        with np.errstate(all="ignore"):
            below, above, density = tails(u)
            tail = xp.where(falls, above, below)
            step = tail / density * (xp.log(tail) - xp.log(target))
            newton = u - xp.where(falls, -step, step)
            short = xp.where(falls, above > target, below < target)
            low, high = xp.where(short, u, low), xp.where(short, high, u)
            fits = (newton >= low) & (newton <= high)
        after = xp.where(fits, newton, 0.5 * (low + high))
        moved, u = xp.abs(after - u), after
        # Newton converges quadratically: a step of half the digits is the last that matters.
        if bool(xp.all((moved <= 1e-2 * eps**0.5) & fits | (high - low <= 4.0 * eps * xp.abs(u)) | ~inside)):
            break
    end = xp.where(lower <= 0.0, xp.full_like(u, -xp.inf), xp.where(upper <= 0.0, xp.full_like(u, xp.inf), u))
    return xp.where(xp.isnan(lower), lower, end)
