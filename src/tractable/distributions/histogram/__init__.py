"""Histograms as distributions: a constant density in each of disjoint bins."""

from tractable.distributions.histogram.histogram import HistogramDensity, UnivariateHistogram

__all__ = ["HistogramDensity", "UnivariateHistogram"]
