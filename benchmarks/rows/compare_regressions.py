"""Six quick regressions side by side, beside the fits that it takes."""

from types import SimpleNamespace

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import KFold

import tractable
from benchmarks.row import Row, within
from benchmarks.rows.compare import FOLDS, check


def setup(size, folder):  # noqa: ARG001  (no files)
    n, d = size
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, d))
    return SimpleNamespace(X=X, y=X @ rng.standard_normal(d) + rng.standard_normal(n))


def models():
    return {
        "least squares": tractable.LinearRegression(),
        "ridge": tractable.Ridge(1.0),
        "strong ridge": tractable.Ridge(100.0),
        "ridge by leave-one-out": tractable.RidgeCV(),
        "Bayesian ridge": tractable.BayesianRidge(),
        "ARD": tractable.ARDRegression(),
    }


def ours(data):
    found = tractable.compare(models(), data.X, data.y, cv=FOLDS)
    return float(dict(zip(found.names, found.means, strict=True))["least squares"])


def fits(data):
    """The fits alone, of every model to every training part and to all rows, and one score to compare."""
    folds = list(KFold(FOLDS, shuffle=True, random_state=0).split(data.X))
    score = 0.0
    for name, model in models().items():
        for train, test in folds:
            fitted = clone(model).fit(data.X[train], data.y[train])
            if name == "least squares":
                score += fitted.predict_dist(data.X[test]).log_prob(data.y[test]).sum()
        clone(model).fit(data.X, data.y)
    return score / len(data.X)


ROW = Row(
    name="compare_regressions",
    shows="Six regressions compared by 5 folds of 5,000 × 20 rows, with evidence and AIC, beside their fits.",
    setup=setup,
    size=(5_000, 20),
    dry_size=(300, 3),
    ours=ours,
    peers={"the fits": fits},
    check=check,
    targets={"the fits": within(1.2)},
    limit="thirty-six fits of milliseconds; predictive densities of 30,000 rows left out.",
    reason="Predictive distributions of the rows left out and their densities, by Student's t, are three "
    "tenths of the CPU seconds; the fits beside them take two milliseconds each.",
)
