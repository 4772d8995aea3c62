"""The conditions of optimality reject the classic mistakes of sparse fits."""

import numpy as np
import pytest

from optimality import assert_lasso_optimal, centred
from tractable import ElasticNet, Lasso, bridge_regression, lars_path


@pytest.fixture
def data(rng):
    X = rng.standard_normal((40, 8)) @ rng.standard_normal((8, 8)) + 2.0
    return X, X @ [3.0, -2.0, 1.0, 0.5, 0.0, 0.0, 1.0, -1.0] + rng.standard_normal(40) + 4.0


def textbook_units(X, y):
    """λ of |y - Xw|² + λ|w|₁ taken for alpha."""
    return Lasso(0.3 * 2 * len(y)).fit(X, y).coef_


def forgotten_half(X, y):
    """The soft threshold λ of ½|y - Xw|², where it should be λ/2 of |y - Xw|²."""
    return Lasso(2 * 0.3).fit(X, y).coef_


def no_centring(X, y):
    """The intercept left out."""
    return Lasso(0.3, fit_intercept=False).fit(X, y).coef_


def shrunken_least_squares(X, y):
    """The rule of orthonormal columns, where columns are not orthonormal."""
    A, b, n = centred(X, y)
    ols = np.linalg.lstsq(A, b)[0]
    return np.sign(ols) * np.maximum(np.abs(ols) - 0.3 * n / np.sum(A * A, axis=0), 0.0)


def thresholded_ridge(X, y):
    """Small coefficients of another model, set to zero."""
    coef = ElasticNet(0.3, l1_ratio=0.0).fit(X, y).coef_
    return np.where(np.abs(coef) > 0.3, coef, 0.0)


def refitted_support(X, y):
    """Least squares on the columns that the lasso chose."""
    A, b, _ = centred(X, y)
    coef, used = np.zeros(8), Lasso(0.3).fit(X, y).support_
    coef[used] = np.linalg.lstsq(A[:, used], b)[0]
    return coef


def one_column_too_few(X, y):
    """The smallest column in use left out."""
    used = Lasso(0.3).fit(X, y).support_
    smallest = used[np.argmin(np.abs(Lasso(0.3).fit(X, y).coef_[used]))]
    kept = np.delete(np.arange(8), smallest)
    return np.insert(Lasso(0.3).fit(X[:, kept], y).coef_, smallest, 0.0)


@pytest.mark.parametrize(
    "mutant",
    [
        textbook_units,
        forgotten_half,
        no_centring,
        shrunken_least_squares,
        thresholded_ridge,
        refitted_support,
        one_column_too_few,
    ],
    ids=lambda m: m.__name__,
)
def test_mistakes_are_rejected(data, mutant):
    X, y = data
    assert_lasso_optimal(X, y, Lasso(0.3).fit(X, y).coef_, 0.3)
    with pytest.raises(AssertionError):
        assert_lasso_optimal(X, y, mutant(X, y), 0.3)


def test_a_skipped_knot_is_rejected(data):
    X, y = data
    path = lars_path(X, y)
    alpha = 0.5 * (path.alphas[1] + path.alphas[2])
    assert_lasso_optimal(X, y, path.at(alpha), alpha)
    share = (path.alphas[0] - alpha) / (path.alphas[0] - path.alphas[3])
    with pytest.raises(AssertionError):
        assert_lasso_optimal(X, y, share * path.coefs[:, 3], alpha)


def test_weights_that_are_ignored_are_rejected(data, rng):
    X, y = data
    weights = rng.integers(1, 9, 40)
    assert_lasso_optimal(X, y, Lasso(0.3).fit(X, y, weights).coef_, 0.3, weights=weights)
    with pytest.raises(AssertionError):
        assert_lasso_optimal(X, y, Lasso(0.3).fit(X, y).coef_, 0.3, weights=weights)


def test_a_penalty_near_the_lasso_is_not_the_lasso(data):
    X, y = data
    with pytest.raises(AssertionError):
        assert_lasso_optimal(X, y, bridge_regression(X, y, 0.3, 1.05).coef, 0.3)
