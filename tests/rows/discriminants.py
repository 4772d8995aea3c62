"""Classifiers by discriminant functions and by class-conditional densities."""

from rows.row import Row
from tractable.classification import (
    FisherDiscriminant,
    LeastSquaresClassifier,
    LinearDiscriminant,
    QuadraticDiscriminant,
)
from tractable.statistics import FourthMoments

STATISTICS = [Row("FourthMoments", lambda: FourthMoments)]
ROWS = [
    Row("LinearDiscriminant", LinearDiscriminant),
    Row("LinearDiscriminant-auto", lambda: LinearDiscriminant(shrinkage="auto", ddof=1.0)),
    Row("LinearDiscriminant-shrunk", lambda: LinearDiscriminant(shrinkage=0.3)),
    Row("LinearDiscriminant-bayes", lambda: LinearDiscriminant(estimate="bayes")),
    Row("QuadraticDiscriminant", QuadraticDiscriminant),
    Row("QuadraticDiscriminant-auto", lambda: QuadraticDiscriminant(shrinkage="auto")),
    Row("QuadraticDiscriminant-shrunk", lambda: QuadraticDiscriminant(shrinkage=0.1, ddof=1.0)),
    Row("QuadraticDiscriminant-bayes", lambda: QuadraticDiscriminant(estimate="bayes")),
    Row("FisherDiscriminant", FisherDiscriminant),
    Row("LeastSquaresClassifier", LeastSquaresClassifier),
]
