"""Without degrees of freedom a Student-t has no mean: with its spread, `predict` said NaN, not its answer."""

import warnings

import numpy as np
import pytest

from tractable import BayesianLinearRegression, LinearRegression, RobustRegression


def example(rng):
    X = rng.normal(size=(200, 3))
    return X, 1.0 + X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=200)


def few_rows(rng):
    X, y = example(rng)
    return LinearRegression().fit(X[:5], y[:5]), X


def two_rows(rng):
    X, y = example(rng)
    return BayesianLinearRegression().fit(X[:2], y[:2]), X


def far_outliers(rng):
    X, y = example(rng)
    y[:10] += 1e6
    return RobustRegression("student").fit(X, y), X


def several_targets(rng):
    X, y = example(rng)
    return LinearRegression().fit(X[:5], np.column_stack([y, -y])[:5]), X


@pytest.mark.parametrize("fitted", [few_rows, two_rows, far_outliers, several_targets])
def test_the_answer_is_the_same_with_its_spread(rng, fitted):
    model, X = fitted(rng)
    predicted = model.predict_dist(X)
    assert np.all(getattr(predicted, "components", predicted).dof <= 1.0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        centre, spread = model.predict(X, return_std=True)
        variance = model.predict_var(X)
    np.testing.assert_allclose(centre, model.predict(X), rtol=1e-12)
    assert np.all(spread == np.inf)
    assert np.all(variance == np.inf)


@pytest.mark.parametrize("coverage", ["a", None, 0.0, 1.0, np.nan, [0.5]])
def test_a_coverage_that_is_none(rng, coverage):
    model, X = few_rows(rng)
    with pytest.raises(ValueError, match="coverage must be"):
        model.predict_interval(X, coverage=coverage)


@pytest.mark.parametrize("alpha", ["a", None, [[0.5]], [0.0]])
def test_levels_that_are_none(rng, alpha):
    model, X = few_rows(rng)
    with pytest.raises(ValueError, match="alpha must be"):
        model.predict_quantiles(X, alpha)
