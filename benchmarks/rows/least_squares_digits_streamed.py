"""Digits of least squares in a stream, and merged."""

import tractable
from benchmarks.digits import PROMISED, row


def merged(X, y):
    """Fit every seven rows alone, and merge the models in pairs."""
    models = [
        tractable.LinearRegression().partial_fit(X[a : a + 7], y[a : a + 7]) for a in range(0, len(y), 7)
    ]
    while len(models) > 1:
        pairs = [a.merge(b) for a, b in zip(models[::2], models[1::2], strict=False)]
        models = pairs + models[2 * len(pairs) :]
    return models[0]


ROW = row(
    "least_squares_digits_streamed",
    "The same problems from blocks of seven rows, fitted alone and merged; peers have all rows in memory.",
    merged,
    PROMISED,
    "float64: triangular factors merge by a QR, and means are kept apart.",
)
