"""The lasso along a path, many columns."""

from benchmarks.lasso import row
from benchmarks.row import at_least

ROW = row(
    name="lasso_path_wide",
    shows="The lasso at 100 penalties down to 0.03 of the largest on 300 × 50,000, duality gap 1e-6.",
    size=(300, 50_000, 20, 0.03),
    targets={"scikit-learn": at_least(4.0), "celer": at_least(2.0)},
    limit="one matrix product of all columns with 100 residuals.",
)
