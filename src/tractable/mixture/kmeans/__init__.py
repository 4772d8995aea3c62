"""K-means clustering."""

from tractable.mixture.kmeans.estimator import KMeans

__all__ = ["KMeans"]
