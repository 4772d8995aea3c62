"""Mixtures of linear regressions, with constant mixing weights or a softmax gate."""

from tractable.mixture.regression.estimator import (
    MixtureOfExperts,
    MixtureOfRegressors,
    NoiseCollapsedWarning,
)
from tractable.mixture.regression.model import RegressionMixture
from tractable.mixture.regression.steps import ExpectedRegressions

__all__ = [
    "ExpectedRegressions",
    "MixtureOfExperts",
    "MixtureOfRegressors",
    "NoiseCollapsedWarning",
    "RegressionMixture",
]
