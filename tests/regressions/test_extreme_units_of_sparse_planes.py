"""Units of 1e±149: warnings of NumPy leaked, penalties were blamed, and answers were infinite or nothing."""

import warnings

import numpy as np
import pytest

from quick import some
from tractable import ElasticNet, Lasso, LassoCV, LassoLars, lars_path, lasso_path


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(100, 4))
    return X, 1.0 + X @ [1.0, 2.0, 3.0, 0.0] + rng.normal(size=100)


@pytest.fixture(autouse=True)
def in_silence():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@pytest.mark.parametrize("tall", [1e-150, 1e-100, 1e100, 1e148])
def test_a_choice_by_squared_errors_in_any_units(rows, tall):
    X, y = rows
    plain, scaled = LassoCV().fit(X, y), LassoCV().fit(X, tall * y)
    assert scaled.alpha_ == pytest.approx(tall * plain.alpha_)
    np.testing.assert_allclose(scaled.coef_ / tall, plain.coef_, rtol=1e-6)


@pytest.mark.parametrize("tall", [1e160, 1e200, 1e-160, 1e-200])
def test_errors_that_cannot_be_squared_are_one_clear_error(rows, tall):
    X, y = rows
    with pytest.raises(ValueError, match=r"y (must be in units nearer to one|has values so)"):
        LassoCV().fit(X, tall * y)


@pytest.mark.parametrize("tall", [1e-200, 1e-150, 1.0])
@pytest.mark.parametrize(
    "model", [ElasticNet(0.1), Lasso(0.1), LassoLars(0.1), ElasticNet(0.1, precompute=False)]
)
def test_a_penalty_far_above_the_columns_leaves_nothing(rows, model, tall):
    X, y = rows
    model.fit(1e-160 * X, tall * y)
    np.testing.assert_array_equal(model.coef_, np.zeros(4))
    assert model.intercept_ == pytest.approx(tall * y.mean())


@pytest.mark.parametrize("model", [ElasticNet(0.1), Lasso(0.1)])
@pytest.mark.parametrize(
    ("wide", "tall"), some([(1e148, 1.0), (1e148, 1e148), (1e120, 1e148), (1e100, 1e148)], several=True)
)
def test_a_penalty_far_below_the_columns_leaves_least_squares(rows, model, wide, tall):
    X, y = rows
    plain = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean())[0]
    np.testing.assert_allclose(model.fit(wide * X, tall * y).coef_ * (wide / tall), plain, rtol=1e-9)


@pytest.mark.parametrize(("wide", "tall"), [(1e-100, 1e-100), (1e100, 1e-160), (1e148, 1e100)])
def test_paths_in_any_units(rows, wide, tall):
    X, y = rows
    for path in (lasso_path, lars_path):
        plain, found = path(X, y), path(wide * X, tall * y)
        unit = tall / wide
        np.testing.assert_allclose(found.alphas, plain.alphas * wide * tall, rtol=1e-9)
        np.testing.assert_allclose(found.coefs, plain.coefs * unit, rtol=1e-6, atol=1e-12 * unit)


@pytest.mark.parametrize(
    ("wide", "tall"), [(1e-160, 1e160), (1e-160, 1e200), (1e160, 1e200), (1e-160, 1e-200)]
)
def test_answers_that_are_no_numbers_are_one_clear_error(rows, wide, tall):
    X, y = rows
    for path in (lasso_path, lars_path):
        with pytest.raises(ValueError, match=r"(must be in units nearer to one|has values so)"):
            path(wide * X, tall * y)
    if tall / wide > 1e300:
        for model in (ElasticNet(0.1), Lasso(0.1), LassoLars(0.1)):
            with pytest.raises(ValueError, match=r"(must be in units nearer to one|has values so)"):
                model.fit(wide * X, tall * y)
