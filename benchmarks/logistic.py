"""What the rows of logistic regression share: data, contenders, and the objective they lower."""

import warnings
from types import SimpleNamespace

import numpy as np
from scipy.special import logsumexp
from sklearn import linear_model

import tractable
from benchmarks.row import Row


def problem(size, folder):  # noqa: ARG001  (no files)
    """Classes by planes and Gumbel noise; columns of sizes from 1 down to 1/condition."""
    n_rows, n_columns, n_classes, condition = size
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n_rows, n_columns))
    scores = 0.5 * X @ rng.standard_normal((n_columns, n_classes))
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    turn = np.linalg.qr(rng.standard_normal((n_columns, n_columns)))[0]
    return SimpleNamespace(X=X @ (turn * np.geomspace(1.0, 1.0 / condition, n_columns)), y=y)


def ours(data):
    return data, tractable.LogisticRegression().fit(data.X, data.y)


def scikit_learns(solver):
    """Fit by a solver at its own tolerance; all leave more of the objective than ours, which `check` asks."""

    def fit(data):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of steps that ran out: the objective tells
            model = linear_model.LogisticRegression(solver=solver, max_iter=2000)
            return data, model.fit(data.X, data.y)

    return fit


def objective(data, model):
    """Mean log loss and penalty, from the formula."""
    scores = data.X @ model.coef_.T + model.intercept_
    if scores.shape[1] == 1:
        scores = np.column_stack([np.zeros(len(scores)), scores])
    loss = logsumexp(scores, axis=1) - scores[np.arange(len(scores)), data.y]
    return np.mean(loss) + 0.5 * np.sum(model.coef_**2) / len(data.y)


def check(mine, theirs):
    """Ours is no farther from the least objective than the peer; that far, probabilities agree."""
    (data, model), (_, peer) = mine, theirs
    excess = objective(data, peer) - objective(data, model)
    assert excess >= -1e-12
    probabilities = model.predict_proba(data.X) - peer.predict_proba(data.X)
    assert np.sqrt(np.mean(probabilities**2)) <= np.sqrt(2.0 * max(excess, 0.0)) + 1e-6


def note(results):
    """Say how far each contender is from the least objective."""
    data = results["ours"][0]
    best = objective(data, tractable.LogisticRegression(tol=1e-16).fit(data.X, data.y))
    far = (f"{name} {objective(*found) - best:.0e}" for name, found in results.items())
    return "Objective above the least, a row: " + ", ".join(far) + "."


def row(*, name, shows, size, targets, limit, reason=""):
    """Return a row; peers are scikit-learn's solvers, those of `targets`."""
    n_rows, n_columns, n_classes, condition = size
    return Row(
        name=name,
        shows=shows,
        setup=problem,
        size=size,
        dry_size=(n_rows // 200, n_columns // 5, n_classes, condition),
        ours=ours,
        peers={peer: scikit_learns(peer.removeprefix("scikit-learn ")) for peer in targets},
        check=check,
        targets=targets,
        note=note,
        limit=limit,
        reason=reason,
    )
