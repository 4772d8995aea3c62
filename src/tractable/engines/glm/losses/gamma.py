"""The loss of positive amounts with a gamma distribution."""

from tractable.arrays.namespace import Array, namespace_of
from tractable.engines.glm.losses.exponential_family import MOST_LOG_MEAN, FamilyLoss
from tractable.engines.glm.losses.loss import LossTerms
from tractable.value import value


@value
class Gamma(FamilyLoss):
    """-log p(y | η) of amounts of mean μ and variance φ μ², at φ = 1: y/μ + log μ, of η = log μ or η = 1/μ.

    Parameters
    ----------
    link : {"log", "inverse"}
        "inverse" is the canonical link, which needs a positive η.

    Examples
    --------
    >>> import numpy as np
    >>> found = Gamma(link="inverse").terms(np.full(1, 0.5), np.array([2.0]))
    >>> float(found.slope[0]), float(found.curvature[0])
    (0.0, 4.0)
    """

    link: str = "log"
    unit_dispersion = False

    def mean(self, eta: Array) -> Array:
        """Return μ; NaN where the inverse of η is no positive number."""
        xp = namespace_of(eta)
        if self.link == "log":
            return xp.exp(xp.clip(eta, -MOST_LOG_MEAN, MOST_LOG_MEAN))
        return 1.0 / xp.where(eta > 0.0, eta, xp.nan + 0.0 * eta)

    def terms(self, eta: Array, y: Array) -> LossTerms:
        """Return y/μ + log μ and its derivatives; convex in η."""
        mean = self.mean(eta)
        if self.link == "log":
            ratio = y / mean
            return LossTerms(value=ratio + eta, slope=1.0 - ratio, curvature=ratio, third=-ratio)
        square, log = mean * mean, namespace_of(eta).log(mean)
        return LossTerms(value=y * eta + log, slope=y - mean, curvature=square, third=-2.0 * square * mean)

    def expected_curvature(self, eta: Array) -> Array:
        """Return 1, or μ²."""
        return 1.0 + 0.0 * eta if self.link == "log" else self.mean(eta) ** 2

    def variance(self, mean: Array) -> Array:
        """Return μ²."""
        return mean * mean

    def deviance(self, y: Array, mean: Array) -> Array:
        """Return 2 (y/μ - 1 - log(y/μ))."""
        ratio = y / mean
        return 2.0 * (ratio - 1.0 - namespace_of(y).log(ratio))

    def saturated(self, y: Array) -> Array:
        """Return -log y, the part of the log density that neither the mean nor φ changes."""
        return -namespace_of(y).log(y)
