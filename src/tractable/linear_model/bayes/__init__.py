"""Bayesian linear regression: known priors, and precisions chosen by the evidence."""

from tractable.linear_model.bayes.ard import ARDRegression
from tractable.linear_model.bayes.bayesian_linear_regression import (
    BayesianLinearRegression,
    GaussianPrior,
    LinearPosterior,
)
from tractable.linear_model.bayes.bayesian_ridge import BayesianRidge
from tractable.linear_model.bayes.evidence import hierarchical_predictive, log_evidence

__all__ = [
    "ARDRegression",
    "BayesianLinearRegression",
    "BayesianRidge",
    "GaussianPrior",
    "LinearPosterior",
    "hierarchical_predictive",
    "log_evidence",
]
