"""Digits of least squares in one pass."""

import tractable
from benchmarks.digits import row

PROMISED = {
    "degree 10": 6,
    "Wampler 1": 9,
    "Wampler 2": 9,
    "Wampler 3": 9,
    "Wampler 4": 7,
    "Wampler 5": 5,
    "Longley": 9,
}


ROW = row(
    "least_squares_digits",
    "Least squares on ill-conditioned problems, in memory: digits against the exact rational solution.",
    lambda X, y: tractable.LinearRegression().fit(X, y),
    PROMISED,
    "float64: a QR keeps the digits of one condition number, not of its square.",
)
