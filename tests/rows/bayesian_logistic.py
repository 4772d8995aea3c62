"""Logistic regressions with a posterior."""

from rows.row import Row
from tractable.classification import BayesianLogisticRegression

ROWS = [
    Row("BayesianLogisticRegression", BayesianLogisticRegression),
    Row("BayesianLogisticRegression-alpha", lambda: BayesianLogisticRegression(alpha=1.0)),
    Row(
        "BayesianLogisticRegression-origin",
        lambda: BayesianLogisticRegression(fit_intercept=False),
    ),
]
