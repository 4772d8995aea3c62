"""Expectations beside a pole of the density: over quantiles, and nearer to the end than floats can be."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of
from tractable.engines.quadrature import Integral, integrate

__all__ = ["beside_a_pole", "has_pole"]


def has_pole(d: Any, end: float) -> bool:
    """Whether the density grows without bound towards an end of the support."""
    return math.isfinite(end) and float(d.log_prob(end)) == math.inf


def beside_a_pole(f: Callable[[Array], Array], d: Any, end: float) -> Integral:
    """Return ∫ f(x(s)) ds over the probabilities s up to ½ of lying nearer to the end than x(s).

    Near the end much of the mass is closer to it than a float can be. There the density is a power of the
    distance, s another, and so f(x(s)) - smooth, or a log density - is linear in log s: f = a + b log(s/s₀),
    of which the integral up to s₀ is s₀ (a - b). What a third point says of the line is its error.
    """
    upper = end > float(d.icdf(0.5))
    like = d.mean
    xp = namespace_of(like)
    place: dict[str, Any] = {"dtype": like.dtype, "device": device(like)}
    eps, tiny = float(xp.finfo(like.dtype).eps), float(xp.finfo(like.dtype).smallest_normal)
    nearest = abs(end) * eps**0.6 if end else tiny * 1e18
    nearest = 2.0 ** math.floor(math.log2(nearest))
    x = xp.asarray(
        [end - g if upper else end + g for g in (nearest, nearest / 16.0, nearest * 16.0)], **place
    )
    masses = d.survival(x) if upper else d.cdf(x)
    start = float(masses[0])
    if not start > tiny:  # no pole that numbers can see
        start, line, error = 0.0, 0.0, 0.0
    else:
        values = f(x)
        logs = [math.log(float(s) / start) for s in (masses[1], masses[2])]
        slope = (values[1, ...] - values[0, ...]) / logs[0]
        line = start * (values[0, ...] - slope)
        missed = values[2, ...] - values[0, ...] - slope * logs[1]
        error = start * float(xp.max(xp.abs(missed)))
    levels = np.geomspace(max(start, tiny), 0.5, 17) if start < 0.5 else np.array([0.5, 0.5])

    def quantile(s: Array) -> Array:
        found = f(d.icdf(1.0 - s if upper else s))
        return xp.where(xp.isfinite(found), found, xp.zeros_like(found))

    rest = integrate(quantile, xp.asarray(levels, **place))
    size = rest.size + (float(xp.max(xp.abs(line))) if start else 0.0)
    return Integral(value=rest.value + line, error=rest.error + error, size=size, converged=rest.converged)
