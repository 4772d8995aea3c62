"""Several linear regressions, the noise of each, and their mixing weights: parameters and pure functions."""

from functools import cached_property
from math import log, pi

import numpy as np

from tractable.arrays.log_space import log_softmax
from tractable.engines import LeastSquares
from tractable.value import value

__all__ = ["RegressionMixture"]


@value
class RegressionMixture:
    """p(y | x) = Σ_k π_k(x) N(y | f_k(x), σ_k²), with linear f_k and log π(x) = log softmax(gate [1, x]).

    Parameters
    ----------
    regressions : tuple of K LeastSquares
    noise : array (K,)
        σ².
    gate : array (K, 1) or (K, 1 + d)
        Logarithms of constant mixing weights; or the intercepts and coefficients of a softmax.
    """

    regressions: tuple[LeastSquares, ...]
    noise: np.ndarray
    gate: np.ndarray

    @cached_property
    def coef(self) -> np.ndarray:
        """Coefficients, (K, d)."""
        return np.concatenate([regression.coef for regression in self.regressions])

    @cached_property
    def intercept(self) -> np.ndarray:
        """Intercepts, (K,)."""
        return np.concatenate([regression.intercept for regression in self.regressions])

    def means(self, x: np.ndarray) -> np.ndarray:
        """Return f_k(x), (n, K)."""
        return self.intercept + x @ self.coef.T

    def log_weights(self, x: np.ndarray) -> np.ndarray:
        """Return log π_k(x), (n, K)."""
        if self.gate.shape[1] == 1:
            return np.broadcast_to(log_softmax(self.gate[:, 0]), (len(x), len(self.gate)))
        return log_softmax(self.gate[:, 0] + x @ self.gate[:, 1:].T)

    def log_joint(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return log π_k(x) N(y | f_k(x), σ_k²), (n, K)."""
        squares = (y[:, None] - self.means(x)) ** 2 / self.noise
        return self.log_weights(x) - 0.5 * (squares + np.log(self.noise) + log(2.0 * pi))

    def mean_variance(self, x: np.ndarray) -> np.ndarray:
        """Return the large-sample variance of each f_k(x), as if the labels of the rows were known, (n, K).

        σ_k² h / (1 + h) with the leverage h among the rows of the component: what would be left of it with
        one more row at x. Of many rows that is σ_k² h; of few, no more than the noise.
        """
        leverage = np.column_stack([regression.leverage(x) for regression in self.regressions])
        return self.noise * leverage / (1.0 + leverage)
