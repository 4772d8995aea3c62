"""Intervals of probabilities: far from the origin, and of columns that say nothing; covariances later."""

import pickle

import numpy as np
import pytest

import tractable
from tractable.classification.logistic.problem import LogisticProblem


def problem(rng, k):
    X = np.round(rng.standard_normal((300, 4)) * 2**20) / 2**20
    return X, (X @ rng.standard_normal((4, k)) + rng.gumbel(size=(300, k))).argmax(axis=1)


@pytest.mark.parametrize("k", [2, 3])
@pytest.mark.parametrize("far", [2.0**24, 2.0**28])
@pytest.mark.parametrize("options", [{}, {"C": np.inf}, {"C": 0.1, "l1_ratio": 1.0}])
def test_keep_their_digits_far_from_the_origin(k, far, options, rng):
    X, y = problem(rng, k)
    near, moved = (tractable.LogisticRegression(**options).fit(rows, y) for rows in (X, X + far))
    if "l1_ratio" not in options:
        wide = near.proba_interval(X)
        np.testing.assert_allclose(moved.proba_interval(X + far), wide, atol=1e-15 * far, rtol=1e-6)
    np.testing.assert_allclose(moved._curvature_.shift, near._curvature_.shift + far)
    there, here = (model._curvature_.estimate.centred_covariance for model in (moved, near))
    np.testing.assert_allclose(there, here, rtol=1e-6, atol=1e-9)


def test_of_a_column_that_never_varied(rng):
    """It says nothing where it is what it was, and anything where it is not."""
    X, y = problem(rng, 2)
    wide = np.column_stack([X, np.full(300, 7.0)])
    model = tractable.LogisticRegression(np.inf).fit(wide, y)
    expected = tractable.LogisticRegression(np.inf).fit(X, y).proba_interval(X)
    np.testing.assert_allclose(model.proba_interval(wide), expected, rtol=1e-9)
    wide[:, 4] = 8.0
    np.testing.assert_array_equal(model.proba_interval(wide)[:, 1], np.broadcast_to([0.0, 1.0], (300, 2)))


@pytest.mark.parametrize(("n", "d", "k"), [(200, 4, 2), (200, 4, 3), (150, 90, 2)])
def test_a_covariance_asked_for_later_is_that_of_the_fit(n, d, k, rng):
    """It is not changed with the rows, nor where the model is pickled."""
    X, weights = rng.standard_normal((n, d)), rng.integers(1, 3, n).astype(float)
    y = (X[:, :k] + rng.gumbel(size=(n, k))).argmax(axis=1)
    later, at_once = (tractable.LogisticRegression().fit(X, y, weights) for _ in range(2))
    expected = at_once.parameter_covariance_
    X[:], y[:], weights[:] = 0.0, 0, 5.0
    copied = pickle.loads(pickle.dumps(later))
    for model in (later, copied):
        np.testing.assert_array_equal(model.parameter_covariance_, expected)


def test_a_covariance_of_more_rows_is_computed_from_those_of_the_fit(rng, monkeypatch):
    """They are not copied, and let go then; where they were changed there is an error."""
    X, weights = rng.standard_normal((9000, 130)), rng.integers(1, 3, 9000).astype(float)
    y = (X[:, :2] + rng.gumbel(size=(9000, 2))).argmax(axis=1)
    asked, late = (tractable.LogisticRegression().fit(X, y, weights) for _ in range(2))
    with monkeypatch.context() as patch:
        patch.setattr(LogisticProblem, "deferred_information", lambda problem, found: None)
        at_once = tractable.LogisticRegression().fit(X, y, weights).parameter_covariance_
    np.testing.assert_array_equal(asked.parameter_covariance_, at_once)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(late)).parameter_covariance_, at_once)
    late, again = (tractable.LogisticRegression().fit(X, y, weights) for _ in range(2))
    before, coef = X.copy(), late.coef_[0]
    X += np.outer(X @ coef, coef) / (coef @ coef) - X  # no linear predictor is another
    np.testing.assert_allclose(X @ coef, before @ coef, atol=1e-9)
    with pytest.raises(ValueError, match="X was changed after the fit"):
        again.coef_std_errors_  # noqa: B018
    X[:] = before
    np.testing.assert_array_equal(again.parameter_covariance_, at_once)
    X[0, 0] += 1.0
    with pytest.raises(ValueError, match="X was changed after the fit"):
        late.coef_std_errors_  # noqa: B018
    stored = pickle.loads(pickle.dumps(late))
    np.testing.assert_array_equal(stored.predict_proba(X), late.predict_proba(X))
    with pytest.raises(ValueError, match="before X was changed"):
        stored.coef_std_errors_  # noqa: B018
    np.testing.assert_array_equal(asked.parameter_covariance_, at_once)
