"""Learning of Gaussian classes with covariances of their own."""

from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from benchmarks.discriminants import check, classes, fitted
from benchmarks.row import Row, at_least
from tractable.classification import QuadraticDiscriminant


def setup(size, folder):  # noqa: ARG001  (no files)
    return classes(size)


ROW = Row(
    name="qda_fit",
    shows="QuadraticDiscriminant().fit of 200,000 × 30 rows in 10 classes.",
    setup=setup,
    size=(200_000, 30, 10),
    dry_size=(400, 3, 2),
    ours=fitted(QuadraticDiscriminant),
    peers={"scikit-learn": fitted(QuadraticDiscriminantAnalysis)},
    check=check,
    targets={"scikit-learn": at_least(3.0)},
    limit="A pass that brings the rows of a class together, and d²/2 multiplications a row for the scatter.",
)
