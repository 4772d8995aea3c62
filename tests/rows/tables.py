"""Tables of probabilities, of numbers and of labels, joint and conditional."""

from fractions import Fraction

import numpy as np

from rows.row import Row
from tractable.distributions import ProbabilityTable

WEATHER = {"sky": ["clear", "cloudy", "rain"], "wind": ["calm", "strong"]}
CELLS = np.array([[[4, 1, 3], [2, 6, 1]], [[1, 2, 5], [3, 3, 1]], [[2, 2, 2], [7, 1, 4]]])

ROWS = [
    Row(
        "ProbabilityTable",
        lambda: ProbabilityTable(
            probabilities=CELLS / CELLS.sum(), axes={"colour": 3, "size": [0.5, 2.0], "number": [-1, 4, 10]}
        ),
    ),
    Row("ProbabilityTable-one", lambda: ProbabilityTable(probabilities=[0.2, 0.5, 0.3], axes={"k": 3})),
    Row(
        "ProbabilityTable-labels",
        lambda: ProbabilityTable(probabilities=[[0.3, 0.1], [0.2, 0.15], [0.05, 0.2]], axes=WEATHER),
    ),
    Row(
        "ProbabilityTable-given",
        lambda: ProbabilityTable(
            probabilities=CELLS / CELLS.sum(axis=(1, 2), keepdims=True),
            axes={"size": [0.5, 2.0], "number": [-1, 4, 10]},
            given={"colour": ["red", "green", "blue"]},
        ),
    ),
    Row(
        "ProbabilityTable-batch",
        lambda: ProbabilityTable(
            probabilities=np.stack([[[0.3, 0.1], [0.2, 0.4]], [[0.6, 0.1], [0.1, 0.2]]]),
            axes={"a": 2, "b": 2},
        ),
    ),
]


def exact(table):
    """The same table with fractions."""
    cells = [Fraction(p).limit_denominator(1000) for p in table.probabilities.ravel().tolist()]
    p = np.array(cells, dtype=object).reshape(table.probabilities.shape)
    axes = tuple(range(len(table.given), p.ndim))
    total = p.sum(axis=axes, keepdims=True) if table.given else sum(cells)
    return ProbabilityTable(probabilities=p / total, axes=table.axes, given=table.given)


EXACT = [
    Row(f"{row.name}-exact", lambda row=row: exact(row.make()))
    for row in ROWS
    if not row.name.endswith("batch")
]
