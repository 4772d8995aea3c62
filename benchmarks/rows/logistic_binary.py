"""Logistic regression of two classes."""

from benchmarks.logistic import row
from benchmarks.row import at_least

ROW = row(
    name="logistic_binary",
    shows="LogisticRegression().fit of 200,000 × 50, 2 classes, standard errors included.",
    size=(200_000, 50, 2, 1.0),
    targets={"scikit-learn lbfgs": at_least(1.5), "scikit-learn newton-cg": at_least(1.5)},
    limit="reading the rows: six passes for the search, one for the units, one for the information.",
)
