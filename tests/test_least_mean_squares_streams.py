"""Gradient steps along a stream: steps, scaling and the bound follow all rows so far, not the first."""

import numpy as np
import pytest
from sklearn.exceptions import DataConversionWarning

from quick import some
from tractable import LeastMeanSquares
from tractable.linear_model import FeatureScaling
from tractable.statistics.standardizer import Standardizer


def problem(rng, n=400):
    X = rng.normal(size=(n, 3))
    return X, 2.0 + X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=n)


def one_at_a_time(model, X, y):
    for row, target in zip(X, y, strict=True):
        model.partial_fit(row[None], [target])
    return model


@pytest.mark.spec("SEQ-10", "SEQ-12")
@pytest.mark.parametrize("d", some([1, 3]))
@pytest.mark.parametrize(
    "options", some([{}, {"fit_intercept": False}, {"batch_size": None}, {"average": True}])
)
@pytest.mark.parametrize("standardize", some([False, True]))
def test_the_default_step_follows_a_stream_of_single_rows(options, d, standardize):
    """A first row that is short says little of how long the others are."""
    for seed in range(3):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(400, d))
        X[0] *= 1e-2
        y = X @ np.arange(1.0, d + 1) + 0.1 * rng.normal(size=400)
        model = one_at_a_time(LeastMeanSquares(standardize=standardize, **options), X, y)
        # The mean of the weights has the first jumps in it, the last weights have only the noise.
        np.testing.assert_allclose(model.coef_, np.arange(1.0, d + 1), atol=0.5 if model.average else 0.15)


@pytest.mark.slow
def test_a_source_whose_first_batch_is_small(rng):
    X, _ = problem(rng, n=200)
    X[:5] *= 0.01
    y = 2.0 + X @ [1.0, 2.0, 3.0] + 0.1 * rng.normal(size=200)
    batches = [(X[i : i + 5], y[i : i + 5]) for i in range(0, 200, 5)]
    for standardize in (False, True):
        model = LeastMeanSquares(standardize=standardize).fit(batches)
        np.testing.assert_allclose(model.coef_, [1.0, 2.0, 3.0], atol=0.15)


def test_a_stream_of_single_rows_in_unlike_units(rng):
    X, y = problem(rng)
    units, shift = np.array([1e-3, 1.0, 1e4]), np.array([5.0, -1e2, 1e6])
    model = one_at_a_time(LeastMeanSquares(standardize=True), X * units + shift, y)
    np.testing.assert_allclose(model.coef_ * units, [1.0, 2.0, 3.0], atol=0.2)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_the_scaling_is_that_of_all_rows_however_they_came(fit_intercept, rng):
    X = rng.normal(size=(60, 3)) * [1e-100, 1.0, 1e100] + [0.0, 1e6, 0.0]
    w = rng.uniform(size=60)
    begun = FeatureScaling.initial(3, standardize=True, fit_intercept=fit_intercept)
    whole, pieces = begun.updated(X, w), begun
    for part in np.split(np.arange(60), [1, 2, 3, 20, 21]):
        pieces = pieces.updated(X[part], w[part])
    mean = w @ X / w.sum() if fit_intercept else np.zeros(3)
    for found in (whole, pieces):
        np.testing.assert_allclose(found.standardizer.shift, mean, rtol=1e-9)
        z = (X - mean) * found.standardizer.scale
        np.testing.assert_allclose(w @ z**2 / w.sum(), 1.0, rtol=1e-8)


def test_rescaled_weights_are_the_same_linear_predictor(rng):
    X, ones = rng.normal(size=(20, 3)), np.ones(20)
    before = FeatureScaling.initial(3, standardize=True, fit_intercept=True).updated(X, ones)
    after = before.updated(5.0 * X + 1.0, ones)
    w = rng.normal(size=4)
    np.testing.assert_allclose(after.features(X) @ before.rescaled(w, after), before.features(X) @ w)


def test_columns_as_they_are_given_keep_their_scale(rng):
    given = FeatureScaling(standardizer=Standardizer.identity(2), has_intercept=True)
    assert given.updated(rng.normal(size=(4, 2)), np.ones(4)) is given


@pytest.mark.spec("SEQ-12")
def test_the_bound_that_a_stream_is_told_is_that_of_its_rows(rng):
    X, y = problem(rng)
    model, seen = LeastMeanSquares(step=0.9), 0
    with pytest.raises(ValueError, match="step is too large") as told:  # noqa: PT012
        for seen in range(1, 401):
            model.partial_fit(X[seen - 1 : seen], y[seen - 1 : seen])
    bound = 2.0 / np.mean(1.0 + np.sum(X[:seen] ** 2, axis=1))
    assert f"2 / mean |φ|² = {bound:.3g} over the rows so far" in str(told.value)
    assert bound < 2.0 / np.linalg.eigvalsh(np.cov(X.T)).max()
    assert "standardize=True" in str(told.value)
    with pytest.raises(ValueError, match="smaller ones may be needed"):
        one_at_a_time(LeastMeanSquares(step=0.9, standardize=True), X, y)


def test_a_column_of_targets_is_warned_of_once(rng):
    X, y = problem(rng)
    with pytest.warns(DataConversionWarning) as said:
        model = LeastMeanSquares(random_state=0).fit(X, y[:, None])
    assert len(said) == 1
    np.testing.assert_array_equal(model.coef_, LeastMeanSquares(random_state=0).fit(X, y).coef_)
