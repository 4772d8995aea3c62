"""A constant column changes nothing, whatever its number and its place: its rounding was a direction once."""

import numpy as np
import pytest

import tractable

MODELS = {
    "LinearRegression": tractable.LinearRegression,
    "Ridge": lambda: tractable.Ridge(1e-9),
    "RidgeCV": lambda: tractable.RidgeCV([0.1, 1.0]),
    "BayesianRidge": tractable.BayesianRidge,
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    return X, X @ [1.0, 2.0, 3.0, 4.0] + rng.standard_normal(300)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("number", [0.1, -1e8, 1e100, 1e150, 1e-100])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_a_constant_column_changes_nothing(model, number, place, table):
    X, y = table
    known = MODELS[model]().fit(X, y)
    found = MODELS[model]().fit(np.insert(X, place, number, axis=1), y)
    np.testing.assert_allclose(found.coef_, np.insert(known.coef_, place, 0.0), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found.intercept_, known.intercept_, rtol=1e-6)


@pytest.mark.parametrize("number", [0.1, 1e100, 1e-100])
def test_nor_does_one_of_rows_that_are_added(number, table):
    X, y = table
    known, Z = tractable.LinearRegression().fit(X, y), np.insert(X, 2, number, axis=1)
    found = tractable.LinearRegression()
    for part in (slice(100), slice(100, 300)):
        found.partial_fit(Z[part], y[part])
    np.testing.assert_allclose(found.coef_, np.insert(known.coef_, 2, 0.0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(found.intercept_, known.intercept_, rtol=1e-9)
