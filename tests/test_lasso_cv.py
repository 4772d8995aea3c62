"""The penalty chosen on rows left out."""

import numpy as np
import pytest
from sklearn import linear_model as peers
from sklearn.model_selection import KFold, ShuffleSplit

from tractable import Lasso, LassoCV, lasso_path


def table(rng, n=80, p=15):
    X = rng.standard_normal((n, p)) + 1.0
    return X, X[:, :3] @ [2.0, -1.0, 0.5] + rng.standard_normal(n)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("shape", [(80, 15), (40, 70)])
def test_errors_and_choice_agree_with_scikit_learn(rng, weighted, shape):
    X, y = table(rng, *shape)
    weights = rng.integers(1, 4, len(y)).astype(float) if weighted else None
    ours = LassoCV(alphas=25, eps=0.01, cv=4).fit(X, y, weights)
    theirs = peers.LassoCV(alphas=25, eps=0.01, cv=4, tol=1e-9, max_iter=100_000).fit(X, y, weights)
    np.testing.assert_allclose(ours.alphas_, theirs.alphas_)
    np.testing.assert_allclose(ours.mse_path_, theirs.mse_path_, rtol=1e-4)
    assert ours.alpha_ == pytest.approx(theirs.alpha_)
    np.testing.assert_allclose(ours.coef_, Lasso(ours.alpha_).fit(X, y, weights).coef_, atol=1e-8)


def test_one_standard_error_is_the_simpler_model(rng):
    X, y = table(rng)
    model = LassoCV(cv=KFold(8)).fit(X, y)
    mean, error = model.mse_path_.mean(axis=1), model.mse_path_.std(axis=1, ddof=1) / np.sqrt(8)
    np.testing.assert_allclose(model.cv_curve_.scores, mean)
    np.testing.assert_allclose(model.cv_curve_.standard_errors, error)
    best = mean.argmin()
    assert model.alpha_ == model.alphas_[best]
    assert model.alpha_1se_ == model.alphas_[np.flatnonzero(mean <= mean[best] + error[best])[0]]
    assert model.alpha_1se_ > model.alpha_
    np.testing.assert_array_equal(model.support_, np.flatnonzero(model.coef_))


def test_any_splitter_and_any_penalties(rng):
    X, y = table(rng)
    model = LassoCV(alphas=[0.1, 1.0, 0.5], cv=ShuffleSplit(3, random_state=0)).fit(X, y)
    assert model.alphas_.tolist() == [1.0, 0.5, 0.1]
    assert model.mse_path_.shape == (3, 3)
    np.testing.assert_allclose(model.path_.coefs, lasso_path(X, y, alphas=[0.1, 0.5, 1.0]).coefs)


def test_a_fold_without_weight_counts_for_nothing(rng):
    X, y = table(rng)
    weights = np.ones(80)
    weights[:20] = 0.0
    some, none = LassoCV(cv=4, alphas=5).fit(X, y, weights), LassoCV(cv=3, alphas=5).fit(X[20:], y[20:])
    assert some.alpha_ == pytest.approx(none.alpha_)


def test_bad_parameters_are_one_clear_error(rng):
    X, y = table(rng)
    for options, named in (
        ({"eps": 0.0}, "eps"),
        ({"precompute": 3}, "precompute"),
        ({"alphas": [-1.0]}, "alphas"),
    ):
        with pytest.raises(ValueError, match=f"{named} must be"):
            LassoCV(**options).fit(X, y)
    with pytest.raises(ValueError, match="X must be rows in memory"):
        LassoCV().fit([(X, y)])
    weights = np.zeros(80)
    weights[:5] = 1.0
    with pytest.raises(ValueError, match="sample_weight must have a positive entry"):
        LassoCV(cv=2, alphas=3).fit(X, y, weights)


@pytest.mark.parametrize(
    "units", [(1e-200, 1.0, 1.0), (1.0, 1e100, 1.0), (1.0, 1e-100, 1.0), (1.0, 1.0, 1e150)]
)
def test_units_do_not_matter(rng, units):
    X, y = table(rng)
    x_unit, y_unit, weight = units
    plain = LassoCV(alphas=20).fit(X, y)
    model = LassoCV(alphas=20).fit(X * x_unit, y * y_unit, np.full(len(y), weight))
    np.testing.assert_allclose(model.alphas_ / x_unit / y_unit, plain.alphas_)
    np.testing.assert_allclose(model.coef_ / y_unit * x_unit, plain.coef_, atol=1e-8)
    np.testing.assert_allclose(model.alpha_1se_ / x_unit / y_unit, plain.alpha_1se_)


@pytest.mark.parametrize("cv", [[1], [], [(1, 2, 3)], "five", 2.5, 1, 0])
def test_bad_folds_are_one_clear_error(rng, cv):
    with pytest.raises(ValueError, match="cv must"):
        LassoCV(cv=cv).fit(*table(rng))
