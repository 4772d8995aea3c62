"""The pinball loss of a quantile."""

from tractable.arrays.namespace import Array, namespace_of
from tractable.engines.glm.losses.loss import Loss, LossTerms
from tractable.value import value


@value
class Quantile(Loss):
    """q r of a residual r = y - η ≥ 0 and (q - 1) r of a negative one; the minimum is a quantile of y.

    It has a corner at r = 0 and no curvature: its minimum is at a vertex, which a simplex search finds.

    Parameters
    ----------
    quantile : float
        q, between 0 and 1.

    Examples
    --------
    >>> import numpy as np
    >>> Quantile(quantile=0.9).terms(np.zeros(2), np.array([1.0, -1.0])).value.round(1).tolist()
    [0.9, 0.1]
    """

    quantile: float = 0.5
    smooth = False

    def terms(self, eta: Array, y: Array) -> LossTerms:
        """Return the loss and a subgradient."""
        xp, q, r = namespace_of(eta), self.quantile, y - eta
        slope = xp.where(r >= 0.0, -q + 0.0 * r, 1.0 - q + 0.0 * r)
        return LossTerms(value=-slope * r, slope=slope)
