"""Bayesian logistic regression: a Gaussian prior, and the Laplace approximation of the posterior."""

from tractable.classification.bayesian_logistic.estimator import BayesianLogisticRegression

__all__ = ["BayesianLogisticRegression"]
