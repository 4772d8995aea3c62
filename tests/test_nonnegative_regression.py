"""Coefficients that must not be negative: optimality, equality with scikit-learn, streams, refusals."""

import numpy as np
import pytest
from sklearn import linear_model

import tractable
from tractable.engines import nonnegative_least_squares
from tractable.statistics import LinearFactor


@pytest.fixture
def table(rng):
    X = rng.normal(size=(120, 6)) + np.array([0.0, 3.0, -2.0, 0.0, 10.0, 0.0])
    coef = np.array([[1.0, -2.0, 0.5, 0.0, 3.0, -1.0], [-1.0, 2.0, 0.0, 4.0, -3.0, 0.2]])
    return X, X @ coef.T + rng.normal(size=(120, 2)), rng.integers(0, 4, 120)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("alpha", [0.0, 0.3, 50.0])
def test_the_gradient_vanishes_or_points_to_the_bound(table, alpha, fit_intercept):
    X, Y, w = table
    model = tractable.Ridge(alpha, fit_intercept=fit_intercept, positive=True).fit(X, Y, sample_weight=w)
    assert np.all(model.coef_ >= 0.0)
    residuals = Y - model.predict(X)
    gradient = (alpha * model.coef_.T - X.T @ (w[:, None] * residuals)).T
    size = np.linalg.norm(X.T @ (w[:, None] * Y))
    np.testing.assert_allclose(gradient[model.coef_ > 0.0], 0.0, atol=1e-12 * size)
    assert np.all(gradient[model.coef_ == 0.0] >= -1e-12 * size)
    assert 0 < np.sum(model.coef_ == 0.0) < model.coef_.size
    if fit_intercept:
        np.testing.assert_allclose(w @ residuals, 0.0, atol=1e-12 * size)


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("several", [True, False])
def test_scikit_learn_finds_the_same(table, fit_intercept, several):
    X, Y, w = table
    y, options = Y if several else Y[:, 0], {"fit_intercept": fit_intercept, "positive": True}
    ours, theirs = (
        library.LinearRegression(**options).fit(X, y, sample_weight=w)
        for library in (tractable, linear_model)
    )
    np.testing.assert_allclose(ours.coef_, theirs.coef_, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-9)
    ours = tractable.Ridge(2.0, **options).fit(X, y, sample_weight=w)
    theirs = linear_model.Ridge(2.0, tol=1e-14, max_iter=100_000, **options).fit(X, y, sample_weight=w)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)


def test_fewer_rows_than_columns_dependent_and_constant_columns(table):
    X, Y, _ = table
    for rows in (X[:3], X[:4]):
        ours, theirs = (
            library.LinearRegression(positive=True).fit(rows, Y[: len(rows), 0])
            for library in (tractable, linear_model)
        )
        np.testing.assert_allclose(ours.predict(rows), theirs.predict(rows), atol=1e-8)
    wide = np.column_stack([X, np.full(120, 7.0), X[:, 4]])
    found = tractable.LinearRegression(positive=True).fit(wide, Y[:, 0])
    assert found.coef_[6] == 0.0
    np.testing.assert_allclose(
        found.predict(wide), tractable.LinearRegression(positive=True).fit(X, Y[:, 0]).predict(X)
    )


def test_the_statistic_is_all_that_is_needed(table):
    X, Y, w = table
    for make in (tractable.LinearRegression, tractable.Ridge):
        whole = make(positive=True).fit(X, Y, sample_weight=w)
        parts = make(positive=True).partial_fit(X[:50], Y[:50], sample_weight=w[:50])
        parts.partial_fit(X[50:], Y[50:], sample_weight=w[50:])
        halves = [
            make(positive=True).fit(X[s], Y[s], sample_weight=w[s]) for s in (slice(50), slice(50, None))
        ]
        batches = make(positive=True).fit([(X[:50], Y[:50], w[:50]), (X[50:], Y[50:], w[50:])])
        repeated = make(positive=True).fit(np.repeat(X, w, axis=0), np.repeat(Y, w, axis=0))
        for same in (parts, halves[0].merge(halves[1]), batches, repeated):
            np.testing.assert_allclose(same.coef_, whole.coef_, rtol=1e-9, atol=1e-12)
    fit = nonnegative_least_squares(LinearFactor.of(X, Y), 1.0)
    np.testing.assert_allclose(fit.coef, tractable.Ridge(positive=True).fit(X, Y).coef_)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_units_change_the_scale_alone(table, scale):
    X, Y, _ = table
    plain = tractable.LinearRegression(positive=True).fit(X, Y)
    scaled = tractable.LinearRegression(positive=True).fit(X, scale * Y)
    np.testing.assert_allclose(scaled.coef_, scale * plain.coef_, rtol=1e-9)
    np.testing.assert_allclose(
        tractable.LinearRegression(positive=True).fit(scale * X, Y).coef_ * scale, plain.coef_, rtol=1e-9
    )


def test_what_coefficients_at_a_bound_do_not_have_is_refused_and_the_rest_saved(table, tmp_path):
    X, Y, _ = table
    model = tractable.LinearRegression(positive=True).fit(X, Y[:, 0])
    for ask in (
        lambda: model.coef_std_errors_,
        lambda: model.predict_var(X),
        lambda: model.leverage(X),
        model.coef_interval,
        model.summary,
    ):
        with pytest.raises(ValueError, match=r"is not computed: .* at the bound; positive=False has them"):
            ask()
    assert not hasattr(model, "predict_dist")
    assert not hasattr(model, "predict_interval")
    tractable.save(model, tmp_path / "model.tractable")
    np.testing.assert_array_equal(tractable.load(tmp_path / "model.tractable").predict(X), model.predict(X))
    with pytest.raises(ValueError, match="positive=True is not taken with refine=True"):
        tractable.LinearRegression(positive=True, refine=True).fit(X, Y)
    with pytest.raises(ValueError, match="positive=True is not taken with penalize_intercept=True"):
        tractable.Ridge(positive=True, penalize_intercept=True).fit(X, Y)
    with pytest.raises(ValueError, match="positive must be True or False"):
        tractable.Ridge(positive="yes").fit(X, Y)
