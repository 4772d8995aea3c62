"""`ElasticNetCV` and `LogisticRegressionCV`: paths of folds, the choice of penalties, and refusals."""

import numpy as np
import pytest
from sklearn import linear_model
from sklearn.datasets import load_diabetes, load_iris
from sklearn.model_selection import StratifiedKFold

import tractable
from tractable.base import Rows
from tractable.base.penalty_search import PenaltySearch


@pytest.fixture(scope="module")
def diabetes():
    return load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return (X - X.mean(axis=0)) / X.std(axis=0), np.array(["a", "b", "c"])[y]


@pytest.mark.parametrize(
    "options", [{}, {"l1_ratio": [0.1, 0.9]}, {"l1_ratio": [0.5, 1.0], "alphas": [0.1, 0.01]}]
)
def test_elastic_net_equals_scikit_learn(diabetes, options):
    X, y = diabetes
    ours = tractable.ElasticNetCV(**{"alphas": 20, **options}).fit(X, y)
    theirs = linear_model.ElasticNetCV(tol=1e-9, max_iter=10**5, **{"alphas": 20, **options}).fit(X, y)
    assert ours.l1_ratio_ == theirs.l1_ratio_
    assert ours.alpha_ == pytest.approx(theirs.alpha_, rel=1e-9)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-6)


def test_elastic_net_of_one_share_is_the_lasso(diabetes):
    X, y = diabetes
    net, lasso = (
        tractable.ElasticNetCV(l1_ratio=1.0, alphas=15).fit(X, y),
        tractable.LassoCV(alphas=15).fit(X, y),
    )
    assert net.alpha_ == lasso.alpha_
    np.testing.assert_array_equal(net.coef_, lasso.coef_)


@pytest.mark.parametrize("kind", ["ElasticNetCV", "LassoCV"])
def test_the_one_standard_error_rule_takes_the_larger_penalty(diabetes, kind):
    X, y = diabetes
    least, rule = (
        getattr(tractable, kind)(alphas=30, rule=rule).fit(X, y) for rule in ("least", "one_standard_error")
    )
    assert least.alpha_1se_ == rule.alpha_1se_ == rule.alpha_ > least.alpha_
    assert least.cv_curve_.best_alpha == rule.cv_curve_.best_alpha == least.alpha_
    errors = rule.mse_path_.mean(axis=1)
    bound = errors.min() + rule.mse_path_[errors.argmin()].std(ddof=1) / np.sqrt(rule.mse_path_.shape[1])
    near = rule.alphas_[errors <= bound].max()
    assert rule.alpha_ == pytest.approx(near, rel=0.3)  # folds of 88 and 89 rows have unlike weights
    same = {"ElasticNetCV": tractable.ElasticNet, "LassoCV": tractable.Lasso}[kind](alpha=rule.alpha_).fit(
        X, y
    )
    np.testing.assert_allclose(rule.coef_, same.coef_, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("options", [{"l1_ratio": 1.5}, {"l1_ratio": []}, {"l1_ratio": "half"}])
def test_shares_outside_of_0_and_1_are_refused(diabetes, options):
    with pytest.raises(ValueError, match="l1_ratio must be numbers from 0 to 1"):
        tractable.ElasticNetCV(**options).fit(*diabetes)
    with pytest.raises(ValueError, match="rule must be one of"):
        tractable.ElasticNetCV(rule="most").fit(*diabetes)
    with pytest.raises(ValueError, match="l1_ratio must be positive"):
        tractable.ElasticNetCV(l1_ratio=0.0).fit(*diabetes)


@pytest.mark.parametrize("l1_ratio", [0.0, 0.7])
def test_paths_of_folds_are_separate_fits(iris, l1_ratio):
    X, y = iris
    Cs, folds = [0.05, 1.0], list(StratifiedKFold(3).split(X, y))
    found = tractable.LogisticRegressionCV(Cs=Cs, cv=folds, l1_ratios=[l1_ratio]).fit(X, y)
    for f, (train, test) in enumerate(folds):
        for j, C in enumerate(Cs):
            alone = tractable.LogisticRegression(C=C, l1_ratio=l1_ratio).fit(X[train], y[train])
            atol = 1e-6 if l1_ratio == 0.0 else 5e-3
            np.testing.assert_allclose(found.coefs_paths_[f, 0, j, :, :-1], alone.coef_, atol=atol)
            log_p = alone.predict_log_proba(X[test])
            codes = np.searchsorted(alone.classes_, y[test])
            expected = log_p[np.arange(len(test)), codes].mean()
            assert found.scores_[f, 0, j] == pytest.approx(expected, abs=atol)
    assert Cs[int(found.scores_.mean(axis=(0, 1)).argmax())] == found.C_
    whole = tractable.LogisticRegression(C=found.C_, l1_ratio=l1_ratio).fit(X, y)
    np.testing.assert_allclose(found.coef_, whole.coef_, atol=1e-10)
    np.testing.assert_allclose(found.predict_proba(X), whole.predict_proba(X), atol=1e-10)
    assert found.log_likelihood_ == pytest.approx(whole.log_likelihood_, rel=1e-10)


def test_logistic_choice_equals_scikit_learn(iris):
    X, y = iris
    options = {"Cs": [0.01, 0.1, 1.0, 10.0], "cv": 3}
    ours = tractable.LogisticRegressionCV(**options).fit(X, y)
    theirs = linear_model.LogisticRegressionCV(
        **options,
        scoring="neg_log_loss",
        l1_ratios=(0.0,),
        use_legacy_attributes=False,
        tol=1e-10,
        max_iter=5000,
    ).fit(X, y)
    assert ours.C_ == theirs.C_
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.scores_, theirs.scores_, atol=1e-5)


