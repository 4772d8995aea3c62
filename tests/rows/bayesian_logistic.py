"""Logistic regressions with a posterior."""

from rows.row import Row
from tractable.classification import BayesianLogisticRegression

FAR = {"every_finite_row_is_answered": "squares of activations overflow beyond 1e150, with a RuntimeWarning"}
ROWS = [
    Row("BayesianLogisticRegression", BayesianLogisticRegression, exempt=FAR),
    Row("BayesianLogisticRegression-alpha", lambda: BayesianLogisticRegression(alpha=1.0), exempt=FAR),
    Row(
        "BayesianLogisticRegression-origin",
        lambda: BayesianLogisticRegression(fit_intercept=False),
        exempt=FAR,
    ),
]
