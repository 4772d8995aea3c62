"""Loss, gradient and curvature of classes told apart by planes: a statistic of the rows."""

from typing import Any

import numpy as np

from tractable.arrays.log_space import HALF_LOG_2PI
from tractable.value import value

__all__ = ["LINKS", "LinkExpansion", "probit_loss"]

LINKS = ("logit", "probit")


@value
class LinkExpansion:
    """Value, gradient and curvature of -Σ_n w_n log p(C_n | x_n) about planes; they add.

    Parameters
    ----------
    value : float
    gradient : array (c p,)
    curvature : array (c p, c p)

    Examples
    --------
    >>> from tractable.classification.links import Logit
    >>> rows, codes = np.array([[1.0], [1.0], [1.0]]), np.array([0, 0, 1])
    >>> about = {"link": Logit.of(2, free=False), "units": (np.zeros(1), np.ones(1))}
    >>> at_zero = LinkExpansion.of(rows, codes, free=np.zeros((1, 1)), **about)
    >>> at_zero.gradient.tolist(), at_zero.curvature.tolist()
    ([0.5], [[0.75]])
    """

    value: float
    gradient: np.ndarray
    curvature: np.ndarray

    @classmethod
    def of(
        cls, x: Any, codes: Any, weights: Any = None, *, link: Any, units: Any, free: np.ndarray
    ) -> "LinkExpansion":
        """Expand the loss of rows of known classes about free planes (c, p), under a link."""
        slope = link.slope(x, codes, weights, units, free)
        return cls(
            value=slope.value,
            gradient=slope.gradient.ravel(),
            curvature=link.curvature(x, codes, weights, units, free),
        )

    def __add__(self, other: "LinkExpansion") -> "LinkExpansion":
        """Add the losses of two blocks of rows, about the same planes."""
        if not isinstance(other, LinkExpansion):
            return NotImplemented
        return LinkExpansion(
            value=self.value + other.value,
            gradient=self.gradient + other.gradient,
            curvature=self.curvature + other.curvature,
        )


def probit_loss(margin: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return -log Φ(m) and its first two derivatives, by the ratio φ(m)/Φ(m)."""
    from scipy.special import log_ndtr

    log_share = log_ndtr(margin)
    with np.errstate(under="ignore"):
        ratio = np.exp(-0.5 * margin**2 - HALF_LOG_2PI - log_share)
    return -log_share, -ratio, np.clip(ratio * (ratio + margin), 0.0, 1.0)
