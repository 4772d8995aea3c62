"""Kernel density whose windows have the covariance of the neighbours about them."""

from tractable.density.adaptive_kernel_density.estimator import AdaptiveKernelDensity
from tractable.density.adaptive_kernel_density.windows import UniqueRows

__all__ = ["AdaptiveKernelDensity", "UniqueRows"]
