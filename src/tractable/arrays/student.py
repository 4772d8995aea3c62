"""Student's t: its distribution function and quantiles."""

import math
from typing import Any

import numpy as np

from tractable.arrays.error_function import erfc, ndtri
from tractable.arrays.gamma import betaln
from tractable.arrays.incomplete import beta_tails, quantile
from tractable.arrays.namespace import Array, is_numpy_array, unbroadcast
from tractable.arrays.native import floats, special_function

__all__ = ["stdtr", "stdtrit"]

_LARGE = 1e4  # from here on the terms below reach the last digit of a tail that is not zero
_TERMS = 8
_FAR = 1e9  # from here on, in units of √ν, the tail is a power to the last digit
_AGREES = 4096.0  # units of rounding


def stdtr(dof: Array, t: Array) -> Array:
    """Return the distribution function of Student's t, accurate in the lower tail.

    Examples
    --------
    >>> import numpy as np
    >>> stdtr(np.array(1.0), np.array([-1.0, 0.0, 1.0])).round(12)
    array([0.25, 0.5 , 0.75])
    """
    xp, dof, t = floats(dof, t)
    dof, t = xp.broadcast_arrays(dof, t)
    normal = dof == xp.inf
    if bool(xp.any(normal)):
        own = stdtr(xp.where(normal, xp.ones_like(dof), dof), t)
        return xp.where(normal, 0.5 * erfc(-t / math.sqrt(2.0)), own)
    far = xp.abs(t) > _FAR * xp.sqrt(dof)
    found = special_function("stdtr", agnostic_stdtr, dof, xp.where(far, xp.zeros_like(t), t))
    if not bool(xp.any(far)):
        return found
    tail = _asymptotic_tail(xp, dof, xp.where(far, xp.abs(t), xp.sqrt(dof)))
    return xp.where(far, xp.where(t > 0.0, 1.0 - tail, tail), found)


def stdtrit(dof: Array, q: Array) -> Array:
    """Return the quantiles of Student's t.

    Examples
    --------
    >>> import numpy as np
    >>> stdtrit(np.array(1.0), np.array([0.25, 0.5])).round(12)
    array([-1.,  0.])
    """
    xp, dof, q = floats(dof, q)
    shape = xp.broadcast_arrays(dof, q)[0].shape
    dof, q = xp.broadcast_arrays(unbroadcast(dof), unbroadcast(q))
    normal = dof == xp.inf
    if bool(xp.any(normal)):
        own = stdtrit(xp.where(normal, xp.ones_like(dof), dof), q)
        return xp.broadcast_to(xp.where(normal, ndtri(q), own), shape)
    tail = xp.minimum(q, 1.0 - q)
    size = _asymptotic_quantile(xp, dof, tail)
    near = ~(size > _FAR * xp.sqrt(dof))
    if bool(xp.any(near)):
        size = xp.where(near, _near_quantile(xp, dof, xp.where(near, tail, xp.full_like(tail, 0.25))), size)
    return xp.broadcast_to(xp.where(q < 0.5, -size, size), shape)


def _near_quantile(xp: Any, dof: Array, tail: Array) -> Array:
    """Return the t with P(T > t) = tail: SciPy's where it is right, else by Newton's method."""
    if not is_numpy_array(tail):
        return xp.abs(agnostic_stdtrit(dof, tail))
    size = np.abs(special_function("stdtrit", agnostic_stdtrit, dof, tail))
    wrong = ~(np.abs(stdtr(dof, -size) - tail) <= _AGREES * np.finfo(tail.dtype).eps * tail)
    if np.any(wrong):
        size = np.array(size)
        size[wrong] = np.abs(agnostic_stdtrit(dof[wrong], tail[wrong]))
    return size


def agnostic_stdtr(dof: Array, t: Array) -> Array:
    """See `stdtr`: the tail below -|t| is ½ I_x(ν/2, ½) at x = ν / (ν + t²)."""
    xp, dof, t = floats(dof, t)
    dof, t = xp.broadcast_arrays(dof, t)
    tail = _tail(xp, dof, xp.abs(t))
    return xp.where(t > 0.0, 1.0 - tail, tail)


