"""Estimators of p(x)."""

from tractable.density.gaussian import DegenerateCovarianceWarning, GaussianDensity

__all__ = ["DegenerateCovarianceWarning", "GaussianDensity"]
