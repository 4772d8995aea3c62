"""Logistic regression: maximum likelihood, penalties, standard errors, separable classes."""

from tractable.classification.logistic.cross_validation import LogisticRegressionCV
from tractable.classification.logistic.estimator import LogisticRegression
from tractable.classification.logistic.inference import CoefficientCurvature, SeparableClassesWarning

__all__ = ["CoefficientCurvature", "LogisticRegression", "LogisticRegressionCV", "SeparableClassesWarning"]
