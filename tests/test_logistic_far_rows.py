"""Logistic regression where a few rows are so far away that they hide the others; and how exact it is."""

import numpy as np
import pytest
from scipy.special import expit
from sklearn import linear_model as peers

import tractable
from quick import some
from tractable.engines.glm.problem import MOST_SAMPLE


def two_classes(n, rng):
    X = rng.standard_normal((n, 2))
    return X, rng.random(n) < expit(2.0 * X[:, 0])


@pytest.mark.parametrize("n", [3000, MOST_SAMPLE + 5000])
@pytest.mark.parametrize("far", some([1e4, 999_999_999.0, 1e12]))
@pytest.mark.parametrize("options", [{}, {"l1_ratio": 1.0}, {"C": np.inf}, {"link": "probit"}])
def test_a_code_for_missing_values_does_not_hide_the_others(n, far, options, rng):
    """Rows at 1e9 that the plane of the others puts on their side leave it where it would be without them."""
    X, y = two_classes(n, rng)
    coded = rng.random(n) < 0.01
    X[coded, 0], y[coded] = far, True
    model = tractable.LogisticRegression(**options).fit(X, y)
    without = tractable.LogisticRegression(**options).fit(X[~coded], y[~coded])
    assert model.converged_
    np.testing.assert_allclose(model.coef_, without.coef_, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(
        model.score(X[~coded], y[~coded]), without.score(X[~coded], y[~coded]), atol=2e-3
    )


def test_batches_with_far_rows_are_rows(rng):
    X, y = two_classes(3000, rng)
    X[::100, 0], y[::100] = 1e9, True
    parts = np.array_split(np.arange(3000), 4)
    streamed = tractable.LogisticRegression().fit([(X[i], y[i]) for i in parts])
    np.testing.assert_allclose(streamed.coef_, tractable.LogisticRegression().fit(X, y).coef_, rtol=1e-9)


@pytest.mark.parametrize("k", [2, 3, 5])
def test_few_rows_are_learned_to_all_digits_by_default(k, rng):
    """Where the curvature is exact, one more step than `tol` asks for is taken."""
    X = rng.standard_normal((600, 5))
    y = (X @ rng.standard_normal((5, k)) + rng.gumbel(size=(600, k))).argmax(axis=1)
    theirs = peers.LogisticRegression(solver="newton-cholesky", tol=1e-14).fit(X, y)
    ours = tractable.LogisticRegression().fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), rtol=0.0, atol=1e-12)
    sparse, exact = (tractable.LogisticRegression(l1_ratio=1.0, tol=t).fit(X, y) for t in (1e-8, 1e-15))
    np.testing.assert_allclose(sparse.predict_proba(X), exact.predict_proba(X), rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("n", [MOST_SAMPLE + 5000, MOST_SAMPLE + 40_000])
def test_probabilities_of_many_rows_are_as_exact_as_tol_says(n, rng):
    """Root mean square errors are at most √(tol loss / 2), by Pinsker's inequality."""
    X = rng.standard_normal((n, 5))
    y = (X @ rng.standard_normal((5, 3)) + rng.gumbel(size=(n, 3))).argmax(axis=1)
    exact = tractable.LogisticRegression(tol=1e-15).fit(X, y)
    for tol in (1e-4, 1e-6, 1e-8):
        model = tractable.LogisticRegression(tol=tol).fit(X, y)
        error = model.predict_proba(X) - exact.predict_proba(X)
        assert np.sqrt(np.mean(error**2)) <= np.sqrt(tol * exact.loss_ / 2.0)
