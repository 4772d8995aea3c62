"""Sizes beyond 1e±154 made leaving out die of its own decomposition; means far off cost Ridge its digits."""

import numpy as np
import pytest

from tractable import Ridge, RidgeCV


def rows(rng, shape):
    X = rng.normal(size=shape)
    return X, 1.0 + X[:, :3] @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=shape[0])


@pytest.mark.parametrize("method", ["loo", "gcv"])
@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("shape", [(60, 3), (12, 30)])
def test_sizes_that_cannot_be_squared_are_one_clear_error(rng, shape, intercept, method):
    X, y = rows(rng, shape)
    model = RidgeCV(method=method, fit_intercept=intercept)
    for wide, tall, named in [(1e200, 1.0, "X"), (1.0, 1e200, "y"), (1.0, 1e-200, "y")]:
        with pytest.raises(
            ValueError, match=rf"{named} (must be in units nearer to one|has values so (large|small))"
        ):
            model.fit(wide * X, tall * y)
    with pytest.raises(ValueError, match=r"X (must be in units nearer to one|has values so (large|small))"):
        model.set_params(alphas=[0.0]).fit(1e-200 * X, y)


@pytest.mark.parametrize("shape", [(60, 3), (12, 30)])
def test_large_targets_change_units_alone(rng, shape):
    X, y = rows(rng, shape)
    plain = RidgeCV(np.logspace(-3, 3, 7)).fit(X, y)
    for tall in (1e100, 1e-100, 1e140):
        model = RidgeCV(np.logspace(-3, 3, 7)).fit(X, tall * y)
        assert model.alpha_ == plain.alpha_
        for name in ("scores", "standard_errors"):
            found = getattr(model.cv_curve_, name) / tall**2
            np.testing.assert_allclose(found, getattr(plain.cv_curve_, name), rtol=1e-9)
        np.testing.assert_allclose(model.predict(X) / tall, plain.predict(X), rtol=1e-9)
        np.testing.assert_allclose(model.noise_variance_ / tall**2, plain.noise_variance_, rtol=1e-9)


def exactly(X, y, alpha):
    """The coefficients of ridge regression on the given floats, by exact arithmetic."""
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(80):
        A, b = np.array(X.tolist(), dtype=object) * mpmath.mpf(1), np.array(y.tolist()) * mpmath.mpf(1)
        A, b = A - A.sum(axis=0) / len(b), b - b.sum() / len(b)
        inner = mpmath.matrix((A @ A.T).tolist()) + alpha * mpmath.eye(len(b))
        told = mpmath.lu_solve(inner, mpmath.matrix(b.tolist()))
        return np.array([float(v) for v in A.T @ np.array(list(told))])


@pytest.mark.parametrize("alpha", [1e-3, 1.0])
@pytest.mark.parametrize("model", [Ridge, lambda alpha: RidgeCV([alpha])])
def test_few_rows_far_from_the_origin_keep_their_digits(rng, alpha, model):
    X = rng.standard_normal((15, 30)) + 1e9
    y = rng.standard_normal(15)
    np.testing.assert_allclose(model(alpha).fit(X, y).coef_, exactly(X, y, alpha), rtol=1e-11)


@pytest.mark.parametrize("weights", [None, np.arange(1.0, 16.0)])
def test_a_long_direction_that_rows_share_leaves_the_intercept_alone(rng, weights):
    """The direction of the intercept is projected out, not planted beside the longest."""
    X = rng.standard_normal((15, 30)) + 1e7 * rng.standard_normal((15, 1))
    y = rng.standard_normal(15)
    model = RidgeCV([1e-2]).fit(X, y, sample_weight=weights)
    residuals = y - model.predict(X)
    assert abs(np.average(residuals, weights=weights)) < 1e-15 * 1e7
    twin = Ridge(1e-2).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.coef_, twin.coef_, atol=1e-6 * np.abs(twin.coef_).max())
