"""The two steps of EM for linear regression in noise with heavy tails: iteratively reweighted least squares.

The noise is a normal of unknown precision. E-step (:class:`RobustEStep`): the expected precision of each row
given its residual, as its weight in a linear statistic. M-step (:meth:`RobustProblem.maximize`): weighted
least squares, and the likeliest noise about it.
"""

from functools import cached_property
from typing import Any

import numpy as np

from tractable.data import Batch
from tractable.engines import LeastSquares, least_squares
from tractable.engines.em import EMProblem
from tractable.linear_model.robust.noise import (
    LEAST_DOF,
    GaussianNoise,
    LaplaceNoise,
    NoiseSums,
    StudentNoise,
)
from tractable.statistics import LinearFactor, Standardizer, column_varies
from tractable.value import replace, value

#: The least scale of the noise, relative to the standard deviation of the targets: rounding of residuals.
LEAST_SCALE = 32.0 * float(np.finfo(float).eps)

#: Residuals of least squares that are smaller, relative to the standard deviation of the targets, are none.
EXACT = 1e-10

#: The initial degrees of freedom of Student's t, where they are estimated.
FIRST_DOF = 4.0


@value
class RobustParameters:
    """Coefficients and the noise, of standardized targets."""

    linear: LeastSquares
    noise: Any  # GaussianNoise, LaplaceNoise or StudentNoise


@value
class RobustStatistic:
    """Sums over rows of an E-step; they merge with ``+``."""

    params: RobustParameters  # that they were made with
    factor: LinearFactor  # of rows weighted by w times their IRLS weights
    weight: float  # Σ w
    noise: NoiseSums
    log_jacobian: float  # of the standardized target: the objective is in the units of the data

    def __add__(self, other: "RobustStatistic") -> "RobustStatistic":
        return replace(
            self,
            factor=self.factor + other.factor,
            weight=self.weight + other.weight,
            noise=self.noise + other.noise,
        )

    @property
    def objective(self) -> float:
        """The log-likelihood of the rows; of Laplace noise at the likeliest scale for these residuals."""
        found = self.noise.log_likelihood
        if isinstance(self.params.noise, LaplaceNoise):
            found = -self.weight * (1.0 + float(np.log(2.0 * self.noise.distance / self.weight)))
        return found + self.weight * self.log_jacobian


@value
class RobustEStep:
    """The expected precision of each row given its residual, as the weights of a `LinearFactor`."""

    params: RobustParameters
    target: Standardizer

    def __call__(self, block: Batch) -> RobustStatistic:
        w = block.row_weights
        weights, noise = self.params.noise.expected(self.residuals(block), w)
        return RobustStatistic(
            params=self.params,
            factor=_linear_factor(block.X, standardized_target(self.target, block), w * weights),
            weight=float(np.sum(w)),
            noise=noise,
            log_jacobian=self.target.log_jacobian,
        )

    def residuals(self, block: Batch) -> np.ndarray:
        """Return the residuals of the standardized targets of a block, (n,)."""
        return standardized_target(self.target, block) - self.params.linear.predict(block.X)[:, 0]

    def row_weights(self, block: Batch) -> np.ndarray:
        """Return the weight of each row in the next least squares, (n,)."""
        return self.params.noise.expected(self.residuals(block), block.row_weights)[0]

    def least_rows(self, n_columns: int) -> int:
        """Return how many rows make a block worth a merge of factors."""
        return LinearFactor.least_rows(n_columns)


