"""Clusters about centres."""

from rows.row import Row
from tractable.mixture import KMeans

SHUFFLED = "the check shuffles the rows, and batches are drawn by their position"
BATCHES = {f"check_sample_weight_equivalence_on_{kind}_data": SHUFFLED for kind in ("dense", "sparse")}
AMONG_ALL = {
    "sparse_rows_are_the_dense_rows": "seeds of sparse rows are chosen among all of them, by k-means++",
}
ROWS = [
    Row("KMeans", lambda: KMeans(3, random_state=0)),
    Row("KMeans-random", lambda: KMeans(2, init="random", random_state=1)),
    Row("KMeans-parallel", lambda: KMeans(3, init="k-means||", random_state=0), exempt=AMONG_ALL),
    Row("KMeans-one", lambda: KMeans(1)),
    Row("KMeans-lloyd", lambda: KMeans(4, algorithm="lloyd", n_init=2, random_state=2)),
    Row(
        "KMeans-batches",
        lambda: KMeans(2, batch_size=20, random_state=3),
        exempt=BATCHES,
    ),
]
