"""t-SNE of ten thousand rows."""

from benchmarks.maps import tsne_row
from benchmarks.row import at_least

ROW = tsne_row(
    "tsne_10k",
    "t-SNE of 10,000 × 30 rows, defaults, KL at most 2 % above the peers'.",
    (10_000, 30),
    {"openTSNE": at_least(6.0), "scikit-learn": at_least(6.0)},
)
