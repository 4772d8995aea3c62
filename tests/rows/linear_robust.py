"""Planes in noise with heavy tails."""

from rows.row import Row
from tractable.linear_model import RobustRegression

ROWS = [
    Row("RobustRegression", RobustRegression),
    Row("RobustRegression-student", lambda: RobustRegression("student", dof=4.0)),
    Row("RobustRegression-learnt", lambda: RobustRegression("student")),
    Row("RobustRegression-gaussian", lambda: RobustRegression("gaussian", fit_intercept=False)),
]
