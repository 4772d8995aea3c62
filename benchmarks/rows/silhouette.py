"""Silhouettes of all rows: every pair's distance, and no matrix of them."""

from types import SimpleNamespace

import numpy as np
from sklearn import metrics

import tractable
from benchmarks.row import Row, at_least


def setup(size, folder):  # noqa: ARG001  (no files)
    n_rows, dim, n_clusters = size
    rng = np.random.default_rng(0)
    labels = rng.integers(n_clusters, size=n_rows)
    centers = 3.0 * rng.standard_normal((n_clusters, dim))
    return SimpleNamespace(X=centers[labels] + rng.standard_normal((n_rows, dim)), labels=labels)


def ours(data):
    return tractable.silhouette_samples(data.X, data.labels)


def scikit_learns(data):
    return metrics.silhouette_samples(data.X, data.labels)


def check(mine, theirs):
    """Absolute 1e-9: theirs are |x|² + |y|² - 2 x·y, and lose digits."""
    np.testing.assert_allclose(mine, theirs, rtol=0.0, atol=1e-9)


ROW = Row(
    name="silhouette",
    shows="Silhouettes of 10,000 × 16 rows in 10 clusters.",
    setup=setup,
    size=(10_000, 16, 10),
    dry_size=(200, 3, 4),
    ours=ours,
    peers={"scikit-learn": scikit_learns},
    check=check,
    targets={"scikit-learn": at_least(4.0)},
    limit="a subtraction, a square and a sum for each of 16 coordinates, and a root, for every pair of rows.",
    memory_limit_mb=16.0,
)
