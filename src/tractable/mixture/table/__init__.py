"""Mixtures over the columns of a table: numbers, categories, counts and truth values."""

from tractable.mixture.table.estimator import TableMixture

__all__ = ["TableMixture"]
