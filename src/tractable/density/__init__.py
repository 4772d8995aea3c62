"""Estimators of p(x)."""

from tractable.density.bin_search import BinSearch
from tractable.density.gaussian import DegenerateCovarianceWarning, GaussianDensity
from tractable.density.histogram import Histogram

__all__ = ["BinSearch", "DegenerateCovarianceWarning", "GaussianDensity", "Histogram"]
