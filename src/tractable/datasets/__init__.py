"""Small real tables, with source and licence, and simulated ones."""

from tractable.datasets.growing_up import AGES, HEIGHTS, VOCABULARIES, make_height_vocabulary_age
from tractable.datasets.table import Table, load, names

__all__ = ["AGES", "HEIGHTS", "VOCABULARIES", "Table", "load", "make_height_vocabulary_age", "names"]
