"""Intervals of the coefficients of ridge regression are those of the posterior."""

import numpy as np
import pytest
from scipy.stats import t as student

from tractable import LinearRegression, Ridge, RidgeCV


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
