"""Classifiers by discriminant functions and by class-conditional densities."""

from rows.row import Row
from tractable.classification import (
    FisherDiscriminant,
    GenerativeClassifier,
    LeastSquaresClassifier,
    LinearDiscriminant,
    QuadraticDiscriminant,
)
from tractable.density import GaussianDensity, KernelDensity
from tractable.mixture import GaussianMixture
from tractable.statistics import FourthMoments

NO_SCALE = dict.fromkeys(
    [
        "check_sample_weights_shape",
        "check_sample_weights_not_overwritten",
    ],
    "a column that is constant within every class gives no scale for a bandwidth and is refused",
)
SINGULAR = {
    "check_sample_weight_equivalence_on_dense_data": (
        "four rows a class in 30 columns: covariances are singular, and rounding decides on rows outside"
    )
}
COMPLETE = {
    "check_estimators_nan_inf": (
        "NaN is refused in learning alone: answers integrate it out, as the tag missing_in_predictions says"
    )
}
STATISTICS = [Row("FourthMoments", lambda: FourthMoments)]
ROWS = [
    Row("LinearDiscriminant", LinearDiscriminant),
    Row("LinearDiscriminant-auto", lambda: LinearDiscriminant(shrinkage="auto", ddof=1.0), exempt=COMPLETE),
    Row("LinearDiscriminant-shrunk", lambda: LinearDiscriminant(shrinkage=0.3)),
    Row("LinearDiscriminant-bayes", lambda: LinearDiscriminant(estimate="bayes"), exempt=COMPLETE),
    Row("QuadraticDiscriminant", QuadraticDiscriminant),
    Row("QuadraticDiscriminant-auto", lambda: QuadraticDiscriminant(shrinkage="auto"), exempt=COMPLETE),
    Row("QuadraticDiscriminant-shrunk", lambda: QuadraticDiscriminant(shrinkage=0.1, ddof=1.0)),
    Row("QuadraticDiscriminant-bayes", lambda: QuadraticDiscriminant(estimate="bayes"), exempt=COMPLETE),
    Row("FisherDiscriminant", FisherDiscriminant),
    Row("LeastSquaresClassifier", LeastSquaresClassifier),
    Row(
        "GenerativeClassifier",
        lambda: GenerativeClassifier(GaussianDensity(covariance_type="diag")),
    ),
    Row("GenerativeClassifier-full", lambda: GenerativeClassifier(GaussianDensity()), exempt=SINGULAR),
    Row("GenerativeClassifier-kernel", lambda: GenerativeClassifier(KernelDensity()), exempt=NO_SCALE),
    Row(
        "GenerativeClassifier-mixture",
        lambda: GenerativeClassifier(GaussianMixture(2, random_state=0)),
    ),
]
