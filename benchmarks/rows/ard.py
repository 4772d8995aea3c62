"""Automatic relevance determination."""

from types import SimpleNamespace

import numpy as np
from sklearn import linear_model

import tractable
from benchmarks.row import Row, at_least


def setup(size, folder):  # noqa: ARG001  (no files)
    n_rows, dim = size
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, dim)) + 1.0
    told = max(dim // 10, 1)
    y = X[:, :told] @ rng.standard_normal(told) + rng.standard_normal(n_rows)
    # Standardised, where both begin and stop alike; without an intercept, which ours integrates out.
    return SimpleNamespace(X=(X - X.mean(axis=0)) / X.std(axis=0), y=(y - y.mean()) / y.std())


def fitted(model):
    def fit(data):
        found = model(fit_intercept=False).fit(data.X, data.y)
        return np.array([found.alpha_, *found.coef_])

    return fit


def check(mine, theirs):
    """The same iterations: relative 1e-6."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-8)


ROW = Row(
    name="ard",
    shows="A precision for each of 500 coefficients, 2,000 rows: iterations see the triangular factor alone.",
    setup=setup,
    size=(2_000, 500),
    dry_size=(100, 8),
    ours=fitted(tractable.ARDRegression),
    peers={"scikit-learn": fitted(linear_model.ARDRegression)},
    check=check,
    targets={"scikit-learn": at_least(3.0)},
    limit="a Cholesky factor and its inverse in every iteration, k³ operations for k columns.",
)
