"""Ridge regression of sparse rows."""

from sklearn import linear_model

import tractable
from benchmarks.row import Row, at_least
from benchmarks.sparse_rows import DRY_SIZE, SIZE, no_worse, regression, squared_error

ALPHA = 100.0


def fitted(model):
    return lambda data: squared_error(data, model.fit(data.X, data.y), squared=ALPHA / len(data.y))


ROW = Row(
    name="sparse_ridge",
    shows="Ridge, sparse rows, 20,000 × 50,000, 100 entries each, to twelve digits of the objective.",
    setup=regression,
    size=SIZE,
    dry_size=DRY_SIZE,
    ours=fitted(tractable.Ridge(ALPHA)),
    # Its default solver for sparse rows; at its default tolerance the objective has eight digits.
    peers={"scikit-learn": fitted(linear_model.Ridge(ALPHA, solver="sparse_cg", tol=1e-10))},
    check=no_worse(1e-11),
    targets={"scikit-learn": at_least(1.0)},
    limit="the stored entries, read once an iteration for both products, each a random access to the cache.",
)
