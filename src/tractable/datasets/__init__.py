"""Small real tables, with source and licence, and simulated ones."""

from tractable.datasets.dataset import Dataset, load, names
from tractable.datasets.growing_up import AGES, HEIGHTS, VOCABULARIES, make_height_vocabulary_age

__all__ = ["AGES", "HEIGHTS", "VOCABULARIES", "Dataset", "load", "make_height_vocabulary_age", "names"]
