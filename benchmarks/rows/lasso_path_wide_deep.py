"""The lasso along a path, many columns, until as many are in use as there are rows."""

from benchmarks.lasso import row
from benchmarks.row import within

ROW = row(
    name="lasso_path_wide_deep",
    shows="The lasso at 100 penalties down to 0.001 of the largest on 300 × 50,000, duality gap 1e-6.",
    size=(300, 50_000, 20, 0.001),
    targets={"scikit-learn": within(1.0), "celer": within(1.0)},
    limit="one matrix product of all columns with 100 residuals.",
)
