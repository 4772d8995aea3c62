"""Gradient steps: of one row, of a few, of all."""

from rows.row import Row
from tractable.linear_model import LeastMeanSquares

ROWS = [
    Row("LeastMeanSquares", lambda: LeastMeanSquares(random_state=0)),
    Row(
        "LeastMeanSquares-average",
        lambda: LeastMeanSquares(batch_size=5, average=True, standardize=True, random_state=0),
    ),
    Row("LeastMeanSquares-all", lambda: LeastMeanSquares(batch_size=None, shuffle=False, standardize=True)),
]
