"""The lasso along a path, until nearly as many columns are in use as there are rows."""

from benchmarks.lasso import row
from benchmarks.row import within

ROW = row(
    name="lasso_path_deep",
    shows="The lasso at 100 penalties down to 0.001 of the largest on 1,000 × 5,000, duality gap 1e-6.",
    size=(1_000, 5_000, 50, 0.001),
    targets={"scikit-learn": within(1.0), "celer": within(1.0)},
    limit="updates of a Cholesky factor of up to 1,000 columns.",
)
