"""Squares of sizes beyond 1e±150 are no numbers: fits died of them, or answered with rounding."""

import numpy as np
import pytest

from tractable import (
    ARDRegression,
    BayesianLinearRegression,
    BayesianRidge,
    LinearRegression,
    Ridge,
    RobustRegression,
)

ANSWERED = [(1e148, 1e148), (1e-140, 1e-140), (1e70, 1e-70), (1e-70, 1e70), (1.0, 1e140), (1e-140, 1.0)]
REFUSED = [(1e100, 1e-100), (1e-100, 1e100), (1e200, 1.0), (1e-200, 1.0), (1.0, 1e200), (1.0, 1e-200)]


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(200, 3))
    return X, 1.0 + X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=200)


@pytest.mark.parametrize("model", [BayesianRidge(), BayesianRidge(method="em"), ARDRegression()])
@pytest.mark.parametrize(("wide", "tall"), ANSWERED)
def test_evidence_in_any_units(rows, model, wide, tall):
    X, y = rows
    at, spread = model.fit(X, y).predict(X, return_std=True)
    found, width = model.fit(wide * X, tall * y).predict(wide * X, return_std=True)
    np.testing.assert_allclose(found / tall, at, rtol=1e-9)
    np.testing.assert_allclose(width / tall, spread, rtol=1e-9)
    assert np.all(np.diag(model.sigma_) > 0.0)


@pytest.mark.parametrize("model", [BayesianRidge(), BayesianRidge(method="em"), ARDRegression()])
@pytest.mark.parametrize(("wide", "tall"), REFUSED)
def test_precisions_that_are_no_numbers_are_one_clear_error(rows, model, wide, tall):
    X, y = rows
    with pytest.raises(ValueError, match=r"(must be in units nearer to one|has values so (large|small))"):
        model.fit(wide * X, tall * y)


@pytest.mark.parametrize(
    ("noise", "tall"),
    [("conjugate", 1e200), ("conjugate", 1e-200), ("ml", 1e200), ("ml", 1e-200), (1.0, 1e200)],
)
def test_variances_that_are_no_numbers_are_one_clear_error(rows, noise, tall):
    X, y = rows
    with pytest.raises(ValueError, match=r"y (must be in units nearer to one|has values so (large|small))"):
        BayesianLinearRegression(noise_variance=noise).fit(X, tall * y)


@pytest.mark.parametrize(
    "model", [LinearRegression(), Ridge(1e-3), RobustRegression(), RobustRegression("student", dof=2.0)]
)
def test_large_targets_are_refused_and_small_ones_fitted(rows, model):
    X, y = rows
    plain = model.fit(X, y).coef_
    for tall in (1e148, 1e-200):
        np.testing.assert_allclose(model.fit(X, tall * y).coef_ / tall, plain, rtol=1e-6)
    with pytest.raises(ValueError, match=r"y (must be in units nearer to one|has values so (large|small))"):
        model.fit(X, 1e200 * y)
