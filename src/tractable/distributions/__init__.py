"""Distributions: immutable, batched, closed under what makes them useful."""

from tractable.distributions.beta import Beta
from tractable.distributions.compare_likelihood import LikelihoodComparison, compare_likelihood
from tractable.distributions.dirichlet import Dirichlet
from tractable.distributions.distribution import Distribution
from tractable.distributions.expectation import Estimate, expectation
from tractable.distributions.gamma import Gamma
from tractable.distributions.grid import GridPosterior, grid_posterior
from tractable.distributions.inverse_gamma import InverseGamma
from tractable.distributions.inverse_wishart import InverseWishart
from tractable.distributions.laplace import Laplace
from tractable.distributions.mean_precision import MeanPrecision
from tractable.distributions.mixture import Mixture
from tractable.distributions.multivariate_laplace import MultivariateLaplace
from tractable.distributions.multivariate_normal import MultivariateNormal
from tractable.distributions.multivariate_student_t import MultivariateStudentT
from tractable.distributions.negative_binomial import NegativeBinomial
from tractable.distributions.normal import Normal
from tractable.distributions.normal_wishart import NormalWishart
from tractable.distributions.product import Product
from tractable.distributions.quadratic import condition_precision, gaussian_from_quadratic
from tractable.distributions.student_t import StudentT
from tractable.distributions.uniform import Uniform
from tractable.distributions.univariate import Univariate
from tractable.distributions.univariate_mixture import UnivariateMixture
from tractable.distributions.wishart import Wishart

__all__ = [
    "Beta",
    "Dirichlet",
    "Distribution",
    "Estimate",
    "Gamma",
    "GridPosterior",
    "InverseGamma",
    "InverseWishart",
    "Laplace",
    "LikelihoodComparison",
    "MeanPrecision",
    "Mixture",
    "MultivariateLaplace",
    "MultivariateNormal",
    "MultivariateStudentT",
    "NegativeBinomial",
    "Normal",
    "NormalWishart",
    "Product",
    "StudentT",
    "Uniform",
    "Univariate",
    "UnivariateMixture",
    "Wishart",
    "compare_likelihood",
    "condition_precision",
    "expectation",
    "gaussian_from_quadratic",
    "grid_posterior",
]
