"""The loss of Poisson counts."""

from tractable.arrays.namespace import Array
from tractable.engines.glm.losses.exponential_family import CountLoss, log_factorial, of_counts, y_log_ratio
from tractable.engines.glm.losses.loss import LossTerms
from tractable.value import value


@value
class Poisson(CountLoss):
    """-log p(y | η) of counts of mean and variance μ = exp(η), the canonical link: μ - y η, without log y!.

    Examples
    --------
    >>> import numpy as np
    >>> found = Poisson().terms(np.zeros(1), np.array([2.0]))
    >>> float(found.slope[0]), float(found.curvature[0])
    (-1.0, 1.0)
    """

    def terms(self, eta: Array, y: Array) -> LossTerms:
        """Return μ - y η, μ - y, μ and μ."""
        mean = self.mean(eta)
        return LossTerms(value=mean - y * eta, slope=mean - y, curvature=mean, third=mean)

    def log_base_measure(self, y: Array) -> Array:
        """Return -log y!."""
        return -of_counts(log_factorial, y)

    def expected_curvature(self, eta: Array) -> Array:
        """Return μ."""
        return self.mean(eta)

    def variance(self, mean: Array) -> Array:
        """Return μ."""
        return mean

    def deviance(self, y: Array, mean: Array) -> Array:
        """Return 2 (y log(y/μ) - (y - μ))."""
        return 2.0 * (y_log_ratio(y, mean) - (y - mean))

    def saturated(self, y: Array) -> Array:
        """Return y log y - y - log y!."""
        return y_log_ratio(y, 1.0 + 0.0 * y) - y + self.log_base_measure(y)
