"""Kernel density estimates as distributions: a window on every point of a sample."""

from tractable.distributions.smoothed.smoothed import SmoothedEmpirical, UnivariateSmoothedEmpirical

__all__ = ["SmoothedEmpirical", "UnivariateSmoothedEmpirical"]
