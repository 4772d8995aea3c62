"""The loss of counts with a negative binomial distribution."""

from math import log
from typing import Any

import numpy as np

from tractable.arrays.linalg import product
from tractable.arrays.log_space import log1p_exp, sigmoid
from tractable.arrays.namespace import Array, namespace_of
from tractable.engines.glm.losses.exponential_family import (
    MOST_COUNTED,
    CountLoss,
    log_factorial,
    of_counts,
    y_log_ratio,
)
from tractable.engines.glm.losses.loss import LossExpansion, LossTerms, Scaling
from tractable.value import value


@value
class NegativeBinomial(CountLoss):
    """-log p(y | η) of counts of mean μ = exp(η) and variance μ + α μ²: Poisson counts whose rates vary.

    Parameters
    ----------
    dispersion : float
        α.
    learned : bool
        Whether log α is one more parameter, the last of gradients and curvatures of an expansion.

    Examples
    --------
    >>> found = NegativeBinomial(dispersion=0.5).terms(np.zeros(1), np.array([2.0]))
    >>> float(found.slope[0].round(4)), float(found.curvature[0].round(4))
    (-0.6667, 0.8889)
    """

    dispersion: float
    learned: bool = False

    def terms(self, eta: Array, y: Array) -> LossTerms:
        """Return (y + 1/α) log(1 + α μ) - y η and its derivatives; convex in η."""
        shape, odds = 1.0 / self.dispersion, eta + log(self.dispersion)
        p, q = sigmoid(odds), sigmoid(-odds)  # α μ / (1 + α μ), and the rest
        curvature = (y + shape) * p * q
        return LossTerms(
            value=(y + shape) * log1p_exp(odds) - y * eta,
            slope=shape * p - y * q,
            curvature=curvature,
            third=curvature * (q - p),
        )

    def log_base_measure(self, y: Array) -> Array:
        """Return log Γ(y + 1/α)/Γ(1/α) + y log α - log y!."""
        return of_counts(lambda v: log_rising(np.asarray(v), self.dispersion)[0] - log_factorial(v), y)

    def expected_curvature(self, eta: Array) -> Array:
        """Return μ / (1 + α μ)."""
        mean = self.mean(eta)
        return mean / (1.0 + self.dispersion * mean)

    def variance(self, mean: Array) -> Array:
        """Return μ + α μ²."""
        return mean * (1.0 + self.dispersion * mean)

    def deviance(self, y: Array, mean: Array) -> Array:
        """Return 2 (y log(y/μ) - (y + 1/α) log((1 + α y) / (1 + α μ)))."""
        alpha = self.dispersion
        # (1 + α y) / (1 + α μ) - 1, without cancellation where they are near.
        excess = alpha * (y - mean) / (1.0 + alpha * mean)
        return 2.0 * (y_log_ratio(y, mean) - (y + 1.0 / alpha) * namespace_of(y).log1p(excess))

    def saturated(self, y: Array) -> Array:
        """Return the log density at μ = y."""
        alpha = self.dispersion
        rest = y_log_ratio(y, 1.0 + 0.0 * y) - (y + 1.0 / alpha) * namespace_of(y).log1p(alpha * y)
        return rest + self.log_base_measure(y)

    def dispersion_terms(self, eta: Array, y: Array) -> tuple[Array, Array, Array, Array]:
        """Return -log Γ(y + 1/α)/Γ(1/α) - y log α; of that and the loss ∂, ∂² by log α, and ∂² by both."""
        alpha, mean = self.dispersion, self.mean(eta)
        part = alpha * mean / (1.0 + alpha * mean)
        shape, log_over = 1.0 / alpha, np.log1p(alpha * mean)
        rising = of_counts(lambda v: np.stack(log_rising(v, alpha), axis=-1), y)
        first = (y + shape) * part - shape * log_over
        second = shape * (log_over - 2.0 * part) + (y + shape) * part * (1.0 - part)
        mixed = part * (y - mean) / (1.0 + alpha * mean)
        return -rising[:, 0], first - rising[:, 1], second - rising[:, 2], mixed

    def expand(
        self, x: Any, y: Any, weights: Any, scaling: Scaling, coef: Array, curvature: str | None
    ) -> LossExpansion:
        """See `Loss.expand`; of a dispersion that is learned, with one more parameter.

        Parameters
        ----------
        x, y, weights, scaling, coef, curvature
            As there.
        """
        found = super().expand(x, y, weights, scaling, coef, curvature)
        if not self.learned:
            return found
        p, total = coef.shape[1], found.value
        gradient, hessian = np.append(found.gradient, 0.0), np.zeros((p + 1, p + 1))
        hessian[:p, :p] = found.curvature
        for z, eta, own, w in self.parts(x, y, weights, scaling, coef):
            count = np.ones(len(own)) if w is None else w
            rest, first, second, mixed = self.dispersion_terms(eta, own)
            total += float(count @ rest)
            gradient[p] += count @ first
            hessian[p, p] += count @ second
            hessian[:p, p] += product(count * mixed, z)
        hessian[p, :p] = hessian[:p, p]
        return LossExpansion(value=total, gradient=gradient[None, :], curvature=hessian)


def log_rising(y: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return Σ_{j<y} log(1 + α j) = log Γ(y + 1/α)/Γ(1/α) + y log α, and two derivatives by log α.

    Of whole numbers by the sums themselves, which lose no digits where α is small.

    Examples
    --------
    >>> log_rising(np.array([0.0, 1.0, 2.0]), 1.0)[0].round(4).tolist()
    [0.0, 0.0, 0.6931]
    """
    top = float(np.max(y, initial=0.0))
    if top <= MOST_COUNTED and np.all(y == np.floor(y)):
        j = alpha * np.arange(top)
        sums = (np.append(0.0, np.cumsum(part)) for part in (np.log1p(j), j / (1.0 + j), j / (1.0 + j) ** 2))
        of = y.astype(np.int64)
        value, first, second = (part[of] for part in sums)
        return value, first, second
    from scipy.special import digamma, gammaln, polygamma

    shape = 1.0 / alpha
    ratio = digamma(y + shape) - digamma(shape)
    change = polygamma(1, y + shape) - polygamma(1, shape)
    value = gammaln(y + shape) - gammaln(shape) - y * np.log(shape)
    return value, y - shape * ratio, shape * (ratio + shape * change)
