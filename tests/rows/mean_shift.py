"""Clusters as hills of a density."""

from rows.row import Row
from tractable.density import MeanShift

ROWS = [
    Row("MeanShift", MeanShift),
    Row("MeanShift-gaussian", lambda: MeanShift(kernel="gaussian")),
    Row("MeanShift-bins", lambda: MeanShift(bin_seeding=True, assign="nearest", bandwidth="silverman")),
    Row(
        "MeanShift-outliers",
        lambda: MeanShift(kernel="gaussian", cluster_all=False, bandwidth="scott", bin_seeding=True),
    ),
    Row("MeanShift-number", lambda: MeanShift(bandwidth=1.0)),
]
