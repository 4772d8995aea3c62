"""Logarithms of tail probabilities, and quantiles counted from the upper end."""

from math import pi
from typing import Any

import numpy as np

from tractable.arrays.log_space import log1m_exp
from tractable.arrays.namespace import Array, device, namespace_of
from tractable.engines.roots import increasing_root, put_back

_STEP = 0.04  # of the rule of the far tail
_ROUNDINGS = 4.0
_REACH = 4.4  # its last node, where the tail of a power has fallen below rounding too


def log_tail(d: Any, x: Any, *, upper: bool) -> Array:
    """Return log P(X > x), or log P(X ≤ x), from the tail that holds less.

    Where the probability is below the smallest number, the density is integrated relative to its value at x.
    """
    x = d._event(x)  # noqa: SLF001
    below, above = d.cdf(x), d.survival(x)
    mass, rest = (above, below) if upper else (below, above)
    xp = namespace_of(mass)
    found = log_of_parts(mass, rest)
    far = mass < 1e16 * float(xp.finfo(mass.dtype).smallest_normal)
    if d.discrete or not bool(xp.any(far)):
        return found
    x = xp.broadcast_to(x, mass.shape)
    one = d.expand(tuple(mass.shape))[far] if d.batch_shape else d
    flat = xp.reshape(far, (-1,))
    logs = put_back(flat, log_far_mass(one, x[far], upper=upper), xp.reshape(found, (-1,)))
    return xp.reshape(logs, tuple(mass.shape))


def log_cdf(d: Any, x: Any) -> Array:
    """Return log P(X ≤ x), accurate in both tails, also if the probability itself underflows."""
    return log_tail(d, x, upper=False)


def log_survival(d: Any, x: Any) -> Array:
    """Return log P(X > x), accurate in both tails, also if the probability itself underflows."""
    return log_tail(d, x, upper=True)


def isf(d: Any, q: Any) -> Array:
    """Return the quantile from above: the least x with P(X > x) ≤ q, accurate for small q."""
    return upper_quantile(d, d._quantile(q))  # noqa: SLF001


def log_of_parts(mass: Array, rest: Array) -> Array:
    """Return the logarithm of a probability, given what is left of 1."""
    xp = namespace_of(mass)
    small = mass < 0.5
    with np.errstate(divide="ignore", invalid="ignore"):
        return xp.where(small, xp.log(mass), xp.log1p(-xp.where(small, xp.zeros_like(rest), rest)) + 0.0)


def log_rest(log_mass: Array) -> Array:
    """Return log(1 - e^a) for a ≤ 0."""
    xp = namespace_of(log_mass)
    none = log_mass == 0.0
    found = log1m_exp(xp.where(none, xp.full_like(log_mass, -1.0), log_mass))
    return xp.where(none, xp.full_like(found, -xp.inf), found)


