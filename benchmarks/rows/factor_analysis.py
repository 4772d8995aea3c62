"""Factor analysis to the same likelihood."""

import numpy as np
from sklearn.decomposition import FactorAnalysis as Peer

import tractable
from benchmarks.decomposition import table
from benchmarks.row import Row, at_least


def setup(size, folder):
    X = table(size, folder)
    return X * np.linspace(0.5, 2.0, X.shape[1])


def ours(X):
    return tractable.FactorAnalysis(5).fit(X).score(X[:5000])


def theirs(method):
    return lambda X: Peer(5, svd_method=method, tol=1e-2, random_state=0).fit(X).score(X[:5000])


def check(mine, other):
    """At least as high a likelihood a row, to 1e-4."""
    assert mine > other - 1e-4, (mine, other)


ROW = Row(
    name="factor_analysis",
    shows="FactorAnalysis(5).fit of 20,000 × 50 rows, to at least the same likelihood.",
    setup=setup,
    size=(20_000, 50, 5),
    dry_size=(300, 8, 5),
    ours=ours,
    peers={"scikit-learn randomized": theirs("randomized"), "scikit-learn lapack": theirs("lapack")},
    check=check,
    targets={"scikit-learn randomized": at_least(2.0)},
    limit="one pass for the covariance, and then a decomposition of d × d for each step of the search.",
)
