"""Least squares with an intercept."""

from types import SimpleNamespace

import numpy as np
from sklearn import linear_model

import tractable
from benchmarks.row import Row, at_least


def setup(size, folder):  # noqa: ARG001  (no files)
    n_rows, dim = size
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, dim)) @ (np.eye(dim) + 0.2 * rng.standard_normal((dim, dim))) + 1.0
    return SimpleNamespace(X=X, y=X @ rng.standard_normal(dim) + rng.standard_normal(n_rows))


def fitted(model):
    def fit(data):
        found = model().fit(data.X, data.y)
        return np.array([found.intercept_, *found.coef_])

    return fit


def check(mine, theirs):
    """Relative 1e-9."""
    np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-11)


ROW = Row(
    name="linear_regression",
    shows="Least squares on 50,000 × 100, with the digits of a QR; errors and rank come with it.",
    setup=setup,
    size=(50_000, 100),
    dry_size=(300, 4),
    ours=fitted(tractable.LinearRegression),
    peers={"scikit-learn": fitted(linear_model.LinearRegression)},
    check=check,
    targets={"scikit-learn": at_least(3.0)},
    limit="Householder reflections, 2 n d² operations, in cache.",
)
