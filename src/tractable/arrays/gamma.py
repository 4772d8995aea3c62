"""The gamma function and its relatives: log Γ, ψ, ψ′, log B, and the error of Stirling's formula."""

import math
from functools import cache
from typing import Any

import numpy as np

from tractable.arrays.log_space import HALF_LOG_2PI
from tractable.arrays.namespace import Array, device, is_torch_array
from tractable.arrays.native import floats, horner, special_function

__all__ = [
    "betaln",
    "digamma",
    "gammaln",
    "log_minus_digamma",
    "multigammaln",
    "stirling_error",
    "trigamma",
    "trigamma_excess",
]

# the positive root of ψ, which needs two doubles
_PSI_ROOT, _PSI_ROOT_REST = 1.4616321449683622, 9.549995429965697e-17
# B_2k / (2k (2k - 1)), B_2k / 2k and B_2k, the asymptotic series of log Γ, ψ and ψ′
_STIRLING = (1 / 12, -1 / 360, 1 / 1260, -1 / 1680, 1 / 1188, -691 / 360360, 1 / 156, -3617 / 122400)
_ASYMPTOTIC = (1 / 12, -1 / 120, 1 / 252, -1 / 240, 1 / 132, -691 / 32760, 1 / 12, -3617 / 8160)
_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)
_LARGE = 10.0  # from here on the eight terms above reach the last digit

#: Numbers up to which all steps of a recurrence are computed at once.
FEW = 1024


def gammaln(x: Array) -> Array:
    """Return log |Γ(x)|, where Γ(x) = ∫ t^(x-1) e^-t dt.

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(gammaln(np.array([1.0, 2.0, 5.0]))).round(12)
    array([ 1.,  1., 24.])
    """
    return special_function("gammaln", agnostic_gammaln, x)


def digamma(x: Array) -> Array:
    """Return ψ(x), the derivative of log Γ(x).

    Examples
    --------
    >>> import numpy as np
    >>> digamma(np.array([1.0, 2.0])).round(6)
    array([-0.577216,  0.422784])
    """
    # On a GPU torch's own loses digits about the root.
    return agnostic_digamma(x) if is_torch_array(x) else special_function("digamma", agnostic_digamma, x)


def trigamma(x: Array) -> Array:
    """Return ψ′(x) = Σ_{k≥0} 1 / (x + k)² for x > 0.

    From 10 on the asymptotic series; below, the series at x + 10 and ten terms of the sum.

    Examples
    --------
    >>> import numpy as np
    >>> trigamma(np.array([1.0, 2.0])).round(6)
    array([1.644934, 0.644934])
    """
    xp, x = floats(x)
    low = x < _LARGE
    below = xp.where(low, x, xp.ones_like(x))
    r = 1.0 / xp.where(low, x + _LARGE, x)
    total = r * (1.0 + r * (0.5 + r * horner(_BERNOULLI, r * r)))
    # The terms of the shift from the smallest to the largest, so that the last digits add up.
    for k in reversed(range(int(_LARGE))):
        step = 1.0 / (below + k) / (below + k)
        total = total + xp.where(low, step, xp.zeros_like(step))
    return total


def betaln(a: Array, b: Array) -> Array:
    """Return log B(a, b) = log Γ(a) + log Γ(b) - log Γ(a + b) for positive a and b.

    Large terms are cancelled on paper, not in floating point (Didonato & Morris 1992).

    Examples
    --------
    >>> import numpy as np
    >>> np.exp(-betaln(np.array([1.0, 1e8]), np.array([3.0, 1.0]))).round(4)
    array([3.e+00, 1.e+08])
    """
    xp, a, b = floats(a, b)
    low, high = xp.minimum(a, b), xp.maximum(a, b)
    if xp is np:  # as a rule all numbers are of one kind
        below = low < _LARGE
        if not below.any():
            return _both_large(np, low, high)
        above = high >= _LARGE
        if not above.any():
            return gammaln(low) + gammaln(high) - gammaln(low + high)
        if below.all() and above.all():
            return gammaln(low) + _log_ratio(np, low, high)
    small = gammaln(low) + gammaln(high) - gammaln(low + high)
    big = xp.where(high < _LARGE, xp.full_like(high, _LARGE), high)
    mixed = gammaln(low) + _log_ratio(xp, low, big)
    large = _both_large(xp, xp.where(low < _LARGE, xp.full_like(low, _LARGE), low), big)
    return xp.where(high < _LARGE, small, xp.where(low < _LARGE, mixed, large))


