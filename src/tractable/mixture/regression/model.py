"""Several planes, the noise about each, and which of them a row belongs to: parameters and pure functions."""

from functools import cached_property
from math import log, pi

import numpy as np

from tractable.arrays.special import log_softmax
from tractable.engines import LeastSquares
from tractable.value import value

__all__ = ["RegressionMixture"]


@value
class RegressionMixture:
    """p(y | x) = Σ_k π_k(x) N(y | f_k(x), σ_k²), with planes f_k and log π(x) = log softmax(gate [1, x]).

    Parameters
    ----------
    planes : tuple of K LeastSquares
    noise : array (K,)
        σ².
    gate : array (K, 1) or (K, 1 + d)
        Logarithms of constant shares; or the intercepts and coefficients of a softmax.
    """

    planes: tuple[LeastSquares, ...]
    noise: np.ndarray
    gate: np.ndarray

    @cached_property
    def coef(self) -> np.ndarray:
        """Coefficients of the planes, (K, d)."""
        return np.concatenate([plane.coef for plane in self.planes])

    @cached_property
    def intercept(self) -> np.ndarray:
        """The planes at the origin, (K,)."""
        return np.concatenate([plane.intercept for plane in self.planes])

    def heights(self, x: np.ndarray) -> np.ndarray:
        """Return f_k(x), (n, K)."""
        return self.intercept + x @ self.coef.T

    def log_shares(self, x: np.ndarray) -> np.ndarray:
        """Return log π_k(x), (n, K)."""
        if self.gate.shape[1] == 1:
            return np.broadcast_to(log_softmax(self.gate[:, 0]), (len(x), len(self.gate)))
        return log_softmax(self.gate[:, 0] + x @ self.gate[:, 1:].T)

    def log_joint(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return log π_k(x) N(y | f_k(x), σ_k²), (n, K)."""
        squares = (y[:, None] - self.heights(x)) ** 2 / self.noise
        return self.log_shares(x) - 0.5 * (squares + np.log(self.noise) + log(2.0 * pi))

    def plane_variance(self, x: np.ndarray) -> np.ndarray:
        """Return the large-sample variance of each plane, as if rows were known to belong to it, (n, K).

        σ_k² h / (1 + h) with the leverage h among the rows of the plane: what would be left of it with one
        more row at x. Of many rows that is σ_k² h; of few, which say little, no more than the noise.
        """
        leverage = np.column_stack([plane.leverage(x) for plane in self.planes])
        return self.noise * leverage / (1.0 + leverage)
