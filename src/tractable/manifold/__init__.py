"""Maps of data in few dimensions that keep distances, geodesic distances or neighbours."""

from tractable.manifold.classical_mds import ClassicalMDS
from tractable.manifold.metric_mds import MetricMDS

__all__ = ["ClassicalMDS", "MetricMDS"]
