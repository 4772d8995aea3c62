"""Linearly dependent columns: what the rows do not determine has infinite standard errors."""

import numpy as np
import pytest

import tractable
from tractable.linear_model import LinearRegression, Ridge, RidgeCV, RobustRegression

N = 20


@pytest.fixture
def dependent(rng):
    """Three free columns, the sum of the first two, and a constant one."""
    free = rng.standard_normal((N, 3))
    X = np.column_stack([free, free[:, 0] + free[:, 1], np.full(N, 7.0)])
    return X, 1.0 + free @ [1.0, -2.0, 3.0] + rng.standard_normal(N)


NEW = np.array([[1.0, 1.0, 1.0, 2.0, 7.0], [1.0, 1.0, 1.0, 0.0, 7.0], [1.0, 1.0, 1.0, 2.0, 8.0]])
MODELS = {
    "qr": LinearRegression(),
    "svd": LinearRegression(solver="svd"),
    "normal": LinearRegression(solver="normal"),
    "refined": LinearRegression(refine=True),
    "ridge": Ridge(alpha=0.0),
    "ridge with an intercept among the columns": Ridge(alpha=0.0, penalize_intercept=True),
    "cross-validated": RidgeCV(alphas=[0.0], method="gcv"),
}


@pytest.mark.parametrize("name", MODELS)
def test_intervals_are_infinite_outside_of_the_span_of_the_rows_alone(name, dependent):
    X, y = dependent
    model, plain = MODELS[name].fit(X, y), LinearRegression().fit(X[:, :3], y)
    interval = model.predict_interval(NEW, coverage=0.5)
    np.testing.assert_allclose(interval[0], plain.predict_interval(NEW[:1, :3], coverage=0.5)[0], rtol=1e-9)
    assert np.all(interval[1:] == [-np.inf, np.inf])
    assert np.isinf(model.predict_var(NEW)[1:]).all()
    assert np.isinf(model.predict(NEW, return_std=True)[1][1:]).all()
    np.testing.assert_allclose(model.predict_quantiles(NEW, [0.5])[:, 0], model.predict(NEW))
    np.testing.assert_allclose(model.leverage(X), plain.leverage(X[:, :3]), rtol=1e-9)
    assert np.isfinite(model.predict_interval(X)).all()
    with pytest.raises(ValueError, match="row 1"):
        model.predict_dist(NEW)


@pytest.mark.parametrize("solver", ["qr", "svd", "normal"])
def test_undetermined_coefficients_have_infinite_standard_errors(solver, dependent):
    X, y = dependent
    model, plain = LinearRegression(solver=solver).fit(X, y), LinearRegression().fit(X[:, :3], y)
    determined = np.array([False, False, True, False, False])
    assert np.array_equal(np.isfinite(model.coef_std_errors_), determined)
    np.testing.assert_allclose(model.coef_std_errors_[2], plain.coef_std_errors_[2], rtol=1e-9)
    assert np.isinf(model.intercept_std_error_)
    assert np.all(model.coef_interval()[~determined] == [-np.inf, np.inf])
    covariance = model.coef_covariance_
    assert np.isinf(np.diag(covariance)[~determined]).all()
    assert np.isnan(covariance[0, 1])
    np.testing.assert_allclose(covariance[2, 2], plain.coef_std_errors_[2] ** 2, rtol=1e-9)


def test_units_of_columns_do_not_matter(dependent):
    X, y = dependent
    units = np.array([1e-6, 1e3, 1.0, 1e6, 1e-3])
    model, scaled = LinearRegression().fit(X, y), LinearRegression().fit(X * units, y)
    assert np.array_equal(np.isinf(scaled.coef_std_errors_), np.isinf(model.coef_std_errors_))
    np.testing.assert_allclose(scaled.predict_var(NEW * units), model.predict_var(NEW), rtol=1e-6)


def test_several_targets_are_undetermined_together(dependent):
    X, y = dependent
    model = LinearRegression().fit(X, np.column_stack([y, 2.0 * y]))
    interval = model.predict_interval(NEW)
    assert interval.shape == (3, 2, 2)
    assert np.isfinite(interval[0]).all()
    assert np.isinf(interval[1:]).all()


def test_full_rank_stays_as_it_was(rng):
    X = rng.standard_normal((N, 3)) + 1e6
    model = LinearRegression().fit(X, X @ [1.0, 2.0, 3.0] + rng.standard_normal(N))
    assert np.isfinite(model.coef_std_errors_).all()
    assert np.isfinite(model.predict_interval(rng.standard_normal((5, 3)))).all()


def test_they_survive_saving(dependent, tmp_path):
    X, y = dependent
    for model in (LinearRegression(), Ridge(alpha=0.0), RobustRegression()):
        tractable.save(model.fit(X, y), tmp_path / "model")
        again = tractable.load(tmp_path / "model")
        np.testing.assert_array_equal(again.predict_interval(X), model.predict_interval(X))
