"""Logistic regression."""

import numpy as np

from rows.row import Row
from tractable.classification import LogisticRegression, LogisticRegressionCV

ROWS = [
    Row("LogisticRegression", LogisticRegression),
    Row("LogisticRegression-weak", lambda: LogisticRegression(C=100.0, class_weight="balanced")),
    Row(
        "LogisticRegression-origin",
        lambda: LogisticRegression(C=0.1, fit_intercept=False),
        exempt={"check_class_weight_classifiers": "a plane through the origin cannot move for a heavy class"},
    ),
    Row("LogisticRegression-likelihood", lambda: LogisticRegression(C=np.inf)),
    Row("LogisticRegression-lasso", lambda: LogisticRegression(C=0.3, l1_ratio=1.0)),
    Row("LogisticRegression-elastic", lambda: LogisticRegression(C=2.0, l1_ratio=0.5)),
    Row("LogisticRegression-probit", lambda: LogisticRegression(link="probit")),
    Row("LogisticRegressionCV", lambda: LogisticRegressionCV(Cs=[0.1, 10.0], cv=2)),
]
