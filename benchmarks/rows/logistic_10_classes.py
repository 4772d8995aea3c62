"""Logistic regression of ten classes."""

from benchmarks.logistic import row
from benchmarks.row import at_least

ROW = row(
    name="logistic_10_classes",
    shows="LogisticRegression().fit of 100,000 × 30, 10 classes, standard errors included.",
    size=(100_000, 30, 10, 1.0),
    targets={
        "scikit-learn lbfgs": at_least(1.5),
        "scikit-learn newton-cg": at_least(1.5),
        "scikit-learn newton-cholesky": at_least(5.0),
    },
    limit="the information of all rows, for the standard errors: 45 pairs of classes by 496 of columns.",
)
