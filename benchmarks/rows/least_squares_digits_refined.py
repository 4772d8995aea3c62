"""Digits of least squares, refined."""

import tractable
from benchmarks.digits import row

PROMISED = {
    "degree 10": 14,
    "Wampler 1": 14,
    "Wampler 2": 14,
    "Wampler 3": 14,
    "Wampler 4": 14,
    "Wampler 5": 14,
}


ROW = row(
    "least_squares_digits_refined",
    "The same problems with refine=True: rows are read again, residuals taken in double-double arithmetic.",
    lambda X, y: tractable.LinearRegression(refine=True).fit(X, y),
    PROMISED | {"Longley": 14},
    "float64, in which the coefficients are returned.",
)
