"""Without an absolute penalty the squares of the columns were solved: half of the digits, and no gap."""

import numpy as np
import pytest

from tractable import ElasticNet, Lasso, LinearRegression, Ridge


def ill_conditioned(rng):
    """Columns of unlike scales, nearly dependent in their own."""
    X = rng.standard_normal((60, 6)) + 1e5 * rng.standard_normal((60, 1))
    X *= 10.0 ** np.array([-9, -4, 0, 2, 5, 9])
    return X, X / X.std(axis=0) @ rng.standard_normal(6) + rng.standard_normal(60)


@pytest.mark.parametrize("precompute", [True, False])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_no_penalty_is_least_squares(rng, precompute, fit_intercept):
    X, y = ill_conditioned(rng)
    model = Lasso(0.0, precompute=precompute, fit_intercept=fit_intercept).fit(X, y)
    plane = LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    # A solve that is stable is right to a part of the largest coefficient in units of the columns.
    of_scaled, desired = model.coef_ * X.std(axis=0), plane.coef_ * X.std(axis=0)
    np.testing.assert_allclose(of_scaled, desired, rtol=0.0, atol=1e-9 * np.abs(desired).max())
    assert 0.0 < model.dual_gap_ <= 1e-12 * y.var()


@pytest.mark.parametrize("precompute", [True, False])
@pytest.mark.parametrize("shape", [(60, 6), (20, 40)])
def test_only_squares_are_ridge_regression(rng, precompute, shape):
    X = rng.standard_normal(shape) + 1e6 * rng.standard_normal((shape[0], 1))
    y = rng.standard_normal(shape[0])
    model = ElasticNet(1e-3, l1_ratio=0.0, precompute=precompute).fit(X, y)
    plane = Ridge(1e-3 * shape[0]).fit(X, y)
    np.testing.assert_allclose(model.coef_, plane.coef_, rtol=1e-7, atol=1e-9)
    assert 0.0 < model.dual_gap_ <= 1e-8 * y.var()


@pytest.mark.parametrize("alpha", [0.0, 1e-3])
def test_coefficients_from_zero_are_found_in_any_units(rng, alpha):
    X = rng.standard_normal((50, 6))
    y = X @ [1.0, -1.0, 2.0, 0.5, -0.2, 0.0] + rng.standard_normal(50)
    scale = 10.0 ** np.array([-9, -4, 0, 2, 5, 9]) if alpha == 0.0 else np.ones(6)
    model = ElasticNet(alpha, l1_ratio=0.0, positive=True).fit(X * scale, y)
    A, b, w = X - X.mean(axis=0), y - y.mean(), model.coef_ * scale
    slope = A.T @ (b - A @ w) / 50 - alpha * w
    assert np.all(w >= 0.0)
    np.testing.assert_allclose(slope[w > 0.0], 0.0, atol=1e-12)
    assert np.all(slope <= 1e-12)
    assert model.dual_gap_ <= 1e-14 * y.var()


def test_the_gap_of_an_answer_that_is_not_the_minimum(rng, monkeypatch):
    """The objective at the answer less the gap is never above the minimum."""
    from tractable.linear_model.sparse import path as sparse_solution

    X = rng.standard_normal((50, 4))
    y = X @ rng.standard_normal(4) + rng.standard_normal(50)
    A, b = X - X.mean(axis=0), y - y.mean()
    for alpha in (0.0, 0.5):
        best = ElasticNet(alpha, l1_ratio=0.0).fit(X, y)
        with monkeypatch.context() as patch:
            exact, spoiled = sparse_solution._ridge, []

            def rough(*arguments, exact=exact, spoiled=spoiled):
                w = exact(*arguments)
                spoiled.append(w)
                return w + 0.01 if len(spoiled) == 1 else w

            patch.setattr(sparse_solution, "_ridge", rough)
            model = ElasticNet(alpha, l1_ratio=0.0, tol=1.0).fit(X, y)
        at, least = (0.5 * np.mean((b - A @ w) ** 2) + 0.5 * alpha * w @ w for w in (model.coef_, best.coef_))
        assert 0.0 < at - least <= model.dual_gap_ * (1.0 + 1e-9)
