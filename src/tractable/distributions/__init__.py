"""Distributions: immutable, batched, closed under what makes them useful."""

from tractable.distributions.distribution import Distribution
from tractable.distributions.multivariate_normal import MultivariateNormal

__all__ = ["Distribution", "MultivariateNormal"]
