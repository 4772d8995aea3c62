"""Kernel principal components of thousands of rows."""

import numpy as np
from sklearn.decomposition import KernelPCA as Peer

import tractable
from benchmarks.row import Row, at_least
from tractable.kernels import RBF


def setup(size, folder):  # noqa: ARG001  (no files)
    return np.random.default_rng(0).standard_normal(size)


def ours(X):
    return tractable.KernelPCA(10, kernel=RBF(3.0)).fit(X).eigenvalues_


def theirs(solver):
    return lambda X: (
        Peer(10, kernel="rbf", gamma=1 / 18, eigen_solver=solver, random_state=0).fit(X).eigenvalues_
    )


def check(mine, other):
    """Relative 1e-6: the randomised solver is approximate."""
    np.testing.assert_allclose(mine, other, rtol=1e-6)


ROW = Row(
    name="kernel_pca",
    shows="KernelPCA(10).fit of 4,000 × 10 rows with the squared exponential kernel.",
    setup=setup,
    size=(4_000, 10),
    dry_size=(120, 3),
    ours=ours,
    peers={"scikit-learn arpack": theirs("arpack"), "scikit-learn randomized": theirs("randomized")},
    check=check,
    targets={"scikit-learn arpack": at_least(1.5), "scikit-learn randomized": at_least(1.5)},
    limit="an exponential for every pair of rows, and some tens of passes over half of the matrix.",
)