def multigammaln(a: Array, d: int) -> Array:
    """Return log Γ_d(a) = ¼ d (d - 1) log π + Σ_{i=1..d} log Γ(a + ½ (1 - i)), for a > ½ (d - 1).

    Examples
    --------
    >>> import numpy as np
    >>> float(multigammaln(np.array(3.0), 1) - gammaln(3.0))
    0.0
    """
    xp, a = floats(a)
    if not bool(xp.all(a > 0.5 * (d - 1))):
        raise ValueError(f"a must exceed (d - 1) / 2 = {0.5 * (d - 1)}")
    steps = xp.arange(d, dtype=a.dtype, device=device(a))
    return 0.25 * d * (d - 1) * math.log(math.pi) + xp.sum(gammaln(a[..., None] - 0.5 * steps), axis=-1)


def stirling_error(x: Array) -> Array:
    """Return log Γ(x) - ((x - ½) log x - x + ½ log 2π) for x > 0: the error of Stirling's formula.

    Below 10 it is shifted there by R(x) = R(x + 1) + (x + ½) log(1 + 1/x) - 1, a sum of small positive terms.

    Examples
    --------
    >>> import numpy as np
    >>> (1e6 * stirling_error(np.array([1e6]))).round(6)
    array([0.083333])
    """
    xp, x = floats(x)
    if xp is np and x.size <= FEW:  # all steps of the shift at once
        steps = x + np.arange(_LARGE, dtype=x.dtype).reshape(-1, *(1,) * x.ndim)
        low = steps < _LARGE
        shift = np.where(low, (steps + 0.5) * _log_next(np, steps) - 1.0, 0.0).sum(axis=0)
        return shift + _stirling_series(x + low.sum(axis=0, dtype=x.dtype))
    shift = xp.zeros_like(x)
    for _ in range(int(_LARGE)):
        low = x < _LARGE
        if not bool(xp.any(low)):
            break
        shift = shift + xp.where(low, (x + 0.5) * _log_next(xp, x) - 1.0, xp.zeros_like(x))
        x = xp.where(low, x + 1.0, x)
    return shift + _stirling_series(x)


