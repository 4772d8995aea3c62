"""Intervals of the coefficients of ridge regression are those of the posterior."""

import numpy as np
import pytest
from scipy.stats import t as student

from tractable import BayesianLinearRegression, LinearRegression, Ridge, RidgeCV


@pytest.mark.parametrize("shape", [(40, 3), (6, 15)])
@pytest.mark.parametrize("penalize_intercept", [False, True])
def test_they_are_the_diagonal_of_the_inverse(shape, penalize_intercept, rng):
    X, y = rng.standard_normal(shape) + 1.0, rng.standard_normal(shape[0])
    model = Ridge(0.7, penalize_intercept=penalize_intercept).fit(X, y)
    A = np.column_stack([np.ones(len(X)), X])
    penalty = np.diag(np.append(float(penalize_intercept), np.ones(shape[1])))
    inverse = np.linalg.inv(A.T @ A + 0.7 * penalty)
    errors = np.sqrt(model.noise_variance_ * np.diagonal(inverse))
    np.testing.assert_allclose(model.coef_std_errors_, errors[1:], rtol=1e-9)
    np.testing.assert_allclose(model.intercept_std_error_, errors[0], rtol=1e-9)
    half = student.ppf(0.95, model.residual_dof_) * errors[1:]
    np.testing.assert_allclose(
        model.coef_interval(0.9), np.stack([model.coef_ - half, model.coef_ + half], 1), rtol=1e-9
    )


def test_without_a_penalty_they_are_least_squares(rng):
    X, y = rng.standard_normal((30, 3)), rng.standard_normal((30, 2))
    ridge, exact = Ridge(0.0).fit(X, y), LinearRegression().fit(X, y)
    np.testing.assert_allclose(ridge.coef_interval(), exact.coef_interval(), rtol=1e-9)
    np.testing.assert_allclose(ridge.intercept_interval(), exact.intercept_interval(), rtol=1e-9)
    chosen = RidgeCV(alphas=[0.1, 10.0]).fit(X, y[:, 0])
    np.testing.assert_allclose(
        chosen.coef_interval(), Ridge(chosen.alpha_).fit(X, y[:, 0]).coef_interval(), rtol=1e-7
    )


@pytest.mark.parametrize("shape", [(40, 3), (6, 15)])
@pytest.mark.parametrize("penalize_intercept", [False, True])
def test_the_table_is_the_posterior_of_the_bayesian_model(shape, penalize_intercept, rng):
    X, y = rng.standard_normal(shape) + 1.0, rng.standard_normal(shape[0])
    model = Ridge(0.7, penalize_intercept=penalize_intercept).fit(X, y)
    table = model.summary(coverage=0.8)
    variance = float(model.noise_variance_)
    options = {"noise_variance": variance, "penalize_intercept": penalize_intercept}
    posterior = BayesianLinearRegression.from_alpha(alpha=0.7 / variance, **options).fit(X, y).posterior_
    np.testing.assert_allclose(table.coefficients, posterior.mean, rtol=1e-8)
    np.testing.assert_allclose(table.covariance, posterior.covariance, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(table.intervals[1:], model.coef_interval(0.8), rtol=1e-9)
    np.testing.assert_allclose(table.intervals[0], model.intercept_interval(0.8), rtol=1e-9)
    assert table.covariance_type == "posterior"
    assert not table.tested
    assert "p value" not in str(table)
    assert "p_value" not in table.to_frame().columns


def test_the_table_without_a_penalty_has_the_tests_of_least_squares(rng):
    X, y = rng.standard_normal((30, 3)), rng.standard_normal((30, 2))
    ours, exact = (model.fit(X, y).summary(target=1) for model in (Ridge(0.0), LinearRegression()))
    np.testing.assert_allclose(ours.p_values, exact.p_values, rtol=1e-8)
    np.testing.assert_allclose([ours.r2, ours.f_test.statistic], [exact.r2, exact.f_test.statistic])
    open_ = Ridge(0.0).fit(np.column_stack([X, X[:, 0]]), y[:, 0]).summary()
    assert np.isinf(open_.std_errors).tolist() == [False, True, False, False, True]
    chosen = RidgeCV([0.1, 10.0]).fit(X, y[:, 0])
    np.testing.assert_allclose(
        chosen.summary().covariance, Ridge(chosen.alpha_).fit(X, y[:, 0]).summary().covariance, rtol=1e-6
    )


@pytest.mark.parametrize("shape", [(9, 30), (40, 6), (25, 20)])
@pytest.mark.parametrize("alpha", [1e-9, 1e-3, 1.0, 1e6])
def test_products_and_spectra_give_one_solution(shape, alpha):
    """`Ridge` solves products of rows or columns where these are safe, `RidgeCV` by a spectrum."""
    rng = np.random.default_rng(7)
    X, Y = rng.standard_normal(shape) + 3.0, rng.standard_normal((shape[0], 2))
    weights = rng.integers(1, 3, shape[0]).astype(float)
    ridge = Ridge(alpha).fit(X, Y, weights)
    spectrum = RidgeCV([alpha]).fit(X, Y, weights)
    new = rng.standard_normal((5, shape[1]))
    np.testing.assert_allclose(ridge.coef_, spectrum.coef_, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(ridge.effective_dof_, spectrum.effective_dof_, rtol=1e-10)
    np.testing.assert_allclose(ridge.leverage(X), spectrum.leverage(X), rtol=1e-8)
    np.testing.assert_allclose(ridge.leverage(new), spectrum.leverage(new), rtol=1e-7)
    np.testing.assert_allclose(ridge.hat_matrix(new), spectrum.hat_matrix(new), rtol=1e-6, atol=1e-9 / alpha)
    if alpha > 1e-6:
        np.testing.assert_allclose(ridge.noise_variance_, spectrum.noise_variance_, rtol=1e-7)
