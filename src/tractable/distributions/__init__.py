"""Distributions: immutable, batched, closed under what makes them useful."""

from tractable.distributions.distribution import Distribution
from tractable.distributions.grid import GridPosterior, grid_posterior
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.normal import Normal
from tractable.distributions.quadratic import condition_precision, gaussian_from_quadratic
from tractable.distributions.univariate import Univariate

__all__ = [
    "Distribution",
    "GridPosterior",
    "MultivariateNormal",
    "Normal",
    "Univariate",
    "condition_precision",
    "gaussian_from_quadratic",
    "grid_posterior",
]
