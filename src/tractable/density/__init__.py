"""Estimators of p(x)."""

from tractable.base import DegenerateCovarianceWarning
from tractable.density.adaptive_kernel_density import AdaptiveKernelDensity, UniqueRows
from tractable.density.bin_rules import BinSearch
from tractable.density.gaussian import GaussianDensity
from tractable.density.histogram import Histogram
from tractable.density.kernel_density import KernelDensity, WindowedRows
from tractable.density.mean_shift import MeanShift
from tractable.density.nearest_neighbor_density import InfiniteDensityWarning, NearestNeighborDensity

__all__ = [
    "AdaptiveKernelDensity",
    "BinSearch",
    "DegenerateCovarianceWarning",
    "GaussianDensity",
    "Histogram",
    "InfiniteDensityWarning",
    "KernelDensity",
    "MeanShift",
    "NearestNeighborDensity",
    "UniqueRows",
    "WindowedRows",
]
