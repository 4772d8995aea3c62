"""Mixtures of linear regressions, with constant mixing weights or a softmax gate."""

from tractable.mixture.regression.estimator import (
    MixtureOfExperts,
    MixtureOfRegressors,
    NoiseCollapsedWarning,
)
from tractable.mixture.regression.model import RegressionMixture
from tractable.mixture.regression.steps import ExpectedPlanes, RegressionUnits

__all__ = [
    "ExpectedPlanes",
    "MixtureOfExperts",
    "MixtureOfRegressors",
    "NoiseCollapsedWarning",
    "RegressionMixture",
    "RegressionUnits",
]
