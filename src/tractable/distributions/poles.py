"""Expectations beside a pole of the density: over quantiles, and nearer to the end than floats can be."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.engines.quadrature import Integral, integrate

__all__ = ["beside_a_pole", "has_pole", "unseen"]


def has_pole(d: Any, end: float) -> bool:
    """Whether the density grows without bound towards an end of the support."""
    return math.isfinite(end) and float(d.log_prob(end)) == math.inf


def beside_a_pole(f: Callable[[Array], Array], d: Any, end: float, *, upper: bool, level: float) -> Integral:
    """Return ∫ f(x(s)) ds for s up to a level; s is the probability of lying nearer to the end than x(s).

    Near the end much of the mass is closer to it than a float can be. There the density is a power of the
    distance, s another, and so f(x(s)) - smooth, or a log density - is linear in log s: f = a + b log(s/s₀),
    of which the integral up to s is s (a + b log(s/s₀) - b). A third point tells the error.
    Where f has a value at the end itself, that is it all the way.
    """
    xp = namespace_of(d.mean)
    place: dict[str, Any] = {"dtype": d.mean.dtype, "device": device(d.mean)}
    tiny = float(xp.finfo(d.mean.dtype).smallest_normal)
    x, masses = _three(d, end, upper=upper)
    start = min(masses[0], level)
    values = f(x)
    logs = [math.log(max(s, tiny) / max(masses[0], tiny)) for s in masses]
    slope = (values[1, ...] - values[0, ...]) / (logs[1] or 1.0)
    line = start * (values[0, ...] + slope * (math.log(max(start, tiny) / max(masses[0], tiny)) - 1.0))
    missed = start * (values[2, ...] - values[0, ...] - slope * logs[2])
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        last = f(xp.asarray([end], **place))[0, ...]
    smooth = xp.isfinite(last)
    last = xp.where(smooth, last, xp.zeros_like(last))
    line = xp.where(smooth, start * last, line)
    missed = xp.where(smooth, start * (values[0, ...] - last), missed)
    size, error = (float(xp.max(xp.abs(part))) for part in (line, missed))
    found = Integral(value=line, error=error, size=size, converged=True)
    if start >= level:
        return found

    def quantile(s: Array) -> Array:
        found = f(d.icdf(1.0 - s if upper else s))
        return xp.where(xp.isfinite(found), found, xp.zeros_like(found))

    levels = np.geomspace(max(start, tiny), level, 17)
    return found + integrate(quantile, xp.asarray(levels, **place))


def unseen(d: Any, end: float, *, upper: bool) -> float:
    """Return how much of the mass is nearer to the end than quantiles can be told from it."""
    return _three(d, end, upper=upper)[1][0]


def _three(d: Any, end: float, *, upper: bool) -> tuple[Array, list[float]]:
    """Return three points near the end, the second nearest and the third farthest, and the masses beyond."""
    xp = namespace_of(d.mean)
    info = xp.finfo(d.mean.dtype)
    gap = 2.0 ** math.floor(
        math.log2(abs(end) * float(info.eps) ** 0.6 or float(info.smallest_normal) * 1e18)
    )
    points = [end - g if upper else end + g for g in (gap, gap / 16.0, gap * 16.0)]
    x = xp.asarray(points, dtype=d.mean.dtype, device=device(d.mean))
    masses = d.survival(x) if upper else d.cdf(x)
    return x, [float(masses[k]) for k in range(3)]
