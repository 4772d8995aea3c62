"""The probit loss of two classes."""

import numpy as np

from tractable.arrays.error_function import log_ndtr
from tractable.arrays.log_space import HALF_LOG_2PI
from tractable.arrays.namespace import Array, namespace_of
from tractable.engines.glm.losses.classes import TwoClassLoss, signs
from tractable.engines.glm.losses.loss import LossTerms
from tractable.value import value

#: Below this margin m the derivatives are those of the series in 1/m, to all digits.
FAR = -50.0


@value
class Probit(TwoClassLoss):
    """-log p(y | η) of two classes, p(C_1 | η) = Φ(η): a linear predictor with Gaussian noise.

    Examples
    --------
    >>> found = Probit().terms(np.zeros(1), np.ones(1))
    >>> float(found.slope[0].round(4)), float(found.curvature[0].round(4))
    (-0.7979, 0.6366)
    """

    curvature_at_zero = 2.0 / np.pi

    def terms(self, eta: Array, y: Array) -> LossTerms:
        """Return -log Φ(m) of the margin m = ±η, and derivatives by the ratio r = φ(m)/Φ(m): ∓r, …."""
        sign = signs(y, eta)
        loss, ratio, curvature, change = _of_margins(sign * eta)
        return LossTerms(value=loss, slope=-sign * ratio, curvature=curvature, third=sign * change)

    def expected_curvature(self, eta: Array) -> Array:
        """Return φ² / (Φ (1 - Φ))."""
        return _of_margins(eta)[1] * _of_margins(-eta)[1]

    def log_cdf(self, eta: Array) -> Array:
        """Return log Φ(η)."""
        return log_ndtr(eta)


def _of_margins(m: Array) -> tuple[Array, Array, Array, Array]:
    """Return -log Φ(m), r = φ(m)/Φ(m), r (r + m) and the derivative of that."""
    xp, log_probability = namespace_of(m), log_ndtr(m)
    far = m < FAR
    t = xp.where(far, -m, 1.0 + 0.0 * m)
    near = xp.where(far, 0.0 * m, m)
    with np.errstate(under="ignore", over="ignore"):
        ratio = xp.exp(-0.5 * near * near - HALF_LOG_2PI - xp.where(far, 0.0 * m, log_probability))
        curvature = xp.clip(ratio * (ratio + near), 0.0, 1.0)
        change = ratio - curvature * (2.0 * ratio + near)
        # Mills' ratio in 1/t of t = -m (Abramowitz and Stegun, 26.2.12).
        v = 1.0 / t / t
        series = (
            t + (1.0 - v * (2.0 - v * (10.0 - 74.0 * v))) / t,
            1.0 - v * (1.0 - v * (6.0 - 50.0 * v)),
            -(2.0 - v * (24.0 - 300.0 * v)) * v / t,
        )
    exact = (ratio, curvature, change)
    return -log_probability, *(xp.where(far, a, b) for a, b in zip(series, exact, strict=True))
