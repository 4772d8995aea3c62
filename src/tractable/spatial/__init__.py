"""Neighbour indexes: one interface over exact and approximate searches, and the metrics they serve."""

from tractable.spatial.brute import Brute
from tractable.spatial.choose import as_index, choose_index, recall
from tractable.spatial.index import Index, Neighbors, SearchReport, neighbor_graph
from tractable.spatial.kd_tree import KDTree
from tractable.spatial.metrics import (
    Chebyshev,
    Cosine,
    Euclidean,
    FunctionMetric,
    Hamming,
    Haversine,
    Mahalanobis,
    Metric,
    Minkowski,
    NanEuclidean,
    Precomputed,
    minkowski,
)
from tractable.spatial.randomized_forest import RandomizedForest
from tractable.spatial.spill_tree import SpillTree
from tractable.spatial.tsvq_tree import TSVQTree

__all__ = [
    "Brute",
    "Chebyshev",
    "Cosine",
    "Euclidean",
    "FunctionMetric",
    "Hamming",
    "Haversine",
    "Index",
    "KDTree",
    "Mahalanobis",
    "Metric",
    "Minkowski",
    "NanEuclidean",
    "Neighbors",
    "Precomputed",
    "RandomizedForest",
    "SearchReport",
    "SpillTree",
    "TSVQTree",
    "as_index",
    "choose_index",
    "minkowski",
    "neighbor_graph",
    "recall",
]
