"""Sums and probabilities in log space."""

import math
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, all_true
from tractable.arrays.native import floats, special_function

__all__ = [
    "HALF_LOG_2PI",
    "LOG_2PI",
    "log1m_exp",
    "log1p_exp",
    "log_sigmoid",
    "log_softmax",
    "log_sum_exp",
    "logit",
    "sigmoid",
    "softmax",
    "softmax_and_log_sum",
    "xlog1py",
    "xlogy",
]

LOG_2PI = math.log(2.0 * math.pi)
HALF_LOG_2PI = 0.5 * LOG_2PI


def log_sum_exp(x: Array, axis: int = -1, *, weights: Array | None = None) -> Array:
    """Return log Σ w exp(x) along an axis; the sum of nothing is -inf.

    Parameters
    ----------
    x : array
        Logarithms; -inf and inf are allowed.
    axis : int
        The axis to sum over.
    weights : array, optional
        Non-negative weights that broadcast against `x`. A term of weight zero is absent, whatever its size.

    Examples
    --------
    >>> import numpy as np
    >>> float(log_sum_exp(np.log([1.0, 3.0]) - 1000.0)) - np.log(4.0)
    np.float64(-1000.0)
    """
    xp, x = floats(x)
    if weights is None:
        w = 1.0
    else:
        xp, x, w = floats(x, weights)
        if not bool(xp.all(w >= 0.0)):
            raise ValueError("weights must not be negative")
        x, w = xp.broadcast_arrays(x, w)
        x = xp.where(w > 0.0, x, xp.full_like(x, -xp.inf))
    if not x.shape[axis]:
        return xp.sum(x, axis=axis) - xp.inf
    peak, gap = _below_peak(xp, x, axis)
    total = xp.sum(w * xp.exp(gap), axis=axis)
    # The total is zero only where all terms are exp(-inf); the peak is -inf there, and so is the result.
    return xp.squeeze(peak, axis=axis) + xp.log(xp.where(total > 0.0, total, xp.ones_like(total)))


def softmax(x: Array, axis: int = -1) -> Array:
    """Return exp(x) / Σ exp(x), probabilities that sum to one; equal entries, even ±inf, have equal ones.

    Examples
    --------
    >>> import numpy as np
    >>> softmax(np.array([0.0, np.log(3.0)]))
    array([0.25, 0.75])
    """
    xp, x = floats(x)
    raised = xp.exp(_below_peak(xp, x, axis)[1])
    return raised / _sum(xp, raised, axis)


def softmax_and_log_sum(x: Array, axis: int = -1) -> tuple[Array, Array]:
    """Return `softmax` and `log_sum_exp` along an axis: every exponential is taken once.

    Examples
    --------
    >>> import numpy as np
    >>> p, total = softmax_and_log_sum(np.array([0.0, np.log(3.0)]))
    >>> p.tolist(), float(np.exp(total))
    ([0.25, 0.75], 4.0)
    """
    xp, x = floats(x)
    peak, gap = _below_peak(xp, x, axis)
    raised = xp.exp(gap)
    total = _sum(xp, raised, axis)
    return raised / total, xp.squeeze(peak + xp.log(total), axis=axis)


def log_softmax(x: Array, axis: int = -1) -> Array:
    """Return x - log Σ exp(x): the logarithm of `softmax`.

    Examples
    --------
    >>> import numpy as np
    >>> log_softmax(np.array([0.0, 1000.0]))
    array([-1000.,     0.])
    """
    xp, x = floats(x)
    gap = _below_peak(xp, x, axis)[1]
    return gap - xp.log(_sum(xp, xp.exp(gap), axis))


def sigmoid(x: Array) -> Array:
    """Return σ(x) = 1 / (1 + exp(-x)), Bishop (4.59); σ(-x) = 1 - σ(x).

    Examples
    --------
    >>> import numpy as np
    >>> sigmoid(np.array([-800.0, 0.0, 800.0]))
    array([0. , 0.5, 1. ])
    """
    xp, x = floats(x)
    z = xp.exp(-xp.abs(x))
    return xp.where(x >= 0.0, xp.ones_like(z), z) / (1.0 + z)


def logit(p: Array) -> Array:
    """Return log p - log(1 - p), the inverse of `sigmoid`, Bishop (4.60).

    Examples
    --------
    >>> import numpy as np
    >>> logit(np.array([0.0, 0.5, 1.0]))
    array([-inf,   0.,  inf])
    """
    xp, p = floats(p)
    centre = xp.abs(p - 0.5) <= 0.25
    # 2p - 1 is exact near ½, where a difference of logarithms would cancel.
    inner = 2.0 * xp.atanh(xp.where(centre, 2.0 * p - 1.0, xp.zeros_like(p)))
    outer = _safe_log(xp, p) - _safe_log(xp, 1.0 - p)
    return xp.where(centre, inner, outer)


