"""Penalty and share of the elastic net by cross-validation, on a small table."""

from types import SimpleNamespace

import numpy as np
from sklearn import linear_model
from sklearn.datasets import load_diabetes

import tractable
from benchmarks.row import Row, no_slower


def problem(size, folder):  # noqa: ARG001  (no files)
    X, y = load_diabetes(return_X_y=True)
    (n_shares,) = size
    return SimpleNamespace(X=X, y=y, shares=list(np.linspace(0.1, 1.0, n_shares)))


def fitted(model):
    def fit(data):
        found = model(l1_ratio=data.shares, cv=5).fit(data.X, data.y)
        return {"alpha": found.alpha_, "share": found.l1_ratio_}

    return fit


def check(mine, theirs):
    """The same penalty and share are chosen."""
    assert mine["share"] == theirs["share"], f"{mine} beside {theirs}"
    np.testing.assert_allclose(mine["alpha"], theirs["alpha"], rtol=1e-10)


ROW = Row(
    name="elastic_net_cv",
    shows="ElasticNetCV of 7 shares × 100 penalties in 5 folds, 442 × 10.",
    setup=problem,
    size=(7,),
    dry_size=(2,),
    ours=fitted(tractable.ElasticNetCV),
    peers={"scikit-learn": fitted(linear_model.ElasticNetCV)},
    check=check,
    targets={"scikit-learn": no_slower()},
    limit="calls for each of 3,500 small fits and their duality gaps; the arithmetic is a tenth.",
)
