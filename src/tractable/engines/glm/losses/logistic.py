"""The logistic loss of two classes."""

from typing import Any

from tractable.arrays.log_space import log_sigmoid
from tractable.arrays.namespace import Array, namespace_of
from tractable.engines.glm.losses.classes import TwoClassLoss, signs
from tractable.engines.glm.losses.loss import LossExpansion, LossTerms, Scaling
from tractable.primitives.glm import softmax_expansion, softmax_loss
from tractable.value import value


@value
class Logistic(TwoClassLoss):
    """-log p(y | η) of two classes, p(C_1 | η) = σ(η): log(1 + e^η) - y η.

    Examples
    --------
    >>> import numpy as np
    >>> found = Logistic().terms(np.zeros(1), np.ones(1))
    >>> float(found.slope[0]), float(found.curvature[0]), float(found.third[0])
    (-0.5, 0.25, 0.0)
    """

    curvature_at_zero = 0.25

    def terms(self, eta: Array, y: Array) -> LossTerms:
        """Return log(1 + e^-m) of the margin m = ±η, ∓σ(-m), σ(m) σ(-m) and ∓σ(m) σ(-m) (2 σ(m) - 1)."""
        xp, sign = namespace_of(eta), signs(y, eta)
        margin = sign * eta
        size = xp.abs(margin)
        small = xp.exp(-size)
        below = 1.0 / (1.0 + small)
        # σ(-m) is 1 / (1 + small) of negative margins, and small / (1 + small) of others.
        wrong = xp.where(margin < 0.0, below, small * below)
        curvature = small * below * below
        return LossTerms(
            value=xp.log1p(small) + 0.5 * (size - margin),
            slope=-sign * wrong,
            curvature=curvature,
            third=sign * curvature * (2.0 * wrong - 1.0),
        )

    def expected_curvature(self, eta: Array) -> Array:
        """Return σ (1 - σ)."""
        return self.terms(eta, 0.0 * eta).curvature

    def expand(
        self, x: Any, y: Any, weights: Any, scaling: Scaling, coef: Array, curvature: str | None
    ) -> LossExpansion:
        """See `Loss.expand`; the curvature in the same pass over the rows.

        Parameters
        ----------
        x, y, weights, scaling, coef, curvature
            As there.
        """
        xp = namespace_of(coef)
        both = xp.concat([xp.zeros_like(coef), coef], axis=0)
        if not curvature:
            total, gradient = softmax_loss(x, y, weights, *scaling, both)
            return LossExpansion(value=total, gradient=gradient[1:, :])
        total, gradient, pairs = softmax_expansion(x, y, weights, *scaling, both)
        return LossExpansion(value=total, gradient=gradient[1:, :], curvature=pairs[0, :, :])

    def log_cdf(self, eta: Array) -> Array:
        """Return log σ(η)."""
        return log_sigmoid(eta)

    def log_scores(self, eta: Array) -> Array:
        """Return 0 and η, (n, 2)."""
        return namespace_of(eta).concat([0.0 * eta, eta], axis=1)
