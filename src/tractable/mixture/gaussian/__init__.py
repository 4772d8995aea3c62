"""Gaussian mixtures, fitted by expectation-maximisation."""

from tractable.mixture.gaussian.estimator import CollapsedComponentWarning, GaussianMixture
from tractable.mixture.gaussian.model import GaussianParameters, GaussianSums

__all__ = ["CollapsedComponentWarning", "GaussianMixture", "GaussianParameters", "GaussianSums"]