@value
class RobustProblem(EMProblem):
    """The data and the two steps of robust regression, of standardized targets."""

    data: Any  # the rows as a source; None for an M-step alone
    target: Standardizer
    rows: LinearFactor | None  # of the rows, with standardized targets
    noise: str
    dof: float | None = None  # of Student's noise, if they are known
    fit_intercept: bool = True

    @property
    def total(self) -> float:
        """Weight of the rows."""
        return 0.0 if self.rows is None else float(self.rows.weight)

    @cached_property
    def least_squares(self) -> LeastSquares:
        """The least-squares fit of all rows."""
        assert self.rows is not None
        return least_squares(self.rows, fit_intercept=self.fit_intercept)

    @cached_property
    def is_exact(self) -> bool:
        """Whether least squares leaves residuals that are no more than rounding."""
        if self.rows is None:
            return False
        scale = np.sqrt(self.least_squares.noise_variance_ml[0])
        stddev = self.rows.stddev[-1]
        level = self.rows.mean[-1] + self.target.shift * self.target.scale
        return bool(scale <= EXACT * stddev or not column_varies(np.hypot(stddev, level), scale))

    @property
    def log_likelihood(self) -> float:
        """Log-likelihood of least squares in Gaussian noise; infinite if it leaves no residuals."""
        found = np.inf if self.is_exact else self.least_squares.log_likelihood
        return found + self.total * self.target.log_jacobian

    def initial(self, rng: Any = None) -> RobustParameters:
        """Return the coefficients of least squares, with noise of the size of their residuals."""
        linear = self.least_squares
        scale = max(float(np.sqrt(linear.noise_variance_ml[0])), LEAST_SCALE)
        dof = FIRST_DOF if self.dof is None else float(self.dof)
        models = {
            "gaussian": GaussianNoise(scale=scale),
            "laplace": LaplaceNoise(scale=scale),
            "student": StudentNoise(scale=scale, dof=dof, known=self.dof is not None),
        }
        return RobustParameters(linear=linear, noise=models[self.noise])

    def expect(self, params: RobustParameters) -> RobustEStep:
        """Return the E-step at these parameters."""
        return RobustEStep(params=params, target=self.target)

    def maximize(self, statistic: RobustStatistic) -> RobustParameters:
        """Return weighted least squares, and the likeliest noise about it.

        The scale of Student's t divides the squares by the sum of the weights, not of the rows, which has the
        same fixed point and converges sooner (PX-EM). Where its degrees of freedom are unknown, they alone
        change where that promises more of the likelihood (ECME). The scale of Laplace noise is that of the
        residuals of the E-step: it has no influence on the coefficients.
        """
        linear = least_squares(statistic.factor, fit_intercept=self.fit_intercept)
        before = statistic.params.noise
        if isinstance(before, LaplaceNoise):
            scale = statistic.noise.distance / statistic.weight
        else:
            scale = float(np.sqrt(linear.rss[0] / statistic.factor.weight))
        noise = replace(before, scale=max(scale, LEAST_SCALE))
        precisions = statistic.noise.precisions
        if precisions is None:
            return RobustParameters(linear=linear, noise=noise)
        # At the same ν, the step above promises -½ ((ν + 1) log E u + log scale'²/scale²), the growth of the
        # expanded Q.
        mean = float(precisions.precision[0] / precisions.weight[0])
        promised = -0.5 * (before.dof + 1.0) * np.log(mean) - np.log(noise.scale / before.scale)
        dof, gain = before.mixture.likelier_dof(precisions, LEAST_DOF)
        if promised >= gain[0]:
            return RobustParameters(linear=linear, noise=noise)
        return replace(statistic.params, noise=replace(before, dof=float(dof[0])))


@value
class StandardizedRows:
    """The linear statistic of a block of rows, with a standardized target."""

    target: Standardizer

    def __call__(self, block: Batch) -> LinearFactor:
        return _linear_factor(block.X, standardized_target(self.target, block), block.weights)

    def least_rows(self, n_columns: int) -> int:
        """Return how many rows make a block worth a merge of factors."""
        return LinearFactor.least_rows(n_columns)


def target_factor(block: Batch) -> LinearFactor:
    """Return the linear statistic of the targets of a block alone."""
    return LinearFactor.of(np.empty((block.n_rows, 0)), block.y, block.weights)


def standardized_target(target: Standardizer, block: Batch) -> np.ndarray:
    """Return the standardized target of each row of a block, (n,)."""
    return target.transform(block.y).reshape(-1)


def _linear_factor(X: np.ndarray, y: np.ndarray, weights: np.ndarray | None) -> LinearFactor:
    # Rows fewer than their columns are a smaller factor than a triangle.
    return LinearFactor.of(X, y, weights, reduce=X.shape[0] > X.shape[1])
