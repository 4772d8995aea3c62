"""Mean and scatter of an array in memory."""

import numpy as np

import tractable
from benchmarks.row import Row, at_least, within


def setup(size, folder):  # noqa: ARG001  (no files)
    return np.random.default_rng(0).standard_normal(size) + 1.0


def ours(X):
    moments = tractable.fold(tractable.Moments.of, X)
    return {"cov": moments.covariance(ddof=1), "gram": moments.scatter_about(np.zeros(X.shape[1]))}


def check(mine, theirs):
    """Relative to the largest entry, 1e-11."""
    (kind,) = theirs
    atol = 1e-11 * np.abs(theirs[kind]).max()
    np.testing.assert_allclose(mine[kind], theirs[kind], rtol=0, atol=atol)


ROW = Row(
    name="fold_moments",
    shows="Mean and scatter of 2,000,000 × 32 in one stable pass.",
    setup=setup,
    size=(2_000_000, 32),
    dry_size=(1_000, 4),
    ours=ours,
    peers={
        "np.cov": lambda X: {"cov": np.cov(X, rowvar=False)},
        "X.T @ X": lambda X: {"gram": X.T @ X},
    },
    check=check,
    targets={"np.cov": at_least(2.0), "X.T @ X": within(2.0)},
    limit="reading the array once from memory, and BLAS's symmetric product.",
)
