"""Least squares: its statistic, and the estimator in each of its ways to solve."""

from rows.row import Row
from tractable.statistics import LinearFactor
from tractable.testing.statistic_laws import StatisticOfRows

STATISTICS = [
    Row("LinearFactor", lambda: StatisticOfRows(statistic=LinearFactor, n_targets=1)),
    Row("LinearFactor-targets", lambda: StatisticOfRows(statistic=LinearFactor, n_targets=2)),
]
