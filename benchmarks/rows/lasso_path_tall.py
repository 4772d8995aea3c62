"""The lasso along a path, many rows."""

from benchmarks.lasso import row
from benchmarks.row import within

ROW = row(
    name="lasso_path_tall",
    shows="The lasso at 100 penalties down to 0.001 of the largest on 20,000 × 200, duality gap 1e-6.",
    size=(20_000, 200, 50, 0.001),
    targets={"scikit-learn": within(1.0)},
    limit="the Gram matrix of the columns.",
    peers=("scikit-learn",),
)
