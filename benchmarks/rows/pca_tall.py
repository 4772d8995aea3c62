"""Principal components of many rows."""

from sklearn import decomposition

import tractable
from benchmarks.decomposition import check_subspace, subspace, table
from benchmarks.row import Row, no_slower


def ours(X):
    return subspace(tractable.PCA(10).fit(X))


ROW = Row(
    name="pca_tall",
    shows="PCA(10).fit of 100,000 × 100 rows, the same subspace to 1e-10.",
    setup=table,
    size=(100_000, 100, 15),
    dry_size=(400, 12, 11),
    ours=ours,
    peers={
        "scikit-learn covariance_eigh": lambda X: subspace(
            decomposition.PCA(10, svd_solver="covariance_eigh").fit(X)
        ),
        "scikit-learn auto": lambda X: subspace(decomposition.PCA(10).fit(X)),
    },
    check=check_subspace,
    targets={"scikit-learn covariance_eigh": no_slower()},
    limit="d²/2 multiplications a row for the scatter, in one pass over the rows.",
)
