"""Both tails of gamma and beta distributions, by a series or a continued fraction, in any array library."""

import math
from collections.abc import Callable
from typing import Any

from tractable.arrays.exact import two_product, two_sum
from tractable.arrays.namespace import Array, device
from tractable.arrays.saddle_point import log_beta_kernel, log_gamma_kernel

__all__ = ["beta_tails", "gamma_tails"]

_MOST_TERMS = 1_000_000
_LARGE, _STEP = 1e4, 0.0625  # where both shapes are large the fraction takes too many terms


def gamma_tails(xp: Any, a: Array, x: Array) -> tuple[Array, Array]:
    """Return P(a, x) and Q(a, x): the series below a + 1, the continued fraction above."""
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
