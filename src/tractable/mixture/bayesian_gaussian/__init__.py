"""Gaussian mixtures by variational Bayes."""

from tractable.mixture.bayesian_gaussian.estimator import BayesianGaussianMixture
from tractable.mixture.bayesian_gaussian.model import MixturePosterior, MixturePrior, VariationalParameters

__all__ = ["BayesianGaussianMixture", "MixturePosterior", "MixturePrior", "VariationalParameters"]
