"""Ridge regression with penalty and noise chosen by the evidence."""

from types import SimpleNamespace

import numpy as np
from sklearn import linear_model

import tractable
from benchmarks.row import Row, at_least


def setup(size, folder):  # noqa: ARG001  (no files)
    n_rows, dim = size
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, dim)) @ (np.eye(dim) + 0.2 * rng.standard_normal((dim, dim))) + 1.0
    y = X @ rng.standard_normal(dim) + 3.0 * rng.standard_normal(n_rows)
    # Without an intercept, which ours integrates out.
    return SimpleNamespace(X=(X - X.mean(axis=0)) / X.std(axis=0), y=(y - y.mean()) / y.std())


def fitted(model):
    def fit(data):
        found = model(fit_intercept=False).fit(data.X, data.y)
        return np.array([found.alpha_, found.lambda_, *found.coef_])

    return fit


def check(mine, theirs):
    """One maximum, ours to rounding; scikit-learn's search stops where coefficients change by 1e-3."""
    np.testing.assert_allclose(mine, theirs, rtol=2e-3, atol=1e-4)


ROW = Row(
    name="bayesian_ridge",
    shows="Penalty and noise of 50,000 × 100 rows by evidence: one fold, one small decomposition.",
    setup=setup,
    size=(50_000, 100),
    dry_size=(300, 4),
    ours=fitted(tractable.BayesianRidge),
    peers={"scikit-learn": fitted(linear_model.BayesianRidge)},
    check=check,
    targets={"scikit-learn": at_least(4.0)},
    limit="Householder reflections, 2 n d² operations, in cache.",
)
