"""Gaussian mixtures by variational Bayes."""

from tractable.mixture.bayesian_gaussian.estimator import BayesianGaussianMixture
from tractable.mixture.bayesian_gaussian.model import BayesianUnits, MixturePosterior
from tractable.mixture.bayesian_gaussian.steps import GaussianBeliefs, MixturePrior

__all__ = ["BayesianGaussianMixture", "BayesianUnits", "GaussianBeliefs", "MixturePosterior", "MixturePrior"]
