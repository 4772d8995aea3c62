"""Logistic regression of sparse rows."""

import numpy as np
from sklearn import linear_model

import tractable
from benchmarks.row import Row, at_least
from benchmarks.sparse_rows import DRY_SIZE, LIMIT, SIZE, classes, no_worse

C = 0.1


def fitted(model):
    def run(data):
        log_p = model.fit(data.X, data.y).predict_log_proba(data.X)
        loss = -C * float(np.sum(log_p[np.arange(len(data.y)), data.y]))
        return loss + 0.5 * float(np.sum(model.coef_**2))

    return run


ROW = Row(
    name="sparse_logistic",
    shows="LogisticRegression, two classes, sparse rows, 20,000 × 50,000, 100 entries each.",
    setup=classes,
    size=SIZE,
    dry_size=DRY_SIZE,
    ours=fitted(tractable.LogisticRegression(C)),
    # At its default tolerance its objective is larger by a thousandth.
    peers={"scikit-learn lbfgs": fitted(linear_model.LogisticRegression(C=C, tol=1e-6, max_iter=2000))},
    check=no_worse(1e-7),
    targets={"scikit-learn lbfgs": at_least(1.0)},
    limit=LIMIT,
)
