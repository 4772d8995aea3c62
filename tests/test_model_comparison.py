"""Models side by side, leave-one-out in closed form, curves, the choice of parameters, dependent rows."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import BayesianRidge as TheirBayesianRidge
from sklearn.linear_model import Lasso as TheirLasso
from sklearn.linear_model import LogisticRegression as TheirLogisticRegression
from sklearn.model_selection import GridSearchCV, KFold, RepeatedKFold, TimeSeriesSplit
from sklearn.neighbors import KernelDensity as TheirKernelDensity
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tractable
from tractable import (
    BayesianRidge,
    GaussianDensity,
    GaussianMixture,
    GaussianProcessRegressor,
    Histogram,
    KernelDensity,
    KNeighborsClassifier,
    LinearDiscriminant,
    LinearRegression,
    LogisticRegression,
    PolynomialBasis,
    Ridge,
    choose_parameters,
    compare,
    dependence_of_rows,
    learning_curve,
    leave_one_out,
    log_score,
    log_scores,
    validation_curve,
)
from tractable.metrics import ModelComparison
from tractable.selection import DependentRowsWarning

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = X @ [1.0, -2.0, 0.0] + RNG.normal(size=90)
LABELS = np.where(X[:, 0] + 0.5 * RNG.normal(size=90) > 0, "yes", "no")
REGRESSIONS = {"least squares": LinearRegression(), "Bayes": BayesianRidge(), "theirs": TheirBayesianRidge()}


@pytest.fixture(scope="module")
def found():
    return compare(REGRESSIONS, X, Y)


def test_scores_are_those_of_folds_fitted_by_hand(found):
    folds = KFold(5, shuffle=True, random_state=0)
    expected = np.empty(90)
    for train, test in folds.split(X):
        expected[test] = LinearRegression().fit(X[train], Y[train]).predict_dist(X[test]).log_prob(Y[test])
    np.testing.assert_allclose(found.scores[:, 0], expected, rtol=1e-12)
    assert found.means[0] == pytest.approx(expected.mean())
    assert found.standard_errors[0] == pytest.approx(expected.std(ddof=1) / np.sqrt(90))
    pairs = found.scores[:, 1] - found.scores[:, list(found.names).index(found.best)]
    assert found.difference_errors[1] == pytest.approx(pairs.std(ddof=1) / np.sqrt(90))
    assert found.difference_errors.max() < found.standard_errors.min()


def test_criteria_stand_beside_the_scores(found):
    model = LinearRegression().fit(X, Y)
    assert found.aic[0] == pytest.approx(2 * 5 - 2 * model.log_likelihood_)
    assert found.bic[0] == pytest.approx(5 * np.log(90) - 2 * model.log_likelihood_)
    assert found.loo[0] == pytest.approx(leave_one_out(LinearRegression(), X, Y, method="refits").log_score)
    assert found.log_evidence[1] == pytest.approx(BayesianRidge().fit(X, Y).log_evidence_)
    assert np.isnan(found.log_evidence[[0, 2]]).all()
    frame = found.to_frame()
    assert list(frame.index) == list(found.ranking)
    assert {"log_score", "difference_error", "log_evidence", "aic", "bic", "loo"} <= set(frame.columns)
    assert str(found).splitlines()[0].split()[:1] == ["model"]
    assert hasattr(found.best_model, "coef_")
    assert set(found.as_good) <= set(found.names)


def test_classifiers_of_both_libraries_are_scored_by_the_log_of_the_class():
    models = {"ours": LogisticRegression(), "theirs": TheirLogisticRegression(), "LDA": LinearDiscriminant()}
    found = compare(models, X, LABELS, cv=3)
    fitted = TheirLogisticRegression().fit(X, LABELS)
    by_hand = np.log(fitted.predict_proba(X)[np.arange(90), (LABELS == "yes").astype(int)])
    np.testing.assert_allclose(log_scores(fitted, X, LABELS), by_hand)
    assert np.all(found.means < 0)
    rare = np.array(["new"] * 90)
    assert np.all(np.isneginf(log_scores(fitted, X, rare)))  # impossible, not an error


def test_criteria_of_densities_count_their_parameters():
    found = compare([GaussianDensity(), GaussianMixture(1, random_state=0, reg_covar=0.0)], X, cv=3)
    np.testing.assert_allclose(found.bic[0], found.bic[1], rtol=1e-6)  # the same model twice
    assert found.bic[0] == pytest.approx(9 * np.log(90) - 2 * GaussianDensity().fit(X).score_samples(X).sum())


def test_a_hopeless_model_is_last_and_has_no_paired_error():
    found = compare([Histogram(40), GaussianDensity()], X[:, :1] ** 3, cv=3)
    assert found.names == ("Histogram", "GaussianDensity")
    if np.isneginf(found.means[0]):
        assert found.best == "GaussianDensity"
        assert np.isnan(found.difference_errors[0])


def test_rows_are_weighted_grouped_and_left_out_as_the_splitter_says():
    weights = RNG.integers(0, 3, 90)
    found = compare(REGRESSIONS | {}, X, Y, sample_weight=weights, criteria=False)
    assert found.weights.sum() == weights.sum()
    assert np.isnan(found.aic).all()
    with pytest.raises(ValueError, match="criteria=True"):
        _ = found.best_model
    groups = np.repeat(np.arange(15), 6)
    grouped = compare([LinearRegression()], X, Y, groups=groups)
    away = np.bincount(groups, grouped.scores[:, 0] - grouped.means[0])
    assert grouped.standard_errors[0] == pytest.approx(np.sqrt(np.sum(away**2) * 15 / 14) / 90)
    later = compare([LinearRegression()], X, Y, cv=TimeSeriesSplit(4))
    assert len(later.scores) == 72
    twice = compare([LinearRegression()], X, Y, cv=RepeatedKFold(n_splits=3, n_repeats=2, random_state=0))
    assert len(twice.scores) == 90


@pytest.mark.spec("ASSESS-11")
@pytest.mark.parametrize(
    ("model", "y"),
    [
        (LinearRegression(), Y),
        (LinearRegression(fit_intercept=False), Y),
        (Ridge(3.0), Y),
        (GaussianDensity(), None),
        (GaussianDensity(ddof=1), None),
        (KernelDensity(bandwidth=0.7), None),
    ],
    ids=lambda x: "" if x is None or isinstance(x, np.ndarray) else repr(x)[:40],
)
def test_closed_forms_are_refits(model, y):
    rows, targets = X[:25], None if y is None else y[:25]
    quick = leave_one_out(model, rows, targets, method="closed form")
    slow = leave_one_out(model, rows, targets, method="refits")
    assert (quick.method, slow.method) == ("closed form", "refits")
    if quick.prediction is not None:
        np.testing.assert_allclose(quick.prediction, slow.prediction, rtol=1e-6, atol=1e-8)
    if quick.log_density is not None:
        np.testing.assert_allclose(quick.log_density, slow.log_density, rtol=1e-7, atol=1e-8)


def test_the_closed_form_of_a_process_is_its_own():
    model = GaussianProcessRegressor(tractable.kernels.RBF(2.0), optimizer=None)
    found = leave_one_out(model, X[:25], Y[:25])
    assert found.method == "closed form"
    assert found.log_score == pytest.approx(model.fit(X[:25], Y[:25]).loo_log_density_)


def test_what_has_no_closed_form_is_fitted_again():
    found = leave_one_out(KNeighborsClassifier(3), X[:20], LABELS[:20])
    assert found.method == "refits"
    assert len(found.prediction) == 20
    with pytest.raises(ValueError, match="no closed form"):
        leave_one_out(KNeighborsClassifier(3), X[:20], LABELS[:20], method="closed form")
    with pytest.raises(ValueError, match="method must be"):
        leave_one_out(LinearRegression(), X, Y, method="guess")
    with pytest.raises(ValueError, match="two rows"):
        leave_one_out(GaussianDensity(), X[:1])


@pytest.mark.spec("ASSESS-15")
def test_densities_are_searched_by_their_held_out_log_density():
    rows = np.vstack([X[:, :1] - 3, X[:, :1] + 3])
    search = GridSearchCV(
        GaussianMixture(random_state=0),
        {"n_components": [1, 2]},
        scoring=log_score,
        cv=KFold(3, shuffle=True, random_state=0),
    )
    assert search.fit(rows).best_params_ == {"n_components": 2}
    theirs = TheirKernelDensity(bandwidth=0.5).fit(rows)
    assert log_score(theirs, rows) == pytest.approx(theirs.score_samples(rows).mean())


@pytest.mark.spec("PRACT-04")
def test_parameters_by_cross_validation_or_by_evidence():
    x = np.linspace(-1, 1, 60)[:, None]
    y = 4 * x[:, 0] ** 3 - 2 * x[:, 0] + 0.1 * np.random.default_rng(1).standard_normal(60)
    model = make_pipeline(PolynomialBasis(), BayesianRidge())
    grid = {"polynomialbasis__degree": [1, 2, 3]}
    for by in ("cv", "evidence"):
        found = choose_parameters(model, grid, x, y, by=by)
        assert found.best == {"polynomialbasis__degree": 3}
        assert len(found.to_frame()) == 3
        assert found.best_model[0].degree == 3
        assert "3" in str(found).splitlines()[1]
    kernels = {"kernel": [tractable.kernels.RBF(0.01), tractable.kernels.RBF(1.0)]}
    process = GaussianProcessRegressor(optimizer=None)
    choices = [choose_parameters(process, kernels, x, y, by=by).best["kernel"] for by in ("cv", "evidence")]
    assert choices[0] is choices[1] is kernels["kernel"][1]
    with pytest.raises(ValueError, match="no log_evidence_"):
        choose_parameters(LinearRegression(), {"fit_intercept": [True]}, x, y, by="evidence")


@pytest.mark.spec("ASSESS-13", "ASSESS-14")
def test_curves_show_over_fitting():
    rows = np.random.default_rng(2).normal(size=(60, 2))
    curve = validation_curve(KernelDensity(), rows, param_name="bandwidth", param_range=[0.5, 0.05], cv=4)
    train, test = curve.train.mean(axis=1), curve.test.mean(axis=1)
    assert train[1] > train[0]
    assert test[1] < test[0]
    assert float(curve.best) == 0.5
    grown = learning_curve(GaussianDensity(), rows, train_sizes=[0.2, 1.0], cv=4)
    gap = grown.train.mean(axis=1) - grown.test.mean(axis=1)
    assert gap[1] < gap[0]
    assert "left out" in str(grown)
    named = validation_curve(
        GaussianDensity(), rows, param_name="covariance_type", param_range=["full", "diag"], cv=3
    )
    assert named.best in ("full", "diag")


def test_rows_that_depend_on_each_other_are_said():
    copies = np.vstack([X, X[:30]])
    (sentence,) = dependence_of_rows(copies)
    assert "25% of the rows repeat" in sentence
    walk = np.cumsum(np.random.default_rng(0).standard_normal(200))
    (sentence,) = dependence_of_rows(RNG.normal(size=(200, 2)), walk)
    assert "neighbouring rows" in sentence
    assert not dependence_of_rows(RNG.normal(size=(200, 2)), walk, cv=TimeSeriesSplit())
    assert not dependence_of_rows(RNG.normal(size=(200, 2)), np.sort(walk))
    frame = pd.DataFrame({"patient_id": np.repeat(np.arange(20), 4), "x": RNG.normal(size=80)})
    (sentence,) = dependence_of_rows(frame)
    assert "'patient_id'" in sentence
    dated = pd.DataFrame({"when": pd.date_range("2020-01-01", periods=50), "x": RNG.normal(size=50)})
    assert "'when'" in dependence_of_rows(dated)[0]
    (sentence,) = dependence_of_rows(X, groups=np.arange(90) // 3, cv=KFold(3))
    assert "GroupKFold" in sentence
    coded = RNG.integers(0, 3, size=(200, 2))
    assert not dependence_of_rows(coded)  # tables of categories repeat by chance
    assert not dependence_of_rows(tractable.datasets.load("old_faithful").X)  # and so do rounded numbers
    with pytest.warns(DependentRowsWarning, match="repeat"):
        compare([GaussianDensity()], copies, cv=3)


def test_independent_rows_are_not_warned_of():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare([GaussianDensity()], X, cv=3, criteria=False)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: compare({}, X), "at least one"),
        (lambda: compare([GaussianDensity], X), "estimators"),
        (lambda: compare([GaussianDensity()], X, cv=1), "cv"),
        (lambda: compare([GaussianDensity()], X[:3]), "cv must be at most"),
        (lambda: compare([GaussianDensity()], np.where(X > 2.0, np.inf, X)), "cannot be fitted"),
        (lambda: compare([LinearRegression()], X, Y[:5]), "y must have"),
        (lambda: compare([LinearRegression()], X), "y"),
        (lambda: compare([LinearRegression(), LogisticRegression()], X, LABELS), "one kind"),
        (lambda: compare([TheirLasso()], X, Y), "no predictive distribution"),
        (lambda: compare([make_pipeline(StandardScaler(), GaussianDensity())], X), "transformed columns"),
        (lambda: compare([tractable.KMeans(2)], X), "no log density"),
        (lambda: choose_parameters(GaussianDensity(), {"ddof": [0]}, X, by="magic"), "by must be"),
        (lambda: choose_parameters(GaussianDensity(), {"ddof": []}, X), "ddof|grid"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_pipelines_of_regressions_are_scored_at_their_end():
    model = make_pipeline(StandardScaler(), LinearRegression()).fit(X, Y)
    plain = LinearRegression().fit(X, Y)
    np.testing.assert_allclose(log_scores(model, X, Y), log_scores(plain, X, Y), rtol=1e-9)


def test_criteria_count_what_the_likelihood_has(rng):
    """AIC = 2 p - 2 log L: of coefficients that the rows determine, a noise variance, or K - 1 classes."""
    X = rng.normal(size=(90, 2))
    twice, y = np.c_[X, X[:, 0], np.ones(90)], X @ [1.0, -1.0] + rng.normal(size=90)
    for rows, options, p in ((X, {}, 4), (twice, {}, 4), (X, {"fit_intercept": False}, 3)):
        model = LinearRegression(**options)
        found = compare([model], rows, y)
        likelihood = model.fit(rows, y).log_likelihood_
        np.testing.assert_allclose(found.aic[0], 2 * p - 2 * likelihood)
        np.testing.assert_allclose(found.bic[0], p * np.log(90) - 2 * likelihood)
    labels = np.digitize(y, [-1.0, 1.0])
    free, penalised = LogisticRegression(C=np.inf), LogisticRegression()
    found = compare({"free": free, "penalised": penalised}, X, labels)
    np.testing.assert_allclose(found.aic[0], 2 * 6 - 2 * free.fit(X, labels).log_likelihood_)
    assert np.isnan(found.aic[1])  # a penalised fit is not the maximum of the likelihood


@pytest.mark.parametrize(
    ("models", "options", "message"),
    [
        ([GaussianDensity(), LinearRegression()], {}, "'GaussianDensity' is a density"),
        (LinearRegression(), {}, "models must be a mapping or a sequence"),
        ([LinearRegression()], {"cv": "five"}, "cv must be"),
    ],
)
def test_what_cannot_stand_side_by_side_is_refused(models, options, message, rng):
    X = rng.normal(size=(20, 2))
    with pytest.raises(ValueError, match=message):
        compare(models, X, X[:, 0], **options)


def test_copies_are_seen_among_numbers_of_every_kind(rng):
    X = np.c_[rng.normal(size=(40, 2)), np.zeros(40)]
    assert not tractable.selection.dependence_of_rows(X)
    copies = X.copy()
    copies[20:] = X[:20]
    copies[20:, 2] = -0.0
    missing = np.where(np.arange(3) == 1, np.nan, copies)
    assert "50% of the rows repeat" in tractable.selection.dependence_of_rows(copies)[0]
    assert "50% of the rows repeat" in tractable.selection.dependence_of_rows(missing)[0]


def test_targets_in_one_column_are_scored_as_those_in_none(rng):
    X = rng.normal(size=(30, 2))
    y = X[:, 0] + rng.normal(size=30)
    labels = y > 0
    for model, target in ((LinearRegression(), y), (BayesianRidge(), y), (LogisticRegression(), labels)):
        model.fit(X, target)
        np.testing.assert_array_equal(log_scores(model, X, target[:, None]), log_scores(model, X, target))
        for wrong in (target[:1], target[:7], np.c_[target, target]):
            with pytest.raises(ValueError, match="y must have the shape"):
                log_scores(model, X, wrong)
    with pytest.raises(ValueError, match="sample_weight"):
        log_score(LinearRegression().fit(X, y), X, y, sample_weight=np.full(30, np.nan))
    with pytest.raises(ValueError, match="sample_weight"):
        log_score(LinearRegression().fit(X, y), X, y, sample_weight=np.zeros(30))
    with pytest.raises(ValueError, match="param_range"):
        validation_curve(Ridge(), X, y, param_name="alpha", param_range=[])


def test_weights_of_a_comparison_are_repetitions_of_rows_that_belong_together(rng):
    """The centre that deviations are taken from has the weights too."""
    scores = rng.standard_normal((9, 2)) * [1.0, 3.0] - [1.0, 2.0]
    times = np.array([1, 4, 1, 2, 3, 1, 5, 1, 2])
    none = {name: np.full(2, np.nan) for name in ("log_evidence", "aic", "bic", "loo", "seconds")}
    rows = np.arange(9)
    weighted = ModelComparison(names=("a", "b"), scores=scores, weights=times * 1.0, clusters=rows, **none)
    repeated = ModelComparison(
        names=("a", "b"),
        scores=np.repeat(scores, times, axis=0),
        weights=np.ones(times.sum()),
        clusters=np.repeat(rows, times),
        **none,
    )
    for name in ("means", "standard_errors", "differences", "difference_errors"):
        np.testing.assert_allclose(getattr(weighted, name), getattr(repeated, name), rtol=1e-12, atol=1e-15)
    centred = (scores - weighted.means) * times[:, None]
    want = np.sqrt(9 / 8 * np.sum(centred**2, axis=0)) / times.sum()
    np.testing.assert_allclose(weighted.standard_errors, want, rtol=1e-12)
