"""Quantile regression of many rows."""

from types import SimpleNamespace

import numpy as np
import statsmodels.api as sm
from sklearn.linear_model import QuantileRegressor

import tractable
from benchmarks.row import Row, at_least

LEVEL = 0.9


def problem(size, folder):  # noqa: ARG001  (no files)
    """A plane in heavy-tailed noise whose spread changes with the first column."""
    n_rows, n_columns = size
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    noise = (1.0 + 0.5 * np.abs(X[:, 0])) * rng.standard_t(3.0, n_rows)
    return SimpleNamespace(X=X, y=X @ rng.standard_normal(n_columns) + noise)


def loss(data, intercept, coef):
    """The mean pinball loss of a plane."""
    r = data.y - intercept - data.X @ coef
    return float(np.mean(np.where(r >= 0.0, LEVEL * r, (LEVEL - 1.0) * r)))


def ours(data):
    found = tractable.QuantileRegression(LEVEL).fit(data.X, data.y)
    return loss(data, found.intercept_, found.coef_)


def scikit_learns(data):
    found = QuantileRegressor(quantile=LEVEL, alpha=0.0, solver="highs").fit(data.X, data.y)
    return loss(data, found.intercept_, found.coef_)


def statsmodels(data):
    found = sm.QuantReg(data.y, sm.add_constant(data.X)).fit(q=LEVEL, max_iter=2000).params
    return loss(data, found[0], found[1:])


def check(mine, theirs):
    """No loss is smaller than ours, and none larger by more than the tolerance of statsmodels."""
    assert theirs * (1.0 - 1e-10) <= mine * (1.0 + 1e-6), f"{theirs} beside {mine}"
    assert mine <= theirs * (1.0 + 1e-10), f"{mine} is above {theirs}"


ROW = Row(
    name="quantile_regression",
    shows="QuantileRegression(0.9).fit of 10,000 × 10, standard errors included (scikit-learn has none).",
    setup=problem,
    size=(10_000, 10),
    dry_size=(200, 3),
    ours=ours,
    peers={"scikit-learn": scikit_learns, "statsmodels": statsmodels},
    check=check,
    targets={"scikit-learn": at_least(10), "statsmodels": at_least(2)},
    limit="least squares of smoothed losses, and then the vertices on the way to the best one.",
)
