"""Kernel density estimation in two dimensions, where a tree leaves most rows out."""

from benchmarks.row import Row
from benchmarks.rows import kde_5d

ROW = Row(
    name="kde_2d",
    shows="Density of 2,000 rows of 2 columns under a Gaussian window on 50,000, h = 0.05, the fit included.",
    setup=kde_5d.setup_narrow,
    size=(50_000, 2_000, 2),
    dry_size=(200, 50, 2),
    ours=kde_5d.ours,
    peers={"scipy": kde_5d.scipys, "scikit-learn": kde_5d.sklearns},
    check=kde_5d.check,
    limit="squared distances and exponentials of the rows within eight bandwidths.",
)
