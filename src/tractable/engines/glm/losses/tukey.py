"""Tukey's bisquare loss: bounded, so that far rows lose their influence."""

from tractable.arrays.namespace import Array, namespace_of
from tractable.engines.glm.losses.loss import Loss, LossTerms
from tractable.value import value


@value
class Tukey(Loss):
    """c²/6 (1 - (1 - (r/c)²)³) of a residual r = y - η up to the tuning constant c, and c²/6 beyond it.

    Parameters
    ----------
    tuning : float
        c; at 4.685, 95 % efficient in Gaussian noise of variance one.

    Examples
    --------
    >>> import numpy as np
    >>> Tukey(tuning=3.0).terms(np.zeros(2), np.array([0.0, 6.0])).value.tolist()
    [0.0, 1.5]
    """

    tuning: float = 4.685
    convex = False

    def terms(self, eta: Array, y: Array) -> LossTerms:
        """Return the loss and its derivatives; the second jumps at ±c."""
        xp, c = namespace_of(eta), self.tuning
        v = xp.clip((eta - y) / c, -1.0, 1.0)
        square = v * v
        inside = 1.0 - square
        within = xp.astype(inside > 0.0, v.dtype)
        return LossTerms(
            value=c * c / 6.0 * (1.0 - inside**3),
            slope=c * v * inside * inside,
            curvature=inside * (1.0 - 5.0 * square),
            third=within * 4.0 * v * (5.0 * square - 3.0) / c,
        )

    def margins(self, eta: Array, y: Array) -> Array:
        """Return 0: far away the loss of a row does not change."""
        return (0.0 * eta)[:, None]
