"""Generalised linear models of counts and of positive amounts."""

from tractable.linear_model.generalized.estimator import (
    GammaRegression,
    NegativeBinomialRegression,
    OverdispersionTest,
    PoissonRegression,
    SeparableCountsWarning,
)

__all__ = [
    "GammaRegression",
    "NegativeBinomialRegression",
    "OverdispersionTest",
    "PoissonRegression",
    "SeparableCountsWarning",
]