def log_minus_digamma(x: Array) -> Array:
    """Return log x - ψ(x) for x > 0: about 1/2x for large x, computed without cancellation.

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
    return xp.where(large, r * (0.5 + r * horner(_ASYMPTOTIC, r * r)), xp.log(small) - digamma(small))


def trigamma_excess(x: Array) -> Array:
    """Return x (x ψ'(x) - 1) for x > 0: from 1 at zero down to ½ for large x, without cancellation.

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
    series = 0.5 + r * horner(_BERNOULLI, r * r)
    small = xp.where(large, one, x)
    return xp.where(large, series, small * (small * trigamma(small) - 1.0))


def agnostic_gammaln(x: Array) -> Array:
    xp, x = floats(x)
    below = x < 0.5
    value = _gammaln_positive(xp, xp.where(below, 1.0 - x, x))
    # Γ(x) Γ(1 - x) = π / sin πx; the poles are at 0, -1, -2, …
    angle = _angle(xp, x, below)
    pole = angle == 0.0
    log_sine = xp.log(xp.abs(xp.sin(xp.where(pole, xp.ones_like(angle), angle))))
    reflected = xp.where(pole, xp.full_like(x, xp.inf), math.log(math.pi) - log_sine - value)
    return xp.where(below, reflected, value)


def agnostic_digamma(x: Array) -> Array:
    xp, x = floats(x)
    near = xp.abs(x - _PSI_ROOT) < 0.35
    step = xp.where(near, (x - _PSI_ROOT) - _PSI_ROOT_REST, xp.zeros_like(x))
    return xp.where(near, step * horner(_digamma_series(), step), _digamma_away(xp, x))


@cache
def _log_gamma_series() -> tuple[float, ...]:
    """Return the coefficients of log Γ(2 + t) = (1 - γ) t + Σ_{k≥2} (-1)^k (ζ(k) - 1) t^k / k, over t."""
    from scipy.special import zetac

    return 0.42278433509846713, *(float((-1) ** k * zetac(k) / k) for k in range(2, 28))


@cache
def _digamma_series() -> tuple[float, ...]:
    """Return those of ψ(x₀ + t) = Σ_{k≥1} (-1)^(k+1) ζ(k + 1, x₀) t^k at the root x₀, divided by t."""
    from scipy.special import zeta

    return tuple(float((-1) ** (k + 1) * zeta(k + 1, _PSI_ROOT)) for k in range(1, 25))


def _gammaln_positive(xp: Any, x: Array) -> Array:
    """Return log Γ(x) for x ≥ ½: a series about 2, a shift, or Stirling's formula."""
    small, middle = x < 2.5, x < _LARGE
    one = xp.where(x < 1.5, xp.ones_like(x), xp.zeros_like(x))
    t = xp.where(small, x - 2.0 + one, xp.zeros_like(x))
    taylor = t * horner(_log_gamma_series(), t) - xp.log1p(t * one)
    y = xp.where(middle & ~small, x, xp.full_like(x, 2.5))
    product = y
    for step in range(1, 8):
        product = product * (y + step)
    stirling = _stirling(xp, xp.where(middle, y + 8.0, x))
    return xp.where(small, taylor, stirling - xp.where(middle, xp.log(product), xp.zeros_like(x)))


def _digamma_away(xp: Any, x: Array) -> Array:
    """Return ψ(x) away from its root: reflection, then recurrence to x ≥ 10, then the asymptotic series."""
    below = x < 0.5
    y = xp.where(below, 1.0 - x, x)
    shift = xp.zeros_like(y)
    for _ in range(10):
        low = y < _LARGE
        shift = shift + xp.where(low, 1.0 / xp.where(low, y, xp.ones_like(y)), xp.zeros_like(y))
        y = xp.where(low, y + 1.0, y)
    r = 1.0 / y
    value = xp.log(y) - 0.5 * r - r * r * horner(_ASYMPTOTIC, r * r) - shift
    angle = _angle(xp, x, below)
    pole = angle == 0.0
    reflected = value - math.pi / xp.tan(xp.where(pole, xp.ones_like(angle), angle))
    infinite = xp.where(x == 0.0, xp.full_like(x, -xp.inf), xp.full_like(x, xp.nan))
    return xp.where(below, xp.where(pole, infinite, reflected), value)


def _angle(xp: Any, x: Array, wanted: Array) -> Array:
    """Return πx less whole turns of π where wanted, and a quarter turn elsewhere."""
    finite = xp.where(wanted & xp.isfinite(x), x, xp.full_like(x, 0.25))
    return math.pi * (finite - xp.round(finite))


def _stirling(xp: Any, x: Array) -> Array:
    return (x - 0.5) * (xp.log(x) - 1.0) + (HALF_LOG_2PI - 0.5) + _stirling_series(x)


def _stirling_series(x: Array) -> Array:
    """Return the error of Stirling's formula, for x ≥ 10."""
    r = 1.0 / x
    return r * horner(_STIRLING, r * r)


def _log_next(xp: Any, x: Array) -> Array:
    """Return log((x + 1) / x)."""
    small = x < 1.0
    one = xp.ones_like(x)
    below = xp.log1p(x) - xp.log(xp.where(small, x, one))
    return xp.where(small, below, xp.log1p(1.0 / xp.where(small, one, x)))


def _log_ratio(xp: Any, a: Array, b: Array) -> Array:
    """Return log Γ(b) - log Γ(a + b) for b ≥ 10."""
    rest = _stirling_series(b) - _stirling_series(a + b)
    return rest - (b + (a - 0.5)) * xp.log1p(a / b) - a * (xp.log(b) - 1.0)


def _both_large(xp: Any, a: Array, b: Array) -> Array:
    """Return log B(a, b) for 10 ≤ a ≤ b."""
    rest = _stirling_series(a) + _stirling_series(b) - _stirling_series(a + b)
    share = (a - 0.5) * (xp.log(a / b) - xp.log1p(a / b))
    return HALF_LOG_2PI - 0.5 * xp.log(b) + rest + share - b * xp.log1p(a / b)
