"""What losses of class probabilities share: the coefficients that users read, probabilities, intervals."""

from abc import abstractmethod
from typing import Any

import numpy as np

from tractable.arrays.namespace import Array, namespace_of
from tractable.engines.glm.losses.loss import Loss

#: Names of the functions from linear predictors to probabilities of classes.
LINKS = ("logit", "probit")


class ClassLoss(Loss):
    """-log p(C_y | η); targets are class codes (n,), or probabilities of the classes.

    Attributes
    ----------
    contrasts : array (K, c)
        The linear predictors of the classes by those of the coefficients.
    """

    contrasts: Any
    self_concordant = True
    of_classes = True

    def targets(self, y: Any) -> tuple[Any, Any]:
        """Return class codes or probabilities, and no offsets."""
        return y, None

    def class_coef(self, coef: np.ndarray) -> np.ndarray:
        """Return the coefficients that users read: one row for two classes, else one a class."""
        return coef

    def free_coef(self, class_coef: np.ndarray) -> np.ndarray:
        """Return the coefficients of the loss nearest to given ones of the classes."""
        return class_coef

    @abstractmethod
    def log_scores(self, eta: np.ndarray) -> np.ndarray:
        """Return log p(C_k | η) up to a number a row, (n, K), of the linear predictors that users read."""

    @abstractmethod
    def log_proba(self, eta: np.ndarray) -> np.ndarray:
        """Return log p(C_k | η), (n, K), of the linear predictors of the coefficients, (n, c)."""

    @abstractmethod
    def log_odds_jacobian(self, eta: np.ndarray) -> np.ndarray:
        """Return ∂o_k/∂η, (n, K, c), of what the probability of each class is a function of, its log odds."""

    @abstractmethod
    def proba_interval(self, eta: np.ndarray, half_width: np.ndarray) -> np.ndarray:
        """Return the probabilities of each class at its log odds ∓ half_width, (n, K, 2)."""


class TwoClassLoss(ClassLoss):
    """-log p(C_y | η) of two classes, p(C_1 | η) = F(η), of a distribution F that is symmetric about 0."""

    contrasts = np.array([[0.0], [1.0]])

    @abstractmethod
    def log_cdf(self, eta: np.ndarray) -> np.ndarray:
        """Return log F(η)."""

    def margins(self, eta: Array, y: Array) -> Array:
        """Return ±η: the loss of a class falls as its probability grows."""
        return (signs(y, eta) * eta)[:, None]

    def log_scores(self, eta: np.ndarray) -> np.ndarray:
        """See `ClassLoss.log_scores`."""
        return self.log_proba(eta)

    def log_proba(self, eta: np.ndarray) -> np.ndarray:
        """See `ClassLoss.log_proba`."""
        return namespace_of(eta).stack([self.log_cdf(-eta[:, 0]), self.log_cdf(eta[:, 0])], axis=1)

    def log_odds_jacobian(self, eta: np.ndarray) -> np.ndarray:
        """Return ∓1, the derivatives of the arguments of F by η, (n, 2, 1)."""
        return np.broadcast_to(np.array([[-1.0], [1.0]]), (len(eta), 2, 1))

    def proba_interval(self, eta: np.ndarray, half_width: np.ndarray) -> np.ndarray:
        """Return F(∓η ∓ half_width), (n, 2, 2)."""
        both = np.concatenate([-eta, eta], axis=1)
        return np.exp(self.log_cdf(np.stack([both - half_width, both + half_width], axis=-1)))


def signs(y: Array, eta: Array) -> Array:
    """Return -1 for rows of the first of two classes, and 1 for the others."""
    return 2.0 * namespace_of(eta).astype(y, eta.dtype) - 1.0
