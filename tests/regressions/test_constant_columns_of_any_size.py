"""A constant column changes nothing, whatever its number and its place: its rounding was a direction once."""

import numpy as np
import pytest

import tractable

MODELS = {
    "LinearRegression": tractable.LinearRegression,
    "svd": lambda: tractable.LinearRegression(solver="svd"),
    "normal": lambda: tractable.LinearRegression(solver="normal"),
    "Ridge": lambda: tractable.Ridge(1e-9),
    "RidgeCV": lambda: tractable.RidgeCV([0.1, 1.0]),
    "gcv": lambda: tractable.RidgeCV([0.1, 1.0], method="gcv"),
    "BayesianRidge": tractable.BayesianRidge,
}


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((300, 4))
    return X, X @ [1.0, 2.0, 3.0, 4.0] + rng.standard_normal(300)


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("number", [0.1, 1.7e18, -1e100, 1e150, 1e-100])
@pytest.mark.parametrize("place", [0, 2, 4])
def test_a_constant_column_changes_nothing(model, number, place, table):
    X, y = table
    known = MODELS[model]().fit(X, y)
    found = MODELS[model]().fit(np.insert(X, place, number, axis=1), y)
    np.testing.assert_allclose(found.coef_, np.insert(known.coef_, place, 0.0), rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(found.intercept_, known.intercept_, rtol=1e-6)


@pytest.mark.parametrize("model", [name for name in MODELS if name != "BayesianRidge"])
@pytest.mark.parametrize("shape", [(31, 30), (30, 60), (300, 4)])
@pytest.mark.parametrize("number", [1.7e18, 1e100])
def test_nor_where_it_differs_in_a_row_that_does_not_count(model, shape, number, rng):
    X = rng.standard_normal(shape) + 1.0
    y, w = X[:, :2] @ [1.0, 2.0] + rng.standard_normal(len(X)), rng.uniform(0.5, 2.0, len(X))
    w[3] = 0.0
    Z = np.insert(X, 1, number, axis=1)
    Z[3, 1] *= 3.0
    known, found = (MODELS[model]().fit(rows, y, sample_weight=w) for rows in (X, Z))
    np.testing.assert_allclose(found.coef_, np.insert(known.coef_, 1, 0.0), rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(found.intercept_, known.intercept_, rtol=1e-5)


@pytest.mark.parametrize("solver", ["qr", "svd", "normal"])
@pytest.mark.parametrize("number", [0.1, 1e100, 1e-100])
def test_nor_does_one_of_rows_that_are_added(solver, number, table):
    X, y = table
    known, Z = tractable.LinearRegression().fit(X, y), np.insert(X, 2, number, axis=1)
    added, parts = tractable.LinearRegression(solver=solver), (slice(100), slice(100, 300))
    for part in parts:
        added.partial_fit(Z[part], y[part])
    first, second = (tractable.LinearRegression(solver=solver).fit(Z[part], y[part]) for part in parts)
    for found in (added, first.merge(second)):
        np.testing.assert_allclose(found.coef_, np.insert(known.coef_, 2, 0.0), rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.intercept_, known.intercept_, rtol=1e-9)
