"""Distributions: immutable, batched, closed under what makes them useful."""

from tractable.distributions.codings import LabelCoding, from_one_hot, one_hot
from tractable.distributions.compare_likelihood import LikelihoodComparison, compare_likelihood
from tractable.distributions.dirichlet import Beta, Dirichlet
from tractable.distributions.discrete.binomial import Bernoulli, Binomial
from tractable.distributions.discrete.categorical import Categorical, Multinomial
from tractable.distributions.discrete.counting import Counting, CountVectors
from tractable.distributions.discrete.dirichlet_multinomial import BetaBinomial, DirichletMultinomial
from tractable.distributions.discrete.poisson import Geometric, NegativeBinomial, Poisson
from tractable.distributions.distribution import Distribution, Univariate
from tractable.distributions.empirical import Empirical
from tractable.distributions.estimation.bootstrap import Bootstrap, bootstrap
from tractable.distributions.estimation.information import (
    cramer_rao_bound,
    fisher_information,
    score_function,
)
from tractable.distributions.estimation.maximum_likelihood import LikelihoodEstimate, map_estimate, mle
from tractable.distributions.estimation.report import EstimatorReport, estimator_report
from tractable.distributions.expectation import Estimate, expectation, probability_greater
from tractable.distributions.gamma import Gamma, InverseGamma
from tractable.distributions.grid import GridPosterior, grid_posterior
from tractable.distributions.histogram import HistogramDensity
from tractable.distributions.independent_columns import IndependentColumns
from tractable.distributions.laplace import Laplace, MultivariateLaplace
from tractable.distributions.latent_tree import LatentTree
from tractable.distributions.mean_precision import MeanPrecision, NormalGamma, NormalWishart
from tractable.distributions.mixture import Mixture
from tractable.distributions.normal import (
    MultivariateNormal,
    Normal,
    condition_precision,
    gaussian_from_quadratic,
)
from tractable.distributions.positive import Exponential, LogNormal, Pareto, Weibull
from tractable.distributions.product import Product
from tractable.distributions.smoothed.empirical import SmoothedEmpirical
from tractable.distributions.stacked import Stacked
from tractable.distributions.student_t import MultivariateStudentT, StudentT
from tractable.distributions.table.bayes import bayes_rule
from tractable.distributions.table.event import Event
from tractable.distributions.table.factor import Factor
from tractable.distributions.table.table import ProbabilityTable
from tractable.distributions.uniform import Uniform
from tractable.distributions.von_mises import VonMises
from tractable.distributions.wishart import InverseWishart, Wishart

__all__ = [
    "Bernoulli",
    "Beta",
    "BetaBinomial",
    "Binomial",
    "Bootstrap",
    "Categorical",
    "CountVectors",
    "Counting",
    "Dirichlet",
    "DirichletMultinomial",
    "Distribution",
    "Empirical",
    "Estimate",
    "EstimatorReport",
    "Event",
    "Exponential",
    "Factor",
    "Gamma",
    "Geometric",
    "GridPosterior",
    "HistogramDensity",
    "IndependentColumns",
    "InverseGamma",
    "InverseWishart",
    "LabelCoding",
    "Laplace",
    "LatentTree",
    "LikelihoodComparison",
    "LikelihoodEstimate",
    "LogNormal",
    "MeanPrecision",
    "Mixture",
    "Multinomial",
    "MultivariateLaplace",
    "MultivariateNormal",
    "MultivariateStudentT",
    "NegativeBinomial",
    "Normal",
    "NormalGamma",
    "NormalWishart",
    "Pareto",
    "Poisson",
    "ProbabilityTable",
    "Product",
    "SmoothedEmpirical",
    "Stacked",
    "StudentT",
    "Uniform",
    "Univariate",
    "VonMises",
    "Weibull",
    "Wishart",
    "bayes_rule",
    "bootstrap",
    "compare_likelihood",
    "condition_precision",
    "cramer_rao_bound",
    "estimator_report",
    "expectation",
    "fisher_information",
    "from_one_hot",
    "gaussian_from_quadratic",
    "grid_posterior",
    "map_estimate",
    "mle",
    "one_hot",
    "probability_greater",
    "score_function",
]
