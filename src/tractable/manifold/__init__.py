"""Maps of data in few dimensions that keep distances, geodesic distances or neighbours."""

from tractable.manifold.classical_mds import ClassicalMDS
from tractable.manifold.isomap import Isomap
from tractable.manifold.metric_mds import MetricMDS
from tractable.manifold.tsne import TSNE

__all__ = ["TSNE", "ClassicalMDS", "Isomap", "MetricMDS"]