def log_sigmoid(x: Array) -> Array:
    """Return log σ(x) = -log(1 + exp(-x)).

    Examples
    --------
    >>> import numpy as np
    >>> log_sigmoid(np.array([-1000.0, 0.0])).round(4)
    array([-1.000e+03, -6.931e-01])
    """
    _, x = floats(x)
    return -log1p_exp(-x)


def log1p_exp(x: Array) -> Array:
    """Return log(1 + exp(x)), the softplus: smooth, positive, and x when x is large.

    Examples
    --------
    >>> import numpy as np
    >>> log1p_exp(np.array([-1000.0, 1000.0]))
    array([   0., 1000.])
    """
    xp, x = floats(x)
    return xp.where(x > 0.0, x, xp.zeros_like(x)) + xp.log1p(xp.exp(-xp.abs(x)))


def log1m_exp(x: Array) -> Array:
    """Return log(1 - exp(x)) for x ≤ 0 (Mächler 2012); NaN above.

    Examples
    --------
    >>> import numpy as np
    >>> log1m_exp(np.array([-1e-20, -1.0, 0.0])).round(3)
    array([-46.052,  -0.459,    -inf])
    """
    xp, x = floats(x)
    near, ones = x > -math.log(2.0), xp.ones_like(x)
    small = _safe_log(xp, -xp.expm1(xp.where(near, xp.minimum(x, ones), -ones)))
    large = xp.log1p(-xp.exp(xp.where(near, -ones, x)))
    return xp.where(near, small, large)


def xlogy(x: Array, y: Array) -> Array:
    """Return x log y, and 0 where x is 0: what entropies and likelihoods of counts mean by it.

    Examples
    --------
    >>> import numpy as np
    >>> xlogy(np.array([0.0, 2.0]), np.array([0.0, 1.0]))
    array([0., 0.])
    """
    return special_function("xlogy", agnostic_xlogy, x, y)


def xlog1py(x: Array, y: Array) -> Array:
    """Return x log(1 + y), and 0 where x is 0.

    Examples
    --------
    >>> import numpy as np
    >>> xlog1py(np.array([0.0, 1.0]), np.array([-1.0, 0.0]))
    array([0., 0.])
    """
    return special_function("xlog1py", agnostic_xlog1py, x, y)


def agnostic_xlogy(x: Array, y: Array) -> Array:
    xp, x, y = floats(x, y)
    absent = (x == 0.0) & ~xp.isnan(y)
    return x * _safe_log(xp, xp.where(absent, xp.ones_like(y), y))


def agnostic_xlog1py(x: Array, y: Array) -> Array:
    xp, x, y = floats(x, y)
    absent = (x == 0.0) & ~xp.isnan(y)
    y = xp.where(absent, xp.zeros_like(y), y)
    at_pole = y == -1.0
    log = xp.log1p(xp.where(at_pole, xp.zeros_like(y), y))
    return x * xp.where(at_pole, xp.full_like(log, -xp.inf), log)


def _below_peak(xp: Any, x: Array, axis: int) -> tuple[Array, Array]:
    """Return the largest entry and x minus it: at most 0, and 0 at the peak even where that is infinite."""
    peak = x.max(axis=axis, keepdims=True) if xp is np else xp.max(x, axis=axis, keepdims=True)
    if all_true(xp.isfinite(peak)):
        return peak, x - peak
    at_peak, zero = x == peak, xp.zeros_like(x)
    return peak, xp.where(at_peak, zero, x) - xp.where(at_peak, zero, peak)


def _sum(xp: Any, x: Array, axis: int) -> Array:
    """Return sums along an axis, which is kept."""
    return np.add.reduce(x, axis=axis, keepdims=True) if xp is np else xp.sum(x, axis=axis, keepdims=True)


def _safe_log(xp: Any, x: Array) -> Array:
    """Return log x, -inf at 0 and NaN below, without a warning."""
    log = xp.log(xp.where(x > 0.0, x, xp.ones_like(x)))
    log = xp.where(x == 0.0, xp.full_like(log, -xp.inf), log)
    return xp.where((x < 0.0) | xp.isnan(x), xp.full_like(log, xp.nan), log)
