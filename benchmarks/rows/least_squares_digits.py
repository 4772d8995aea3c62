"""Digits of least squares in one pass."""

import tractable
from benchmarks.digits import PROMISED, row

ROW = row(
    "least_squares_digits",
    "Least squares on ill-conditioned problems, in memory: digits against the exact rational solution.",
    lambda X, y: tractable.LinearRegression().fit(X, y),
    PROMISED,
    "float64: a QR keeps the digits of one condition number, not of its square.",
)
