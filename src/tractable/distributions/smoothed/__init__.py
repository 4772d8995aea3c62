"""Kernel density estimates as distributions: a window on every point of a sample."""

from tractable.distributions.smoothed.empirical import SmoothedEmpirical

__all__ = ["SmoothedEmpirical"]
