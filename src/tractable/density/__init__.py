"""Estimators of p(x)."""

from tractable.base import DegenerateCovarianceWarning
from tractable.density.adaptive_kernel_density import AdaptiveKernelDensity, UniqueRows
from tractable.density.bin_rules import BinSearch
from tractable.density.gaussian import GaussianDensity
from tractable.density.histogram import Histogram
from tractable.density.kernel_density import KernelDensity, WindowedRows
from tractable.density.latent_tree import LatentTreeDensity
from tractable.density.latent_tree.cells import CategoryCells, NumberCells
from tractable.density.latent_tree.model import CellEncoding, TreeParameters
from tractable.density.latent_tree.steps import TreeSums
from tractable.density.mean_shift import MeanShift
from tractable.density.nearest_neighbor_density import InfiniteDensityWarning, NearestNeighborDensity

__all__ = [
    "AdaptiveKernelDensity",
    "BinSearch",
    "CategoryCells",
    "CellEncoding",
    "DegenerateCovarianceWarning",
    "GaussianDensity",
    "Histogram",
    "InfiniteDensityWarning",
    "KernelDensity",
    "LatentTreeDensity",
    "MeanShift",
    "NearestNeighborDensity",
    "NumberCells",
    "TreeParameters",
    "TreeSums",
    "UniqueRows",
    "WindowedRows",
]
