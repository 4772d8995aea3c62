"""Gaussian mixtures, fitted by expectation-maximisation."""

from tractable.mixture.gaussian.estimator import GaussianMixture
from tractable.mixture.gaussian.model import GaussianParameters, GaussianSums

__all__ = ["GaussianMixture", "GaussianParameters", "GaussianSums"]
