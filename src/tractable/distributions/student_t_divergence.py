"""The expected log ratio of two symmetric densities, by double-exponential quadrature.

The line is parted at the two centres. Nodes crowd towards both ends of each part, at every scale down to the
smallest numbers, so that neither a narrow peak nor a long tail is missed (Takahasi & Mori 1974).
"""

from collections.abc import Callable
from math import log1p, pi, prod
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, device, namespace_of

__all__ = ["expected_log_ratio"]

_STEP = 0.0625

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

    def grid(low: float, high: float, step: float) -> tuple[Array, Array]:
        """Return ½π sinh u, and its slope times the step, for u on an even grid."""
        u = xp.arange(low, high, step, dtype=apart.dtype, device=device(apart))
        u = xp.reshape(u, (-1,) + (1,) * n_axes)
        return 0.5 * pi * xp.sinh(u), (0.5 * pi * step) * xp.cosh(u)

    with np.errstate(over="ignore", under="ignore"):
        # Outwards from either centre, x = exp(½π sinh u).
        rise, weight = grid(-4.0, 6.0, _STEP)
        out = xp.exp(rise)
        tails = xp.sum(out * weight * (integrand(out, apart + out) + integrand(apart + out, out)), axis=0)
        # Between them, the share is its logistic twin; far apart, p's peak is narrow and needs more points.
        farthest = float(xp.max(apart)) if prod(apart.shape) else 0.0
        rise, weight = grid(-4.0, 4.0, _STEP / max(1.0, 0.25 * log1p(farthest)))
        one, other = 1.0 / (1.0 + xp.exp(-2.0 * rise)), 1.0 / (1.0 + xp.exp(2.0 * rise))
        share = 2.0 * weight * one * other
        return tails + apart * xp.sum(share * integrand(apart * one, apart * other), axis=0)
