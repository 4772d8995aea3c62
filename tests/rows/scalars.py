"""Continuous distributions of numbers, and their statistics."""

from rows.row import Row
from tractable.statistics import Extremes, LogMoments, ReciprocalLogMoments, UnitLogMoments
from tractable.testing.statistic_laws import StatisticOfRows

STATISTICS = [
    Row("Extremes", lambda: Extremes),
    Row(
        "LogMoments",
        lambda: StatisticOfRows(statistic=LogMoments, draw=lambda rng, n: rng.gamma(0.7, size=n)),
    ),
    Row(
        "LogMoments-tight",
        lambda: StatisticOfRows(statistic=LogMoments, draw=lambda rng, n: rng.gamma(1e6, 1e-3, size=n)),
    ),
    Row(
        "ReciprocalLogMoments",
        lambda: StatisticOfRows(
            statistic=ReciprocalLogMoments, draw=lambda rng, n: 1.0 / rng.gamma(2.0, size=n)
        ),
    ),
    Row(
        "UnitLogMoments",
        lambda: StatisticOfRows(statistic=UnitLogMoments, draw=lambda rng, n: rng.beta(2.0, 0.5, size=n)),
    ),
]
