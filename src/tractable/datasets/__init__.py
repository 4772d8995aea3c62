"""Small real tables, with source and licence, and made-up ones that show what they are made for."""

from tractable.datasets.growing_up import make_height_vocabulary_age
from tractable.datasets.shelf import load, names
from tractable.datasets.table import Table

__all__ = ["Table", "load", "make_height_vocabulary_age", "names"]
