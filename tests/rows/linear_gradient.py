"""Gradient steps: of one row, of a few, of all."""

from rows.row import Row
from tractable.linear_model import LeastMeanSquares

BY_CHANCE = (
    "a row of weight two is one longer step here, not two steps at two places of a random order; "
    "tests/test_least_mean_squares.py shows that both have the same limit, and rows of no weight no place"
)
STOCHASTIC = {
    "weights_are_repetitions": BY_CHANCE,
    "check_sample_weight_equivalence_on_dense_data": BY_CHANCE,
}
ROWS = [
    Row("LeastMeanSquares", lambda: LeastMeanSquares(random_state=0), exempt=STOCHASTIC),
    Row(
        "LeastMeanSquares-average",
        lambda: LeastMeanSquares(batch_size=5, average=True, standardize=True, random_state=0),
        exempt=STOCHASTIC,
    ),
    Row("LeastMeanSquares-all", lambda: LeastMeanSquares(batch_size=None, shuffle=False, standardize=True)),
]
