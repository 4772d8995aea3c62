"""The elastic net of sparse rows."""

from sklearn import linear_model

import tractable
from benchmarks.row import Row, at_least
from benchmarks.sparse_rows import DRY_SIZE, LIMIT, SIZE, no_worse, regression, squared_error


def fitted(kind):
    def run(data):
        model = kind(data.alpha).fit(data.X, data.y)
        return squared_error(data, model, absolute=0.5 * data.alpha, squared=0.5 * data.alpha)

    return run


ROW = Row(
    name="sparse_elastic_net",
    shows="ElasticNet, sparse rows, 20,000 × 50,000, 100 entries each, at a tenth of the largest penalty.",
    setup=regression,
    size=SIZE,
    dry_size=DRY_SIZE,
    ours=fitted(tractable.ElasticNet),
    peers={"scikit-learn": fitted(linear_model.ElasticNet)},
    check=no_worse(1e-9),
    targets={"scikit-learn": at_least(1.0)},
    limit=LIMIT,
)
