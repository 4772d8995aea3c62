"""Naive Bayes, by all its names."""

from rows.row import Row
from tractable.classification import (
    BernoulliNB,
    CategoricalNB,
    GaussianNB,
    KernelNB,
    MultinomialNB,
    NaiveBayes,
)
from tractable.conjugate import NormalModel
from tractable.statistics import StoredRows

NORMAL = NormalModel.from_mean_strength(3.0, 1.0, variance=4.0)
PRIOR = {
    "extreme_scales_change_the_scale_alone": "a prior of the user's has the units of the columns",
    "far_rows_are_fitted_as_near_ones": "a prior of the user's has the origin of the columns",
}
UNITS = {
    "extreme_scales_change_the_scale_alone": "a threshold other than zero has the units of the columns",
    "far_rows_are_fitted_as_near_ones": "a threshold has the origin of the columns",
}
NUMBERS = {
    "check_decision_proba_consistency": "the check gives negative numbers, whatever the tags say",
}
FRACTIONS = {
    **NUMBERS,
    "check_sample_weight_equivalence_on_dense_data": "the check gives fractions, whatever the tags say",
    "check_classifiers_one_label_sample_weights": "the check gives fractions, whatever the tags say",
}

ROWS = [
    Row("NaiveBayes", NaiveBayes),
    Row("NaiveBayes-bayes", lambda: NaiveBayes(estimate="bayes", pseudocounts=2.0)),
    Row("NaiveBayes-model", lambda: NaiveBayes(NORMAL), PRIOR),
    Row("GaussianNB", GaussianNB),
    Row("GaussianNB-shared", lambda: GaussianNB(shared_variance=True)),
    Row("CategoricalNB", CategoricalNB, FRACTIONS),
    Row("MultinomialNB", MultinomialNB, NUMBERS),
    Row("MultinomialNB-flat", lambda: MultinomialNB(alpha=0.5, fit_prior=False), NUMBERS),
    Row("BernoulliNB", BernoulliNB, {"far_rows_are_fitted_as_near_ones": "the threshold is zero"}),
    Row("BernoulliNB-threshold", lambda: BernoulliNB(binarize=2.0), UNITS),
    Row("KernelNB", KernelNB),
    Row("KernelNB-laplace", lambda: KernelNB(bandwidth="scott", kernel="laplace")),
]

STATISTICS = [Row("StoredRows", lambda: StoredRows)]
