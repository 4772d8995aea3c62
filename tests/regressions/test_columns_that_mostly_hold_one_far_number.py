"""A column that holds one number far from the origin in nearly all rows keeps its digits."""

import numpy as np
import pytest

import tractable

N = 130_000


@pytest.mark.parametrize("frequency", [0.1, 0.02, 0.001])  # the last ones are not seen in a few rows
@pytest.mark.parametrize("offset", [1e9, 1e11])
@pytest.mark.parametrize("dependent", [False, True])  # products of columns, and a QR
@pytest.mark.parametrize("weighted", [False, True])
def test_coefficients_do_not_depend_on_the_origin(rng, frequency, offset, dependent, weighted):
    X = np.round(rng.standard_normal((N, 3)) * 2.0**10) / 2.0**10
    X[:, 1] = 0.25 * (rng.random(N) < frequency)
    if dependent:
        X[:, 0] = X[:, 1] + np.round(0.01 * X[:, 0] * 2.0**12) / 2.0**12
    y, w = X.sum(axis=1) + rng.standard_normal(N), None
    if weighted:
        w = np.ones(N)
        w[::3] = 0.0
    known = tractable.LinearRegression().fit(X, y, sample_weight=w)
    found = tractable.LinearRegression().fit(X + np.array([0.0, offset, 0.0]), y, sample_weight=w)
    np.testing.assert_allclose(found.coef_, known.coef_, rtol=1e-10, atol=1e-11)
    np.testing.assert_allclose(found.coef_std_errors_, known.coef_std_errors_, rtol=1e-9)
