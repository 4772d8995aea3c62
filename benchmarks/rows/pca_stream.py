"""Principal components of a stream, in flat memory."""

import numpy as np
from sklearn.decomposition import IncrementalPCA

import tractable
from benchmarks.row import Row, at_least

BATCH = 50_000


class Batches:
    """Batches of random rows, made when they are asked for."""

    def __init__(self, n_rows, n_columns):
        self.n_rows, self.scale = n_rows, 0.9 ** np.arange(n_columns)
        self.block = np.random.default_rng(0).standard_normal((min(BATCH, n_rows), n_columns)) * self.scale

    def __iter__(self):
        for start in range(0, self.n_rows, len(self.block)):
            yield self.block + 1e-3 * (start // len(self.block) % 7)


def setup(size, folder):  # noqa: ARG001  (no files)
    return Batches(*size)


def ours(batches):
    return tractable.PCA(5).fit(batches).explained_variance_ratio_


def incremental(batches):
    model = IncrementalPCA(5)
    for batch in batches:
        model.partial_fit(batch)
    return model.explained_variance_ratio_


def check(mine, theirs):
    """Incremental SVD is approximate: relative 1e-3."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-3)


ROW = Row(
    name="pca_stream",
    shows="PCA(5).fit of a stream of 5,000,000 × 50 rows in flat memory: exact, by the fold of moments.",
    setup=setup,
    size=(5_000_000, 50),
    dry_size=(2_000, 6),
    ours=ours,
    peers={"scikit-learn IncrementalPCA": incremental},
    check=check,
    targets={"scikit-learn IncrementalPCA": at_least(1.0)},
    memory_limit_mb=400,
    limit="d²/2 multiplications a row for the scatter.",
)
