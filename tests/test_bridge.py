"""Penalties |w|^q and the norms behind them."""

import numpy as np
import pytest

from tractable import Lasso, Ridge, bridge_regression, lp_norm
from tractable.arrays.namespace import to_numpy


def table(rng, n=50, p=8):
    X = rng.standard_normal((n, p)) + 3.0
    return X, X[:, :4] @ [1.0, 2.0, -3.0, 0.5] + rng.standard_normal(n)


@pytest.mark.spec("LIN-33")
@pytest.mark.parametrize("q", [1.05, 1.2, 1.5, 1.9, 2.0, 2.5, 3.0, 4.0, 8.0])
@pytest.mark.parametrize("shape", [(50, 8), (15, 40)])
def test_the_slope_of_the_fit_is_that_of_the_penalty(rng, q, shape):
    X, y = table(rng, *shape)
    weights = rng.integers(1, 4, len(y))
    for alpha in (1e-2, 1.0):
        fit = bridge_regression(X, y, alpha, q, sample_weight=weights)
        assert fit.converged
        left = weights * (y - fit.predict(X))
        centred = X - np.average(X, axis=0, weights=weights)
        slope = centred.T @ left / weights.sum()
        expected = alpha * q * np.sign(fit.coef) * np.abs(fit.coef) ** (q - 1.0)
        scale = np.abs(centred.T @ (weights * (y - np.average(y, weights=weights)))).max() / weights.sum()
        np.testing.assert_allclose(slope, expected, rtol=0, atol=1e-7 * scale)
        assert left.sum() == pytest.approx(0.0, abs=1e-8 * np.abs(left).sum())


@pytest.mark.spec("LIN-33")
@pytest.mark.parametrize("q", [1.1, 1.5, 1.9, 2.0, 3.0, 4.0, 6.0, 20.0, 50.0])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e3, 1e6])
def test_what_is_called_converged_is_where_newton_rests(rng, q, unit):
    """However far from the minimum a start of high powers would be, and however small the penalty."""
    A = rng.standard_normal((30, 5))
    A -= A.mean(axis=0)
    b = unit * (A @ [1.0, 0.0, 3.0, 0.0, 0.01] + rng.standard_normal(30))
    for alpha in (1e-12, 1e-3, 0.1, 1e6):
        fit = bridge_regression(A, b, alpha, q, fit_intercept=False)
        assert fit.converged
        w, bend = fit.coef, 30 * alpha * q * np.abs(fit.coef) ** (q - 2.0)
        step = np.linalg.solve(A.T @ A + np.diag((q - 1.0) * bend), A.T @ (A @ w - b) + bend * w)
        assert np.abs(step).max() <= 1e-9 * np.abs(w).max()


def test_a_high_power_holds_coefficients_near_one(rng):
    A = rng.standard_normal((30, 5))
    b = A @ [1.0, 0.0, 3.0, 0.0, 0.01] + rng.standard_normal(30)
    fit = bridge_regression(A, b, 1e-3, 50.0, fit_intercept=False)
    clipped = np.clip(fit.coef, -0.95, 0.95)
    other = 0.5 * np.mean((b - A @ clipped) ** 2) + 1e-3 * np.sum(np.abs(clipped) ** 50)
    assert fit.objective <= other < 10.0


@pytest.mark.parametrize("q", [1.05, 1.5, 3.0])
def test_a_penalty_of_next_to_nothing_leaves_least_squares(rng, q):
    X, y = table(rng)
    fit = bridge_regression(X, y, 1e-13, q)
    plain = np.linalg.lstsq(X - X.mean(axis=0), y - y.mean())[0]
    np.testing.assert_allclose(fit.coef, plain, rtol=0, atol=1e-11)


@pytest.mark.spec("LIN-33")
def test_the_lasso_and_ridge_regression_are_bridges(rng):
    X, y = table(rng)
    for alpha in (0.01, 0.5):
        np.testing.assert_allclose(
            bridge_regression(X, y, alpha, 1.0).coef, Lasso(alpha).fit(X, y).coef_, atol=1e-9
        )
        np.testing.assert_allclose(
            bridge_regression(X, y, alpha, 2.0).coef, Ridge(alpha=2 * 50 * alpha).fit(X, y).coef_, atol=1e-9
        )
        near = bridge_regression(X, y, alpha, 1.0001).coef
        np.testing.assert_allclose(near, Lasso(alpha).fit(X, y).coef_, atol=1e-2)


def test_only_the_lasso_sets_coefficients_to_zero(rng):
    X, y = table(rng)
    zeros = [np.count_nonzero(bridge_regression(X, y, 0.5, q).coef == 0) for q in (1.0, 1.5, 2.0, 3.0)]
    assert zeros[0] > 0
    assert zeros[1:] == [0, 0, 0]


def test_no_coefficients_have_a_lower_objective(rng):
    X, y = table(rng)
    for q in (1.0, 1.3, 2.0, 3.5):
        fit = bridge_regression(X, y, 0.3, q, fit_intercept=False)
        assert fit.intercept == 0.0

        def objective(w, q=q):
            return 0.5 * np.mean((y - X @ w) ** 2) + 0.3 * np.sum(np.abs(w) ** q)

        assert fit.objective == pytest.approx(objective(fit.coef))
        assert all(objective(fit.coef + s * rng.standard_normal(8)) > fit.objective for s in (1.0, 0.1, 1e-3))


@pytest.mark.parametrize(
    ("options", "named"),
    [({"q": 0.5}, "q"), ({"q": np.nan}, "q"), ({"alpha": 0.0}, "alpha"), ({"alpha": -1}, "alpha")],
)
def test_bad_penalties_are_one_clear_error(rng, options, named):
    with pytest.raises(ValueError, match=f"{named} must be"):
        bridge_regression(*table(rng), **options)


@pytest.mark.spec("LIN-33")
def test_norms(rng, backend):
    x = rng.standard_normal((3, 7))
    for p in (1.0, 1.5, 2.0, 5.0, np.inf):
        for axis in (0, -1):
            found = lp_norm(backend.asarray(x), p, axis=axis)
            assert backend.owns(found)
            np.testing.assert_allclose(to_numpy(found), np.linalg.norm(x, p, axis=axis), rtol=1e-13)


def test_norms_of_huge_tiny_and_no_numbers(rng):
    assert lp_norm([3e200, 4e200]) == pytest.approx(5e200)
    assert lp_norm([]) == lp_norm([], np.inf) == 0.0
    assert lp_norm([3e-200, 4e-200], 3.0) == pytest.approx(1e-200 * 91 ** (1 / 3))
    assert lp_norm([0.0, 0.0], 1.5) == 0.0
    assert lp_norm([1.0, np.inf], 2.0) == np.inf
    a, b = rng.standard_normal((2, 100, 4))
    for p in (1.0, 1.7, 3.0):
        assert np.all(lp_norm(a + b, p) <= lp_norm(a, p) + lp_norm(b, p) + 1e-12)
    for p in (0.5, np.nan, "2", None, -np.inf):
        with pytest.raises(ValueError, match="p must be a number from 1"):
            lp_norm([1.0], p)
