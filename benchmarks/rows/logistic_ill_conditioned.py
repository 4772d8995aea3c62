"""Logistic regression where columns differ in size."""

from benchmarks.logistic import row
from benchmarks.row import at_least

ROW = row(
    name="logistic_ill_conditioned",
    shows="LogisticRegression().fit of 100,000 × 30, 10 classes, columns of sizes from 1 to 0.01.",
    size=(100_000, 30, 10, 100.0),
    targets={"scikit-learn lbfgs": at_least(10.0), "scikit-learn newton-cholesky": at_least(10.0)},
    limit="as of columns of one size: the information of all rows.",
)
