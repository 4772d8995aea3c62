"""Perceptrons."""

from rows.row import Row
from tractable.classification import Perceptron

ORDER = {
    "check_sample_weight_equivalence_on_dense_data": "rows are visited in their order",
    "one_seed_gives_one_answer_in_any_order": "rows are visited in their order",
}
ROWS = [
    Row("Perceptron", lambda: Perceptron(max_iter=100), exempt=ORDER),
    Row("Perceptron-average", lambda: Perceptron(keep="average", max_iter=20), exempt=ORDER),
    Row("Perceptron-pocket", lambda: Perceptron(keep="pocket", max_iter=50), exempt=ORDER),
]
