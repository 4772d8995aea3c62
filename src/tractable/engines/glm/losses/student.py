"""The loss of targets in noise with Student's t distribution."""

from math import lgamma, log, pi

from tractable.arrays.namespace import Array, namespace_of
from tractable.engines.glm.losses.loss import Loss, LossTerms
from tractable.value import value


@value
class Student(Loss):
    """-log p(r) of a residual r = y - η with Student's t distribution of scale one: ½ (ν + 1) log(1 + r²/ν).

    Parameters
    ----------
    dof : float
        ν, the degrees of freedom.

    Examples
    --------
    >>> import numpy as np
    >>> Student(dof=1.0).terms(np.zeros(1), np.ones(1)).slope.tolist()
    [-1.0]
    """

    dof: float
    convex = False

    def terms(self, eta: Array, y: Array) -> LossTerms:
        """Return the loss and its derivatives."""
        xp, nu = namespace_of(eta), self.dof
        r = eta - y
        large = xp.abs(r) > 1.0
        inverse = 1.0 / xp.where(large, r, 1.0 + 0.0 * r)
        # 1 / (1 + r²/ν) and r²/ν times it, of residuals whose square may be no number.
        near = xp.where(large, nu * inverse * inverse / (1.0 + nu * inverse * inverse), 0.0 * r)
        small = xp.where(large, 0.0 * r, r)
        part = xp.where(large, near, 1.0 / (1.0 + small * small / nu))
        rest = 1.0 - part
        log_over = xp.where(
            large, -xp.log(xp.where(large, near, 1.0 + 0.0 * r)), xp.log1p(small * small / nu)
        )
        factor = (nu + 1.0) / nu
        return LossTerms(
            value=0.5 * (nu + 1.0) * log_over,
            slope=factor * xp.where(large, nu * inverse * rest, small * part),
            curvature=factor * part * (part - rest),
            third=2.0
            * factor
            * part
            * (rest - 3.0 * part)
            * xp.where(large, inverse * rest, small * part / nu),
        )

    def log_base_measure(self, y: Array) -> Array:
        """Return the log density at its mode."""
        nu = self.dof
        return lgamma(0.5 * (nu + 1.0)) - lgamma(0.5 * nu) - 0.5 * log(pi * nu) + 0.0 * y
