"""Losses of linear models of classes (logistic, softmax, probit): value, gradient and curvature."""

from typing import Any

import numpy as np

from tractable.arrays.log_space import HALF_LOG_2PI
from tractable.arrays.special import log_ndtr, log_sum_exp, sigmoid, softmax
from tractable.engines.glm.softmax_regression import contrasts_of, over_contrasts
from tractable.primitives.glm import softmax_curvature, softmax_loss
from tractable.statistics.rows import as_rows
from tractable.value import value

__all__ = ["LINKS", "LinkExpansion", "Logit", "Probit", "Slope", "Units", "features", "probit_loss"]

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
    >>> from tractable.engines.glm.losses import Logit
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


#: Shift and scale of the columns.
Units = tuple[np.ndarray, np.ndarray]


@value
class Slope:
    """Value and gradient of a loss over rows; they add."""

    value: float
    gradient: np.ndarray

    def __add__(self, other: "Slope") -> "Slope":
        return Slope(value=self.value + other.value, gradient=self.gradient + other.gradient)


@value
class Logit:
    """p(C_k | x) ∝ exp(plane_k · [1, x]), the planes being combinations of free ones: planes = mix @ free.

    Parameters
    ----------
    mix : array (K, c)
        Of two classes the first has the plane zero; of more, planes sum to zero (contrasts) or are all free.
    """

    mix: np.ndarray

    @property
    def bound(self) -> float:
        """No curvature is greater than this times Σ w x xᵀ, of a contrast or of a single plane."""
        return 0.25 if len(self.mix) == 2 else 0.5

    @classmethod
    def of(cls, n_classes: int, *, free: bool) -> "Logit":
        """Return the link of so many classes, with planes that sum to zero unless they are all `free`."""
        if n_classes == 2:
            return cls(mix=np.array([[0.0], [1.0]]))
        return cls(mix=np.eye(n_classes) if free else contrasts_of(n_classes))

    def slope(self, x: Any, codes: Any, weights: Any, units: Units, free: np.ndarray) -> Slope:
        """Return -Σ w log p(C | x) and its gradient with respect to the free planes."""
        loss, gradient = softmax_loss(x, codes, weights, *units, self.mix @ free)
        return Slope(value=loss, gradient=self.mix.T @ gradient)

    def curvature(self, x: Any, codes: Any, weights: Any, units: Units, free: np.ndarray) -> np.ndarray:
        """Return the Hessian, (c p, c p): the information of the rows."""
        return over_contrasts(self.mix, softmax_curvature(x, weights, *units, self.mix @ free))

    def pulls(self, x: Any, codes: Any, units: Units, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rows (n, p) and by how much each moves the value of each free plane, (n, c)."""
        z = features(x, units, free.shape[1])
        wrong = softmax(z @ (self.mix @ free).T)
        wrong[np.arange(len(z)), codes] -= 1.0
        return z, wrong @ self.mix

    def planes(self, free: np.ndarray) -> np.ndarray:
        """Return the planes that users read: one for two classes, else one a class."""
        return free if len(self.mix) == 2 else self.mix @ free

    def free(self, planes: np.ndarray) -> np.ndarray:
        """Return the free planes that come nearest to given ones."""
        all_free = len(planes) == self.mix.shape[1]
        return planes if all_free else self.mix.T @ planes

    def log_scores(self, scores: np.ndarray) -> np.ndarray:
        """Return log p(C_k | x), up to a number for each row, of the planes' values (n, 1) or (n, K)."""
        return np.column_stack([np.zeros(len(scores)), scores]) if scores.shape[1] == 1 else scores

    def odds_by_planes(self, scores: np.ndarray) -> np.ndarray:
        """Return the derivatives of log p_k / (1 - p_k) by the planes' values, (n, K, 1) or (n, K, K)."""
        if scores.shape[1] == 1:
            return np.broadcast_to(np.array([[-1.0], [1.0]]), (len(scores), 2, 1))
        k = scores.shape[1]
        others = np.where(np.eye(k, dtype=bool), -np.inf, scores[:, None, :])
        return np.eye(k) - softmax(others)

    def reached(self, scores: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Return σ(log odds ∓ reach) of each class, (n, K, 2)."""
        both = self.log_scores(scores)
        k = both.shape[1]
        others = np.where(np.eye(k, dtype=bool), -np.inf, both[:, None, :])
        odds = both - log_sum_exp(others, axis=-1)
        return sigmoid(np.stack([odds - reach, odds + reach], axis=-1))


@value
class Probit:
    """p(C_1 | x) = Φ(plane · [1, x]): two classes, parted by a plane and Gaussian noise."""

    bound = 1.0
    mix = np.array([[0.0], [1.0]])

    def slope(self, x: Any, codes: Any, weights: Any, units: Units, free: np.ndarray) -> Slope:
        """Return -Σ w log Φ(±z) and its gradient."""
        z, sign, margin, w = self._margins(x, codes, weights, units, free)
        loss, slope, _ = probit_loss(margin)
        return Slope(value=float(w @ loss), gradient=((w * sign * slope) @ z)[None, :])

    def curvature(self, x: Any, codes: Any, weights: Any, units: Units, free: np.ndarray) -> np.ndarray:
        """Return the Hessian, Σ w h (h + m) x xᵀ with the hazard h = φ(m) / Φ(m) of the margin m."""
        z, _, margin, w = self._margins(x, codes, weights, units, free)
        return (w * probit_loss(margin)[2] * z.T) @ z

    def pulls(self, x: Any, codes: Any, units: Units, free: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return rows (n, p) and by how much each moves the value of the plane, (n, 1)."""
        z, sign, margin, _ = self._margins(x, codes, None, units, free)
        return z, (sign * probit_loss(margin)[1])[:, None]

    def planes(self, free: np.ndarray) -> np.ndarray:
        """Return the plane that users read."""
        return free

    def free(self, planes: np.ndarray) -> np.ndarray:
        """Return the free planes that come nearest to given ones."""
        return planes

    def log_scores(self, scores: np.ndarray) -> np.ndarray:
        """Return log Φ(∓z)."""
        return np.column_stack([log_ndtr(-scores[:, 0]), log_ndtr(scores[:, 0])])

    def odds_by_planes(self, scores: np.ndarray) -> np.ndarray:
        """Return ±1: how the argument of Φ moves with the plane's value, (n, 2, 1)."""
        return np.broadcast_to(np.array([[-1.0], [1.0]]), (len(scores), 2, 1))

    def reached(self, scores: np.ndarray, reach: np.ndarray) -> np.ndarray:
        """Return Φ(±z ∓ reach), (n, 2, 2)."""
        both = np.concatenate([-scores, scores], axis=1)
        return np.exp(log_ndtr(np.stack([both - reach, both + reach], axis=-1)))

    def _margins(self, x: Any, codes: Any, weights: Any, units: Units, free: np.ndarray) -> tuple[Any, ...]:
        z = features(x, units, free.shape[1])
        sign = 2.0 * np.asarray(codes) - 1.0
        return z, sign, sign * (z @ free[0]), np.ones(len(z)) if weights is None else weights


def features(x: Any, units: Units, width: int) -> np.ndarray:
    """Return rows in units of their columns, behind a column of ones where there is an intercept."""
    z = (as_rows(x) - units[0]) * units[1]
    return z if z.shape[1] == width else np.column_stack([np.ones(len(z)), z])
