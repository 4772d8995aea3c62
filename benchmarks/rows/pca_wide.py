"""Principal components of few rows of many columns."""

import numpy as np
from sklearn import decomposition

import tractable
from benchmarks.decomposition import subspace, table
from benchmarks.row import Row, at_least


def ours(X):
    return subspace(tractable.PCA(10).fit(X))


def check(mine, theirs):
    """The sines of the angles between both are below 1e-3: the randomised solver is approximate."""
    left = theirs - theirs @ mine.T @ mine
    assert np.max(np.abs(left)) < 1e-3, np.max(np.abs(left))


ROW = Row(
    name="pca_wide",
    shows="PCA(10).fit of 500 × 20,000 rows, exact, by the Gram matrix of the rows.",
    setup=table,
    size=(500, 20_000, 15),
    dry_size=(30, 90, 11),
    ours=ours,
    peers={
        "scikit-learn full": lambda X: subspace(decomposition.PCA(10, svd_solver="full").fit(X)),
        "scikit-learn randomized": lambda X: subspace(
            decomposition.PCA(10, svd_solver="randomized", random_state=0).fit(X)
        ),
    },
    check=check,
    targets={"scikit-learn full": at_least(3.0), "scikit-learn randomized": at_least(1.3)},
    limit="n² d / 2 multiplications for the Gram matrix, after one pass that centres the rows.",
)
