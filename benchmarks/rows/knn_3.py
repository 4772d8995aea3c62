"""Exact neighbours in 3 dimensions."""

from benchmarks.neighbours import memory_limit, row
from benchmarks.row import no_slower

ROW = row(
    name="knn_3",
    shows="The 10 nearest of 100,000 points for 10,000 rows, D = 3.",
    dim=3,
    peers=("SciPy cKDTree", "scikit-learn kd_tree"),
    targets={"SciPy cKDTree": no_slower()},
    limit="some thirty nodes opened for each row, and the points of their leaves measured.",
    memory_limit_mb=memory_limit(3),
)
