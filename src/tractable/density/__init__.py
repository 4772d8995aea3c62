"""Estimators of p(x)."""

from tractable.base import DegenerateCovarianceWarning
from tractable.density.adaptive_kernel_density import AdaptiveKernelDensity
from tractable.density.bin_search import BinSearch
from tractable.density.gaussian import GaussianDensity
from tractable.density.histogram import Histogram
from tractable.density.kernel_density import KernelDensity
from tractable.density.mean_shift import MeanShift
from tractable.density.nearest_neighbor_density import InfiniteDensityWarning, NearestNeighborDensity
from tractable.density.places import Places
from tractable.density.windowed_rows import WindowedRows

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
    "Places",
    "WindowedRows",
]
