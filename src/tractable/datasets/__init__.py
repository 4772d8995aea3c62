"""Small real tables, with source and licence."""

from tractable.datasets.shelf import load, names
from tractable.datasets.table import Table

__all__ = ["Table", "load", "names"]