def test_a_scorer_and_the_one_standard_error_rule(iris):
    X, y = iris
    options = {"Cs": 5, "cv": 3, "scoring": "accuracy"}
    least = tractable.LogisticRegressionCV(**options).fit(X, y)
    rule = tractable.LogisticRegressionCV(**options, rule="one_standard_error").fit(X, y)
    assert 0.0 <= least.scores_.min() <= least.scores_.max() <= 1.0
    assert rule.C_ == rule.C_1se_ == least.C_1se_ <= least.C_
    assert least.cv_curve_.score == "minus accuracy"
    mean = rule.scores_[:, 0].mean(axis=0)
    error = rule.scores_[:, 0, mean.argmax()].std(ddof=1) / np.sqrt(3)
    assert rule.Cs_[mean >= mean.max() - error].min() == rule.C_


def test_weights_of_rows_count_in_scores(iris):
    X, y = iris
    weights = np.where(np.arange(len(y)) % 10 == 0, 5.0, 1.0)
    folds = list(StratifiedKFold(3).split(X, y))
    found = tractable.LogisticRegressionCV(Cs=[1.0], cv=folds).fit(X, y, sample_weight=weights)
    train, test = folds[0]
    alone = tractable.LogisticRegression().fit(X[train], y[train], sample_weight=weights[train])
    log_p = alone.predict_log_proba(X[test])[np.arange(len(test)), np.searchsorted(alone.classes_, y[test])]
    assert found.scores_[0, 0, 0] == pytest.approx(np.average(log_p, weights=weights[test]), abs=1e-7)


def test_bad_input_is_named(iris):
    X, y = iris
    for options, said in (
        ({"Cs": [0.0, 1.0]}, "Cs must be positive"),
        ({"Cs": 0}, "Cs must be"),
        ({"l1_ratios": [2.0]}, "l1_ratios must be numbers from 0 to 1"),
        ({"rule": "best"}, "rule must be one of"),
        ({"cv": 1000}, "cv must be"),
        ({"link": "cauchit"}, "link must be one of"),
    ):
        with pytest.raises(ValueError, match=said):
            tractable.LogisticRegressionCV(**options).fit(X, y)
    rare = np.where(np.arange(len(y)) == 0, "z", y)
    with pytest.raises(ValueError, match="leaves the class 'z'"):
        tractable.LogisticRegressionCV(Cs=[1.0], cv=[(np.arange(1, 150), np.arange(1))]).fit(X, rare)


FOLDED = [
    lambda **options: tractable.LassoCV(alphas=5, **options),
    lambda **options: tractable.ElasticNetCV(alphas=5, **options),
    tractable.RidgeCV,
    lambda **options: tractable.LogisticRegressionCV(Cs=3, **options),
]


@pytest.mark.parametrize("make", FOLDED)
def test_folds_are_searched_alike(iris, make):
    X, y = iris
    X, y = X[:100], (y[:100] == "a") * 1.0
    weights = np.ones(100)
    weights[40:80] = 0.0
    halves = [(np.arange(40), np.arange(40, 80)), (np.arange(20, 100), np.arange(20))]
    curve = make(cv=StratifiedKFold(4).split(X, y)).fit(X, y).cv_curve_
    assert curve.method == "4 folds"
    assert np.all(curve.standard_errors > 0.0)
    with pytest.raises(ValueError, match="a positive entry in the training rows of every fold"):
        make(cv=[halves[0][::-1]]).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="cv must be folds of X and y"):
        make(cv="no folds").fit(X, y)


def test_the_losses_of_a_search_are_those_of_its_folds():
    rng = np.random.default_rng(0)
    rows = Rows(data=rng.standard_normal((30, 2)), y=rng.standard_normal(30), weights=rng.uniform(0, 2, 30))
    rows.weights[20:] = 0.0
    folds = [(np.arange(5, 30), np.arange(5)), (np.arange(20), np.arange(20, 30)), (np.arange(9), [9, 10])]
    grids = [np.array([2.0, 1.0]), np.array([4.0, 3.0])]

    def judge(train, test):
        return [grid * test.y.sum() for grid in grids], len(train.y)

    for weighted in (True, False):
        found = PenaltySearch.over(judge, rows, folds, grids, weighted=weighted)
        share = np.array([rows.weights[test].sum() if weighted else 1.0 for _, test in folds])
        sums = np.array([rows.y[test].sum() for _, test in folds]) * [
            1.0,
            0.0,
            1.0,
        ]  # the second has no weight
        np.testing.assert_allclose(found.losses, np.array(grids)[:, :, None] * sums)
        for curve, grid in zip(found.curves, grids, strict=True):
            np.testing.assert_allclose(curve.scores, grid * (sums @ share) / share.sum())
        assert found.fits == [25, 20, 9]


@pytest.mark.parametrize("scoring", ["no score", 3, ["r2"]])
@pytest.mark.parametrize("kind", ["RidgeCV", "LogisticRegressionCV"])
def test_scorers_are_refused_alike(iris, kind, scoring):
    X, y = iris
    with pytest.raises(ValueError, match="scoring must be a scorer of scikit-learn or its name"):
        getattr(tractable, kind)(cv=3, scoring=scoring).fit(X[:100], (y[:100] == "a") * 1)
