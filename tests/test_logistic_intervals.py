"""Intervals of probabilities: far from the origin, and of columns that say nothing."""

import numpy as np
import pytest

import tractable


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
    there, here = (model._curvature_.centered_covariance for model in (moved, near))
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
