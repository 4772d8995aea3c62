"""Linear regression in noise with heavy tails."""

from tractable.linear_model.robust.estimator import RobustRegression
from tractable.linear_model.robust.m_estimates import RobustLoss
from tractable.linear_model.robust.noise import GaussianNoise, LaplaceNoise, StudentNoise
from tractable.linear_model.robust.posterior import RobustPosterior
from tractable.linear_model.robust.quantile import QuantileRegression
from tractable.linear_model.robust.steps import RobustParameters

__all__ = [
    "GaussianNoise",
    "LaplaceNoise",
    "QuantileRegression",
    "RobustLoss",
    "RobustParameters",
    "RobustPosterior",
    "RobustRegression",
    "StudentNoise",
]
