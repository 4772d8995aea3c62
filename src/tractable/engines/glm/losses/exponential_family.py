"""What losses of exponential-dispersion families share: means, variances and deviances of targets."""

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from tractable.arrays.gamma import gammaln
from tractable.arrays.log_space import xlogy
from tractable.arrays.namespace import Array, is_numpy_array, namespace_of
from tractable.engines.glm.losses.loss import Loss

#: The largest logarithm of a mean: its square is a number.
MOST_LOG_MEAN = 340.0
#: Whole numbers up to this size are counted in a table, on which special functions are evaluated.
MOST_COUNTED = 2**16


class FamilyLoss(Loss):
    """-log p(y | η) of targets y of mean μ = g⁻¹(η), a link g, and variance φ V(μ), a dispersion φ.

    The logarithm of an exposure, by which a mean is multiplied, is an offset of η.

    Attributes
    ----------
    link : str
        The link g.
    unit_dispersion : bool
        Whether φ is 1, so that no scale is estimated.
    """

    self_concordant = True
    link: str = "log"
    unit_dispersion: bool = True

    @abstractmethod
    def mean(self, eta: Array) -> Array:
        """Return μ."""

    @abstractmethod
    def variance(self, mean: Array) -> Array:
        """Return V(μ), by which the variance depends on the mean."""

    @abstractmethod
    def deviance(self, y: np.ndarray, mean: np.ndarray) -> np.ndarray:
        """Return twice the log-likelihood that μ = y has more than μ, at a dispersion of one."""

    @abstractmethod
    def saturated(self, y: np.ndarray) -> np.ndarray:
        """Return the log density at μ = y and a dispersion of one, without what is the same for all rows."""


class CountLoss(FamilyLoss):
    """Of counts, whose mean is exp(η)."""

    def mean(self, eta: Array) -> Array:
        """Return μ."""
        xp = namespace_of(eta)
        if (
            eta.shape[0] and not float(xp.max(eta)) <= MOST_LOG_MEAN
        ):  # a clip takes as long as the exponential
            eta = xp.clip(eta, None, MOST_LOG_MEAN)
        return xp.exp(eta)

    def margins(self, eta: Array, y: Array) -> Array:
        """Return -η of counts of zero, whose mean may go to zero, and -|η| of others."""
        xp = namespace_of(eta)
        return xp.where(y > 0.0, -xp.abs(eta), -eta)[:, None]


def log_factorial(y: Array) -> Array:
    """Return log y!."""
    return gammaln(y + 1.0)


def y_log_ratio(y: Array, mean: Array) -> Array:
    """Return y log(y/μ), 0 at y = 0."""
    return xlogy(y, y / namespace_of(y).where(y > 0.0, mean, 1.0 + 0.0 * mean))


def of_counts(function: Callable[[Array], Array], y: Array) -> Array:
    """Return a function of each y; of whole numbers by a table of those up to the largest."""
    if not is_numpy_array(y):
        return function(y)
    top = float(np.max(y, initial=0.0))
    if top >= min(len(y), MOST_COUNTED) or not np.all(y == np.floor(y)):
        return function(y)
    return function(np.arange(top + 1.0))[y.astype(np.int64)]
