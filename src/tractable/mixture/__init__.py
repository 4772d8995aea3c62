"""Mixtures and clusters: rows that come from one of several sources, unseen."""

from tractable.mixture.partitions import BestPartition, bell, best_partition, partitions, stirling2

__all__ = ["BestPartition", "bell", "best_partition", "partitions", "stirling2"]
