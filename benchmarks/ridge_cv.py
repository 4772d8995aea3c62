"""The penalty of ridge regression by leave-one-out: the data, the contenders, and what they must agree on."""

from types import SimpleNamespace

import numpy as np
from sklearn.linear_model import RidgeCV

import tractable

ALPHAS = np.logspace(-2, 4, 50)


def setup(size, folder):  # noqa: ARG001  (no files)
    n_rows, n_columns = size
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns)) + 1.0
    told = min(20, n_columns)
    y = X[:, :told] @ rng.standard_normal(told) + 3.0 * rng.standard_normal(n_rows)
    return SimpleNamespace(X=X, y=y)


def ours(data):
    return tractable.RidgeCV(ALPHAS).fit(data.X, data.y)


def scikit_learns(data):
    return RidgeCV(ALPHAS).fit(data.X, data.y)


def check(mine, theirs):
    """The same penalty, its error to 1e-9, the coefficients to 1e-7."""
    assert mine.alpha_ == theirs.alpha_
    np.testing.assert_allclose(mine.best_score_, theirs.best_score_, rtol=1e-9)
    np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=1e-7, atol=1e-7 * np.abs(theirs.coef_).max())
