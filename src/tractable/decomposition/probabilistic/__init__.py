"""Probabilistic principal component analysis and factor analysis."""

from tractable.decomposition.probabilistic.estimator import FactorAnalysis, ProbabilisticPCA
from tractable.decomposition.probabilistic.steps import FactorParameters

__all__ = ["FactorAnalysis", "FactorParameters", "ProbabilisticPCA"]
