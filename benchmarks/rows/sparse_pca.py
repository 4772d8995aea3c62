"""Principal components of sparse rows."""

from types import SimpleNamespace

from sklearn import decomposition

import tractable
from benchmarks.row import Row, at_least
from benchmarks.sparse_rows import DRY_SIZE, LIMIT, SIZE, no_worse, rows

K = 10


def setup(size, folder):  # noqa: ARG001  (no files)
    return SimpleNamespace(X=rows(size)[0])


def fitted(model):
    """Minus the variance that the components explain."""
    return lambda data: 1.0 - float(model.fit(data.X).explained_variance_ratio_.sum())


ROW = Row(
    name="sparse_pca",
    shows="PCA, 10 components, sparse rows, 20,000 × 50,000, 100 entries each.",
    setup=setup,
    size=SIZE,
    dry_size=DRY_SIZE,
    ours=fitted(tractable.PCA(K)),
    peers={
        "scikit-learn arpack": fitted(decomposition.PCA(K, svd_solver="arpack", random_state=0)),
    },
    check=no_worse(1e-9),
    targets={"scikit-learn arpack": at_least(1.0)},
    limit=LIMIT,
)
