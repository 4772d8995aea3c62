"""The expected log ratio of two symmetric densities, by double-exponential quadrature.

The line is parted at the two centres. Nodes crowd towards both ends of each part, at every scale down to the
smallest numbers, so that neither a narrow peak nor a long tail is missed (Takahasi & Mori 1974).
"""

from collections.abc import Callable
from math import pi
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of

__all__ = ["expected_log_ratio"]

_STEP, _REACH = 0.0625, 6.125

Density = Callable[[Array, Array], Array]


def expected_log_ratio(p: Any, q: Any, log_density: Density) -> Array:
    """Return E_p[log p - log q] for distributions with a `dof`, a `location` and a `scale`.

    Parameters
    ----------
    p, q : distributions
    log_density : callable
        ``log_density(distance, dof)``: of the standard distribution, at a distance from its centre.
    """
    xp = namespace_of(p.location)
    apart = xp.abs(p.location - q.location) / p.scale
    ratio = q.scale / p.scale
    n_axes = max(apart.ndim, p.dof.ndim, q.dof.ndim)

    def integrand(near: Array, far: Array) -> Array:
        """Return p(x) log p(x)/q(x) at distances from the two centres, in units of p's scale."""
        ours = log_density(near, p.dof)
        theirs = log_density(far / ratio, q.dof) - xp.log(ratio)
        mass = xp.exp(ours)
        return xp.where(mass > 0.0, mass * (ours - theirs), xp.zeros_like(mass))

    u = xp.arange(-_REACH, _REACH, _STEP, dtype=apart.dtype, device=device(apart))
    u = xp.reshape(u, (-1,) + (1,) * n_axes)
    rise, slope = 0.5 * pi * xp.sinh(u), 0.5 * pi * xp.cosh(u)
    with np.errstate(over="ignore", under="ignore"):
        # Outwards from either centre, x = exp(π/2 sinh u); between them, the share is its logistic twin.
        out = xp.exp(rise)
        tails = out * slope * (integrand(out, apart + out) + integrand(apart + out, out))
        one, other = 1.0 / (1.0 + xp.exp(-2.0 * rise)), 1.0 / (1.0 + xp.exp(2.0 * rise))
        middle = apart * 2.0 * slope * one * other * integrand(apart * one, apart * other)
        return _STEP * xp.sum(tails + middle, axis=0)
