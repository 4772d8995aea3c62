"""Makers of approximate neighbour indexes, over three columns."""

from rows.indexes import SPREAD, made
from rows.row import Row
from tractable.spatial import Mahalanobis, RandomizedForest, SpillTree, TSVQTree

WHITENED = Mahalanobis(covariance=SPREAD)

ROWS = [
    Row("spill-tree", made(SpillTree, random_state=0)),
    Row("spill-tree-narrow", made(SpillTree, tau=0.0, leaf_size=16, random_state=1)),
    Row("spill-tree-wide", made(SpillTree, tau=0.15, leaf_size=32, max_copies=50.0, random_state=2)),
    Row("spill-tree-hybrid", made(SpillTree, tau=0.3, leaf_size=8, search="hybrid", random_state=3)),
    Row("spill-tree-mahalanobis", made(SpillTree, metric=WHITENED, leaf_size=32, random_state=4)),
    Row("tsvq-tree", made(TSVQTree, random_state=0)),
    Row("tsvq-tree-fine", made(TSVQTree, leaf_size=16, random_state=1)),
    Row("tsvq-tree-cosine", made(TSVQTree, metric="cosine", leaf_size=32, random_state=2)),
    Row("forest", made(RandomizedForest, random_state=0)),
    Row("forest-fine", made(RandomizedForest, n_trees=6, leaf_size=12, random_state=1)),
    Row("forest-unrepaired", made(RandomizedForest, n_trees=3, leaf_size=24, repair=0, random_state=2)),
    Row("forest-cosine", made(RandomizedForest, metric="cosine", leaf_size=16, random_state=3)),
    Row("forest-mahalanobis", made(RandomizedForest, metric=WHITENED, leaf_size=16, random_state=4)),
]