def log_far_mass(d: Any, x: Array, *, upper: bool) -> Array:
    """Return log ∫ p beyond x, (m,), where the density falls away from x or rises to the end of the support.

    It is log p(x) and the logarithm of ∫ p(x ± t)/p(x) dt, by a double exponential rule: t = δ e^(π/2 sinh u)
    on a half line, and t = L w/(1 + w) with w = (δ/L) e^(π/2 sinh u) where the support ends at a distance L.
    δ is the distance over which the density falls by a factor e, or else L.
    """
    xp = namespace_of(x)
    sign = 1.0 if upper else -1.0
    end = d.support[1 if upper else 0] + xp.zeros_like(x)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        top = d.log_prob(x)
        inside = xp.isfinite(top) & xp.isfinite(x) & (sign * (end - x) > 0.0)
        middle = d.icdf(xp.full_like(x, 0.5))
        x, top = xp.where(inside, x, middle), xp.where(inside, top, d.log_prob(middle))
        room = sign * (end - x)
        width = xp.minimum(_fall(d, x, top, sign), room)
        bounded = xp.isfinite(room)
        finite = xp.where(bounded, room, xp.ones_like(room))
        u = np.arange(-_REACH, _REACH + 0.5 * _STEP, _STEP)
        growth, slope = _column(np.exp(0.5 * pi * np.sinh(u)), x), _column(0.5 * pi * np.cosh(u) * _STEP, x)
        t = width * growth
        w = t / finite
        # Near the end of the support, points are counted from it: a pole there is resolved.
        points = xp.where(
            bounded & (w > 1.0),
            end - sign * (finite / (1.0 + w)),
            x + sign * xp.where(bounded, t / (1.0 + w), t),
        )
        measure = slope * xp.where(bounded, t / (1.0 + w) / (1.0 + w), t)
        ratio = d.log_prob(points) - top + xp.log(measure)
        peak = xp.max(xp.where(xp.isfinite(ratio), ratio, xp.full_like(ratio, -xp.inf)), axis=0)
        terms = xp.where(xp.isfinite(ratio), xp.exp(ratio - peak), xp.zeros_like(ratio))
        found = top + peak + xp.log(xp.sum(terms, axis=0))
    return xp.where(inside, found, xp.full_like(found, -xp.inf))


def _fall(d: Any, x: Array, top: Array, sign: float) -> Array:
    """Return the distance over which a density falls by a factor e, to a power of two."""
    xp = namespace_of(x)
    low, high = xp.full_like(x, -1070.0), xp.full_like(x, 1023.0)
    for _ in range(11):
        middle = xp.round(0.5 * (low + high))
        fallen = ~(d.log_prob(x + sign * 2.0**middle) > top - 1.0)
        low, high = xp.where(fallen, low, middle), xp.where(fallen, middle, high)
    return 2.0**high


def _column(nodes: np.ndarray, like: Array) -> Array:
    xp = namespace_of(like)
    return xp.asarray(nodes, dtype=like.dtype, device=device(like))[:, None]


def upper_quantile(d: Any, q: Array) -> Array:
    """Return the x with P(X > x) = q: below the median the quantile of 1 - q, above by Newton's method.

    Newton's steps are on log P(X > x), inside a bracket whose upper end moves outwards until it holds x.
    """
    xp = namespace_of(q)
    q = xp.broadcast_to(q, np.broadcast_shapes(tuple(q.shape), d.batch_shape))
    inner = (q > 0.0) & (q < 0.5)
    level = xp.where(inner, q, xp.full_like(q, 0.5))
    log_q = xp.log(level)
    middle = d.icdf(xp.full_like(q, 0.5))
    end = d.support[1] + xp.zeros_like(q)
    low, high = middle, d.icdf(1.0 - xp.where(inner, xp.full_like(q, 0.25), q))
    step = xp.where(high > middle, high - middle, xp.abs(middle) + 1.0)
    high = xp.where(xp.isfinite(end), end, middle + step)
    for _ in range(1100):
        short = (d.log_survival(high) > log_q) & (high < end) & inner
        if not bool(xp.any(short)):
            break
        step = xp.where(short, 2.0 * step, step)
        with np.errstate(over="ignore"):
            low, high = xp.where(short, high, low), xp.where(short, xp.minimum(high + step, end), high)

    def excess(x: Array) -> tuple[Array, Array]:
        log_above = d.log_survival(x)
        with np.errstate(over="ignore", invalid="ignore"):
            gap, slope = log_q - log_above, xp.exp(d.log_prob(x) - log_above)
        # Below the rounding of a probability there is no sign to halve a bracket by.
        none = ~inner | (xp.abs(gap) <= _ROUNDINGS * float(xp.finfo(q.dtype).eps))
        return (
            xp.where(none, xp.zeros_like(gap), gap),
            xp.where(xp.isfinite(slope), slope, xp.zeros_like(slope)),
        )

    found = increasing_root(excess, low, high)
    return xp.where(inner, found, d.icdf(1.0 - xp.where(inner, xp.full_like(q, 0.5), q)))
