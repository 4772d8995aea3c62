"""Nearest neighbours: search, classification and regression by stored rows."""

from tractable.neighbors.classifier import KNeighborsClassifier
from tractable.neighbors.leave_one_out import NeighborCurve
from tractable.neighbors.nearest_neighbors import NearestNeighbors
from tractable.neighbors.regressor import KNeighborsRegressor, NeighborTargets

__all__ = [
    "KNeighborsClassifier",
    "KNeighborsRegressor",
    "NearestNeighbors",
    "NeighborCurve",
    "NeighborTargets",
]
