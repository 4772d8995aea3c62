"""Least squares: its statistic, and the estimator in each of its ways to solve."""

from rows.row import Row
from tractable.linear_model import LinearRegression
from tractable.statistics import LinearFactor
from tractable.testing.statistic_laws import StatisticOfRows

STATISTICS = [
    Row("LinearFactor", lambda: StatisticOfRows(statistic=LinearFactor, n_targets=1)),
    Row("LinearFactor-targets", lambda: StatisticOfRows(statistic=LinearFactor, n_targets=2)),
]
ROWS = [
    Row("LinearRegression", LinearRegression),
    Row("LinearRegression-origin", lambda: LinearRegression(fit_intercept=False)),
    Row("LinearRegression-positive", lambda: LinearRegression(positive=True)),
    Row("LinearRegression-svd", lambda: LinearRegression(solver="svd")),
    Row("LinearRegression-normal", lambda: LinearRegression(solver="normal")),
    Row("LinearRegression-refined", lambda: LinearRegression(refine=True)),
]
