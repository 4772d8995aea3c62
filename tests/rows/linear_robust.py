"""Planes in noise with heavy tails."""

from rows.row import Row
from tractable.linear_model import QuantileRegression, RobustRegression

ROWS = [
    Row("RobustRegression", RobustRegression),
    Row("RobustRegression-student", lambda: RobustRegression("student", dof=4.0)),
    Row("RobustRegression-learnt", lambda: RobustRegression("student")),
    Row("RobustRegression-gaussian", lambda: RobustRegression("gaussian", fit_intercept=False)),
    Row("RobustRegression-huber", lambda: RobustRegression("huber")),
    Row("RobustRegression-tukey", lambda: RobustRegression("tukey")),
    Row("QuantileRegression", QuantileRegression),
    Row("QuantileRegression-upper", lambda: QuantileRegression(0.6)),
    Row("QuantileRegression-origin", lambda: QuantileRegression(0.4, fit_intercept=False)),
]
