"""Loss, gradient and curvature of two classes told apart by one plane: a statistic of the rows."""

from typing import Any

import numpy as np

from tractable.arrays.constants import HALF_LOG_2PI
from tractable.arrays.log_space import log1p_exp, sigmoid
from tractable.value import value

__all__ = ["LINKS", "LinkExpansion", "probit_loss"]

LINKS = ("logit", "probit")


@value
class LinkExpansion:
    """Value, gradient and curvature of -Σ_n w_n log p(c_n | x_n) about a plane; they add.

    p(1 | x) = σ(a) for the logit link and Φ(a) for the probit link, with a = xᵀw.

    Parameters
    ----------
    value : float
    gradient : array (p,)
    curvature : array (p, p)

    Examples
    --------
    >>> rows, codes = np.array([[1.0], [1.0], [1.0]]), np.array([0, 0, 1])
    >>> at_zero = LinkExpansion.of(rows, codes, coef=np.zeros(1), link="logit")
    >>> at_zero.gradient.tolist(), at_zero.curvature.tolist()
    ([0.5], [[0.75]])
    """

    value: float
    gradient: np.ndarray
    curvature: np.ndarray

    @classmethod
    def of(
        cls, x: np.ndarray, codes: np.ndarray, weights: Any = None, *, coef: np.ndarray, link: str
    ) -> "LinkExpansion":
        """Expand the loss of rows (n, p) of classes 0 and 1 about coefficients (p,)."""
        sign = 2.0 * np.asarray(codes, dtype=np.float64) - 1.0
        w = np.ones(len(x)) if weights is None else np.asarray(weights, dtype=np.float64)
        loss, slope, bend = _LOSSES[link](sign * (x @ coef))
        return cls(
            value=float(w @ loss),
            gradient=(w * sign * slope) @ x,
            curvature=(x * (w * bend)[:, None]).T @ x,
        )

    def __add__(self, other: "LinkExpansion") -> "LinkExpansion":
        """Add the losses of two blocks of rows, at the same coefficients."""
        if not isinstance(other, LinkExpansion):
            return NotImplemented
        return LinkExpansion(
            value=self.value + other.value,
            gradient=self.gradient + other.gradient,
            curvature=self.curvature + other.curvature,
        )


def _logit(margin: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return -log σ(m) and its first two derivatives."""
    wrong = sigmoid(-margin)
    return log1p_exp(-margin), -wrong, wrong * sigmoid(margin)


def probit_loss(margin: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return -log Φ(m) and its first two derivatives, by the ratio φ(m)/Φ(m)."""
    from scipy.special import log_ndtr

    log_share = log_ndtr(margin)
    with np.errstate(under="ignore"):
        ratio = np.exp(-0.5 * margin**2 - HALF_LOG_2PI - log_share)
    return -log_share, -ratio, np.clip(ratio * (ratio + margin), 0.0, 1.0)


_LOSSES = {"logit": _logit, "probit": probit_loss}
