"""M-estimates of Huber and Tukey: losses without a likelihood, beside a scale by the median residual.

Iteratively reweighted least squares from the least-squares fit. The scale is the median absolute residual,
over that of a standard normal, anew in every step (Huber 1981; Holland and Welsch 1977).
"""

import numpy as np

from tractable.engines import EMResult, LeastSquares, least_squares
from tractable.engines.glm.losses import Huber, Tukey
from tractable.linear_model.robust.noise import Noise, NoiseSums
from tractable.linear_model.robust.steps import (
    LEAST_SCALE,
    RobustParameters,
    RobustProblem,
    standardized_target,
)
from tractable.statistics import LinearFactor
from tractable.value import value

#: The losses, and their tuning constants: 95 % efficient in Gaussian noise.
TUNING = {"huber": 1.345, "tukey": 4.685}
#: Median of the absolute value of a standard normal.
NORMAL_MEDIAN = 0.6744897501960817
#: Change of the fitted values, relative to the scale, at which the search ends.
SMALL = 1e-11


@value
class RobustLoss(Noise):
    """A loss of residuals in units of a scale: Huber's, quadratic and then linear; Tukey's, bounded.

    Examples
    --------
    >>> loss = RobustLoss(scale=2.0, kind="huber", tuning=1.5)
    >>> loss.expected(np.array([1.0, 6.0]), np.ones(2))[0].tolist()
    [1.0, 0.5]
    """

    kind: str
    tuning: float

    @property
    def loss(self) -> Huber | Tukey:
        """The loss of residuals in units of the scale."""
        return Huber(tuning=self.tuning) if self.kind == "huber" else Tukey(tuning=self.tuning)

    def standard_loss(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """See `Noise.standard_loss`."""
        found = self.loss.terms(z, np.zeros_like(z))
        return found.value, found.slope

    def expected(self, r: np.ndarray, w: np.ndarray) -> tuple[np.ndarray, NoiseSums]:
        """Return the weights ψ(z)/z of rows in the next least squares, and minus their loss."""
        z = r / self.scale
        loss, slope = self.standard_loss(z)
        weights = np.where(z == 0.0, 1.0, slope / np.where(z == 0.0, 1.0, z))
        return weights, NoiseSums(log_likelihood=-float(w @ loss) - float(np.sum(w)) * np.log(self.scale))

    @property
    def variance(self) -> float:
        """The square of the scale: the variance of the noise but for its outliers."""
        return self.scale**2


@value
class MEstimate:
    """Where the search ended, and by how much coefficients vary more than in least squares."""

    params: RobustParameters
    variance: float  # of a coefficient whose (XᵀX)⁻¹ is one, in standardized targets
    n_iter: int
    result: EMResult


def m_estimate(problem: RobustProblem, *, kind: str, tuning: float, max_iter: int) -> MEstimate:
    """Return the coefficients whose loss has a vanishing gradient, from least squares on."""
    held = problem.data.collect()
    some = held.row_weights > 0.0
    x, w = np.asarray(held.X, dtype=np.float64)[some], held.row_weights[some]
    y = standardized_target(problem.target, held)[some]
    linear, steps, converged = problem.least_squares, 0, problem.is_exact  # without residuals, no loss
    fitted = linear.predict(x)[:, 0]
    loss = _with_scale(kind, tuning, y - fitted, w)
    while steps < max_iter and not converged:
        weights = loss.expected(y - fitted, w)[0]
        if not np.count_nonzero(weights) > linear.rank + linear.has_intercept:
            break  # more rows are outliers than can be
        linear = least_squares(LinearFactor.of(x, y, w * weights), fit_intercept=problem.fit_intercept)
        before, fitted = fitted, linear.predict(x)[:, 0]
        loss = _with_scale(kind, tuning, y - fitted, w)
        steps += 1
        converged = bool(np.max(np.abs(fitted - before)) <= SMALL * max(loss.scale, LEAST_SCALE))
    params = RobustParameters(linear=linear, noise=loss)
    objective = loss.expected(y - fitted, w)[1].log_likelihood
    return MEstimate(
        params=params,
        variance=_variance(loss, y - fitted, w, problem.least_squares),
        n_iter=steps,
        result=EMResult(params=params, trace=(objective,), converged=converged),
    )


def _with_scale(kind: str, tuning: float, r: np.ndarray, w: np.ndarray) -> RobustLoss:
    size = _median(np.abs(r), w)
    return RobustLoss(scale=max(size / NORMAL_MEDIAN, LEAST_SCALE), kind=kind, tuning=tuning)


def _median(x: np.ndarray, w: np.ndarray) -> float:
    """Return the median of numbers with frequencies, the mean of the middle two of an even number."""
    order = np.argsort(x, kind="stable")
    below = np.cumsum(w[order])
    half = 0.5 * below[-1]
    at = int(np.searchsorted(below, half * (1.0 - 1e-12)))
    tied = abs(below[at] - half) <= 1e-12 * half and at + 1 < len(x)
    return float(0.5 * (x[order[at]] + x[order[at + 1]]) if tied else x[order[at]])


def _variance(loss: RobustLoss, r: np.ndarray, w: np.ndarray, whole: LeastSquares) -> float:
    """Return Huber's κ² s² Σ ψ² / (n - p) / (mean ψ′)², with his correction κ of few rows."""
    n, p = float(whole.weight), float(whole.rank + whole.has_intercept)
    z = r / loss.scale
    found = loss.loss.terms(z, np.zeros_like(z))
    slope = found.curvature
    mean = float(w @ slope) / n
    if not (n > p and mean > 0.0):
        return np.nan
    correction = 1.0 + p / n * (float(w @ (slope - mean) ** 2) / n) / mean**2
    return correction**2 * loss.scale**2 * float(w @ found.slope**2) / (n - p) / mean**2
