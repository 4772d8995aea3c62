"""t-SNE of twenty thousand rows."""

from benchmarks.maps import tsne_row
from benchmarks.row import at_least

ROW = tsne_row(
    "tsne_20k",
    "t-SNE of 20,000 × 50 rows, defaults, KL at most 2 % above the peers'.",
    (20_000, 50),
    {"openTSNE": at_least(6.0), "scikit-learn": at_least(6.0)},
)
