"""Distributions: immutable, batched, closed under what makes them useful."""

from tractable.distributions.distribution import Distribution
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.normal import Normal
from tractable.distributions.quadratic import condition_precision, gaussian_from_quadratic
from tractable.distributions.univariate import Univariate

__all__ = [
    "Distribution",
    "MultivariateNormal",
    "Normal",
    "Univariate",
    "condition_precision",
    "gaussian_from_quadratic",
]
