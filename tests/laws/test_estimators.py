"""Scikit-learn's contract and ours, on every estimator of the catalogue."""

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.utils.estimator_checks import parametrize_with_checks

import quick
from catalogue import ESTIMATORS, cross, some_of_each_family
from tractable.testing.classifier_laws import CLASSIFIER_LAWS
from tractable.testing.estimator_laws import ESTIMATOR_LAWS, ONE_PASS_LAWS, PREDICTIVE_LAWS, SEVERAL_PASS_LAWS
from tractable.testing.persistence_laws import survives_saving

ONE_PASS = [row for row in ESTIMATORS if row.make().model_tags.streaming == "exact in one pass"]
SEVERAL_PASS = [row for row in ESTIMATORS if row.make().model_tags.streaming == "exact over several passes"]
#: Without a distribution of predictions, as they say: coefficients that must not be negative, and where
#: cross-validation chooses one neighbour.
POINTS = ("LinearRegression-positive", "Ridge-positive", "KNeighborsRegressor-loo")
PREDICTIVE = [
    row
    for row in ESTIMATORS
    if hasattr(row.make(), "predict_dist") and not is_classifier(row.make()) and row.name not in POINTS
]
CLASSIFIERS = [row for row in ESTIMATORS if is_classifier(row.make())]


#: Which has more neighbours than the tables of scikit-learn's checks have rows.
UNCHECKED = ("KNeighborsRegressor-many",)
CHECKED_ROWS = [row for row in ESTIMATORS if row.name not in UNCHECKED]
CHECKED = [(row.make(), row.exempt) for row in CHECKED_ROWS]


def exemptions(estimator):
    """The checks of scikit-learn that a row of the catalogue is exempt from, with the reasons."""
    return next(exempt for checked, exempt in CHECKED if checked is estimator)


def first_of_each_kind(checked):
    """One row of every estimator, and the other rows."""
    kinds = [type(estimator) for estimator, _ in checked]
    first = [estimator for i, (estimator, _) in enumerate(checked) if kinds.index(kinds[i]) == i]
    return first, [estimator for estimator, _ in checked if all(estimator is not one for one in first)]


FIRST, OTHERS = first_of_each_kind(CHECKED)


#: Models whose fits take longest: the validation that scikit-learn checks is that of models beside them.
COSTLY = {
    "AdaptiveKernelDensity",
    "BayesianLogisticRegression",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "LeastMeanSquares",
    "RobustRegression",
    "StudentTMixture",
    "TSNE",
}


def shared_out(checks):
    """Scikit-learn's checks, those that `make test` leaves to `make test-all` marked slow.

    The first class of a package meets all of them; the others, which share its code, and those whose fits
    take longest meet every fifth in turn.
    """
    name, cases = checks.args
    leaders = {package_of(estimator): type(estimator) for estimator in reversed(FIRST)}
    kinds = [type(estimator) for estimator in FIRST]
    shared = []
    for i, case in enumerate(cases):
        estimator, check = getattr(case, "values", case)
        kind = type(estimator)
        some = leaders[package_of(estimator)] is not kind or kind.__name__ in COSTLY
        late = some and (i + kinds.index(kind)) % 5
        if not (late and quick.ALONE):
            marks = [*getattr(case, "marks", ()), *([pytest.mark.slow] if late else [])]
            shared.append(pytest.param(estimator, check, marks=marks))
    return pytest.mark.parametrize(name, shared, **checks.kwargs)


def package_of(estimator):
    """The package of a model, or its module where it stands alone."""
    return ".".join(type(estimator).__module__.split(".")[:3])


@shared_out(parametrize_with_checks(FIRST, expected_failed_checks=exemptions))
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHERS[: 1 if quick.ALONE else None], expected_failed_checks=exemptions)
@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::sklearn.exceptions.SkipTestWarning")
def test_scikit_learn_contract_of_other_parameters(estimator, check):
    check(estimator)


#: Models that learn by long searches: their rows of other parameters wait for `make test-all`.
LONG = {
    "AdaptiveKernelDensity",
    "BayesianGaussianMixture",
    "GaussianMixture",
    "MixtureOfExperts",
    "MixtureOfRegressors",
    "NearestNeighborDensity",
    "RobustRegression",
    "StudentTMixture",
}
PATIENT = [
    row
    for row, (estimator, _) in zip(CHECKED_ROWS, CHECKED, strict=True)
    if type(estimator).__name__ in LONG and all(estimator is not one for one in FIRST)
]


@pytest.mark.parametrize(
    ("law", "make"), cross(ESTIMATOR_LAWS, [row for row in ESTIMATORS if row not in PATIENT], most=1)
)
def test_estimator_law(law, make, rng):
    law(make(), rng)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("law", "make"),
    cross(ESTIMATOR_LAWS, PATIENT)
    + cross(SEVERAL_PASS_LAWS, [row for row in SEVERAL_PASS if row in PATIENT]),
)
def test_laws_of_other_parameters(law, make, rng):
    law(make(), rng)


@pytest.mark.parametrize(("law", "make"), cross(ONE_PASS_LAWS, ONE_PASS, most=1))
def test_one_pass_law(law, make, rng):
    law(make(), rng)


@pytest.mark.parametrize(
    ("law", "make"), cross(SEVERAL_PASS_LAWS, [row for row in SEVERAL_PASS if row not in PATIENT], most=1)
)
def test_several_pass_law(law, make, rng):
    law(make(), rng)


@pytest.mark.parametrize(("law", "make"), cross(PREDICTIVE_LAWS, PREDICTIVE, most=1))
def test_predictive_law(law, make, rng):
    law(make(), rng)


@pytest.mark.parametrize(("law", "make"), cross(CLASSIFIER_LAWS, CLASSIFIERS, most=1))
@pytest.mark.spec("CLS-02")
def test_classifier_law(law, make, rng):
    law(make(), rng)


@pytest.mark.parametrize("row", some_of_each_family(ESTIMATORS))
def test_a_fitted_estimator_survives_saving(row, rng, tmp_path):
    from tractable.testing.estimator_laws import example, learn

    estimator = row.make()
    survives_saving(learn(estimator, *example(estimator, rng)), rng)


@pytest.mark.parametrize("row", some_of_each_family(ESTIMATORS))
def test_an_estimator_of_equal_rows_and_rows_of_weight_zero_survives_saving(row, rng):
    """As many points are stored as rows differ, or count: a loaded model is refused for neither."""
    from tractable.testing.estimator_laws import example, learn

    estimator = row.make()
    X, y = (None if part is None else np.concatenate([part, part[:20]]) for part in example(estimator, rng))
    survives_saving(learn(estimator, X, y, sample_weight=np.arange(len(X)) % 5 != 3), rng)


@pytest.mark.spec("PRACT-02", "PRACT-03")
def test_every_estimator_says_what_it_is():
    from tractable.base import ModelTags, tags

    assert [row.name for row in ESTIMATORS if not isinstance(tags(row.make()), ModelTags)] == []
