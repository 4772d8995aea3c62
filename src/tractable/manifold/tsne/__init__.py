"""t-distributed stochastic neighbour embedding."""

from tractable.manifold.tsne.estimator import TSNE

__all__ = ["TSNE"]
