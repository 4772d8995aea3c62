"""Learning of Gaussian classes that share a covariance."""

from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

from benchmarks.discriminants import check, classes, fitted
from benchmarks.row import Row, at_least
from tractable.classification import LinearDiscriminant


def setup(size, folder):  # noqa: ARG001  (no files)
    return classes(size)


ROW = Row(
    name="lda_fit",
    shows="LinearDiscriminant().fit of 200,000 × 30 rows in 10 classes.",
    setup=setup,
    size=(200_000, 30, 10),
    dry_size=(400, 3, 2),
    ours=fitted(LinearDiscriminant),
    peers={
        "scikit-learn svd": fitted(LinearDiscriminantAnalysis),
        "scikit-learn lsqr": fitted(lambda: LinearDiscriminantAnalysis(solver="lsqr")),
    },
    check=check,
    targets={"scikit-learn svd": at_least(3.0)},
    limit="A pass that brings the rows of a class together, and d²/2 multiplications a row for the scatter.",
)
