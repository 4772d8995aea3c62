"""Probabilities of Gaussian classes with covariances of their own."""

from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

from benchmarks.discriminants import check, classes
from benchmarks.row import Row, at_least
from tractable.classification import QuadraticDiscriminant


def setup(size, folder):  # noqa: ARG001  (no files)
    data = classes(size)
    data.fitted = {model: model().fit(data.X, data.y) for model in (QuadraticDiscriminant, Peer)}
    return data


Peer = QuadraticDiscriminantAnalysis


def ours(data):
    return {"probabilities": data.fitted[QuadraticDiscriminant].predict_proba(data.X)}


def theirs(data):
    return {"probabilities": data.fitted[Peer].predict_proba(data.X)}


ROW = Row(
    name="qda_proba",
    shows="QuadraticDiscriminant().predict_proba of 200,000 × 30 rows in 10 classes.",
    setup=setup,
    size=(200_000, 30, 10),
    dry_size=(400, 3, 2),
    ours=ours,
    peers={"scikit-learn": theirs},
    check=check,
    targets={"scikit-learn": at_least(3.0)},
    limit="A triangular product of d²/2 multiplications for every row and class, in cache.",
)
