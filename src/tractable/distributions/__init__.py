"""Distributions: immutable, batched, closed under what makes them useful."""

from tractable.distributions.distribution import Distribution
from tractable.distributions.expectation import Estimate, expectation
from tractable.distributions.grid import GridPosterior, grid_posterior
from tractable.distributions.mixture import Mixture
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.negative_binomial import NegativeBinomial
from tractable.distributions.normal import Normal
from tractable.distributions.product import Product
from tractable.distributions.quadratic import condition_precision, gaussian_from_quadratic
from tractable.distributions.univariate import Univariate
from tractable.distributions.univariate_mixture import UnivariateMixture

__all__ = [
    "Distribution",
    "Estimate",
    "GridPosterior",
    "Mixture",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "Product",
    "Univariate",
    "UnivariateMixture",
    "condition_precision",
    "expectation",
    "gaussian_from_quadratic",
    "grid_posterior",
]
