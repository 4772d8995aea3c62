"""Models that are their rows: nearest neighbours, and what they say of classes and targets."""

from tractable.neighbors.classifier import KNeighborsClassifier
from tractable.neighbors.loo import NeighborCurve
from tractable.neighbors.nearest_neighbors import NearestNeighbors
from tractable.neighbors.neighbor_targets import NeighborTargets
from tractable.neighbors.regressor import KNeighborsRegressor

__all__ = [
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "NearestNeighbors",
    "NeighborCurve",
    "NeighborTargets",
]