def agnostic_stdtrit(dof: Array, q: Array) -> Array:
    """See `stdtrit`, for q ≤ ½."""
    xp, dof, q = floats(dof, q)
    dof, q = xp.broadcast_arrays(dof, q)
    log_peak = -0.5 * xp.log(dof) - betaln(0.5 * dof, 0.5 * xp.ones_like(dof))

    def tails(u: Array) -> tuple[Array, Array, Array]:
        t = xp.exp(u)
        upper = _tail(xp, dof, t)
        return 1.0 - upper, upper, t * xp.exp(log_peak - 0.5 * (dof + 1.0) * xp.log1p(t * t / dof))

    centre = q == 0.5
    tail = xp.where(centre, xp.full_like(q, 0.25), q)
    size = xp.exp(quantile(xp, tails, 1.0 - tail, tail, xp.zeros_like(tail)))
    return xp.where(centre, xp.zeros_like(size), -size)


def _asymptotic_tail(xp: Any, dof: Array, t: Array) -> Array:
    """Return P(T > t) = (√ν / t)^ν / (ν B(½ν, ½)) for t far out."""
    return (xp.sqrt(dof) / t) ** dof * _asymptotic_factor(xp, dof)


def _asymptotic_quantile(xp: Any, dof: Array, tail: Array) -> Array:
    """Return the t at which `_asymptotic_tail` is the tail; valid only where t is large."""
    with np.errstate(over="ignore", divide="ignore"):
        return xp.sqrt(dof) * (_asymptotic_factor(xp, dof) / tail) ** (1.0 / dof)


def _asymptotic_factor(xp: Any, dof: Array) -> Array:
    return xp.exp(-betaln(0.5 * dof, 0.5 * xp.ones_like(dof))) / dof


def _tail(xp: Any, dof: Array, t: Array) -> Array:
    """Return P(T > t) for t ≥ 0."""
    large = dof >= _LARGE
    one = xp.ones_like(dof)
    with np.errstate(over="ignore"):
        odds = t * t / dof
    far = odds == xp.inf
    safe = xp.where(far, one, odds)
    x, y = xp.where(far, 0.0 * one, 1.0 / (1.0 + safe)), xp.where(far, one, safe / (1.0 + safe))
    half = xp.where(large, one, 0.5 * dof)
    found = (
        0.5 * beta_tails(xp, half, 0.5 * one, xp.where(large, 0.5 * one, x), xp.where(large, 0.5 * one, y))[0]
    )
    if not bool(xp.any(large)):
        return found
    return xp.where(large, _large_tail(xp, xp.where(large, dof, _LARGE * one), odds), found)


def _large_tail(xp: Any, dof: Array, odds: Array) -> Array:
    """Return ½ I_x(ν/2, ½) at x = 1 / (1 + t²/ν) for large ν (Didonato & Morris 1992, section 9)."""
    a, b = 0.5 * dof, 0.5
    scale = a - 0.25
    u = scale * xp.log1p(odds)
    zero = u > 700.0
    u = xp.where(zero, xp.full_like(u, 700.0), u)
    log_x = u / scale
    height = xp.exp(-u) * xp.sqrt(u / math.pi)
    part = total = erfc(xp.sqrt(u))
    power, weights = xp.ones_like(u), _weights()
    for n in range(_TERMS - 1):
        rise = (b + 2 * n) * (b + 2 * n + 1) * part + height * (u + b + 2 * n + 1) * power
        part, power = rise / (4.0 * scale * scale), power * (0.25 * log_x * log_x)
        total = total + weights[n + 1] * part
    ratio = xp.exp(0.5 * math.log(math.pi) - betaln(a, 0.5 * xp.ones_like(a))) / xp.sqrt(scale)
    return xp.where(zero, xp.zeros_like(u), 0.5 * ratio * total)


def _weights() -> list[float]:
    """Return p_n of the expansion, for b = ½."""
    p = [1.0]
    for n in range(1, _TERMS):
        known = sum((0.5 * m - n) / math.factorial(2 * m + 1) * p[n - m] for m in range(1, n))
        p.append(-0.5 / math.factorial(2 * n + 1) + known / n)
    return p
