"""Finite mixtures of distributions, and the local maxima of their densities."""

from tractable.distributions.mixture.mixture import Mixture, UnivariateMixture

__all__ = ["Mixture", "UnivariateMixture"]
