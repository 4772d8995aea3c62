"""Several linear regressions, the noise of each, and their mixing weights: parameters and pure functions."""

from functools import cached_property
from math import log, pi

import numpy as np

from tractable.arrays.linalg import product
from tractable.arrays.log_space import log_softmax
from tractable.engines import LeastSquares
from tractable.value import value

#: Rows a parameter that the noise of one component is estimated from, whose labels are not known.
FEWEST_ROWS = 4.0


@value
class RegressionMixture:
    """p(y | x) = Σ_k π_k(x) N(y | f_k(x), σ_k²), with linear f_k and log π(x) = log softmax(gate [1, x]).

    Parameters
    ----------
    regressions : tuple of K LeastSquares
        The coefficients f_k of each component, and their errors.
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
        return self.intercept + product(x, self.coef.T)

    def log_weights(self, x: np.ndarray) -> np.ndarray:
        """Return log π_k(x), (n, K)."""
        if self.gate.shape[1] == 1:
            return np.broadcast_to(log_softmax(self.gate[:, 0]), (len(x), len(self.gate)))
        return log_softmax(self.gate[:, 0] + product(x, self.gate[:, 1:].T))

    def log_joint(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return log π_k(x) N(y | f_k(x), σ_k²), (n, K), stored by columns: sums over k run along rows."""
        joint = product(self.coef, x.T)
        joint += self.intercept[:, None] - y
        joint *= joint
        joint *= -0.5 / self.noise[:, None]
        joint -= 0.5 * np.log(self.noise[:, None]) + 0.5 * log(2.0 * pi)
        joint += self.log_weights(x).T
        return joint.T

    def noise_estimates(self, root_alpha: np.ndarray, *, shared: bool) -> tuple[np.ndarray, np.ndarray]:
        """Return the noise variance of each component by the degrees of freedom of its residuals, and these.

        Σ_n γ_nk (y_n - f_k(x_n))² / (N_k - p_k) with p_k the trace of the component's hat matrix, as if the
        labels of the rows were known; where noise is shared, or the rows of a component are few, sums over
        all components. `root_alpha` are the roots of the penalty weights of squared coefficients, whose
        penalty the sums of squares hold.
        """
        rss, dof = [], []
        for each in self.regressions:
            penalty = float(np.sum((each.coef[0] * root_alpha) ** 2))
            shrunk = float(np.sum((root_alpha[:, None] * each.slopes_root) ** 2))
            rss.append(max(float(each.rss[0]) - penalty, 0.0))
            dof.append(each.residual_dof + shrunk)
        squares, dofs = np.array(rss), np.array(dof)
        rows = np.array([each.n_rows for each in self.regressions])
        pooled = np.full(len(dofs), shared) | ~(rows > FEWEST_ROWS * (rows - dofs))
        squares, dofs = np.where(pooled, squares.sum(), squares), np.where(pooled, dofs.sum(), dofs)
        return squares / np.where(dofs > 0, dofs, np.nan), dofs

    def leverage(self, x: np.ndarray) -> np.ndarray:
        """Return the variance of each f_k(x) over σ_k², as if the labels of the rows were known, (n, K).

        It is infinite outside of the span of the rows of a component.
        """
        return np.column_stack([regression.leverage(x) for regression in self.regressions])
