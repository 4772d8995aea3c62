"""Linear dimension reduction, with a likelihood: principal components, factors, kernels."""

from tractable.decomposition.kernel_pca import KernelPCA
from tractable.decomposition.pca import PCA
from tractable.decomposition.probabilistic import FactorAnalysis, FactorParameters, ProbabilisticPCA
from tractable.decomposition.spectrum import IntrinsicDimension, intrinsic_dimension

__all__ = [
    "PCA",
    "FactorAnalysis",
    "FactorParameters",
    "IntrinsicDimension",
    "KernelPCA",
    "ProbabilisticPCA",
    "intrinsic_dimension",
]
