"""Linear fits of several blocks of rows at 1e7 or 1e9 have the digits of the same rows at 0."""

import numpy as np
import pytest

import tractable


def rounded(x):
    """Return multiples of 2⁻¹⁰, which stay exact far from the origin."""
    return np.round(x * 2.0**10) / 2.0**10


@pytest.mark.parametrize("offset", [1e7, 1e9])
@pytest.mark.parametrize(("n_rows", "n_columns"), [(200_000, 5), (20_000, 80)])
@pytest.mark.parametrize("dependent", [False, True])  # products of columns, and a QR
def test_coefficients_do_not_depend_on_the_origin(rng, n_rows, n_columns, offset, dependent):
    X = rounded(rng.standard_normal((n_rows, n_columns)))
    if dependent:
        X[:, 1] = X[:, 0] + rounded(0.02 * X[:, 1])
    y = rounded(X.sum(axis=1) + rng.standard_normal(n_rows))
    near, far = (
        tractable.LinearRegression().fit(X, y),
        tractable.LinearRegression().fit(X + offset, y + offset),
    )
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=0.0, atol=1e-11 if dependent else 1e-13)
    np.testing.assert_allclose(far.coef_std_errors_, near.coef_std_errors_, rtol=1e-10)
