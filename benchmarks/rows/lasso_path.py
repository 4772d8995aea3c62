"""The lasso along a path, a thousand rows."""

from benchmarks.lasso import row
from benchmarks.row import at_least

ROW = row(
    name="lasso_path",
    shows="The lasso at 100 penalties down to 0.03 of the largest on 1,000 × 5,000, duality gap 1e-6.",
    size=(1_000, 5_000, 50, 0.03),
    targets={"scikit-learn": at_least(4.0), "celer": at_least(2.0)},
    limit="a matrix product of all columns with 100 residuals, and one of 700 columns with each other.",
)
