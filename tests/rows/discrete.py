"""Distributions of counts, labels and samples, and their statistics."""

from rows.row import Row
from tractable.statistics import Counts, Totals
from tractable.testing.statistic_laws import StatisticOfRows

STATISTICS = [
    Row(
        "Counts",
        lambda: StatisticOfRows(statistic=Counts, draw=lambda rng, shape: rng.integers(0, 5, size=shape)),
    ),
    Row("Totals", lambda: StatisticOfRows(statistic=Totals, draw=lambda rng, shape: rng.poisson(4.0, shape))),
    Row(
        "Totals-trials",
        lambda: StatisticOfRows(statistic=Totals, draw=lambda rng, shape: rng.random(shape) < 0.3),
    ),
]
