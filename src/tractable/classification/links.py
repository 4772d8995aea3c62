"""How a plane becomes a probability: the logistic link, for any number of classes, and the probit."""

from typing import Any

import numpy as np

from tractable.arrays.special import log_ndtr, log_sum_exp, sigmoid, softmax
from tractable.classification.link_expansion import probit_loss
from tractable.engines.softmax_regression import contrasts_of, over_contrasts
from tractable.primitives.glm import softmax_curvature, softmax_loss
from tractable.statistics.rows import as_rows
from tractable.value import value

__all__ = ["Logit", "Probit", "Slope", "Units", "features"]

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
