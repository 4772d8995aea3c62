"""Beside a constant column, coefficients of few rows keep their digits in any units of the others."""

import numpy as np
import pytest

import tractable


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("solver", ["qr", "svd"])
@pytest.mark.parametrize("place", [0, 7, 20])
@pytest.mark.parametrize("n_rows", [40, 24])
@pytest.mark.parametrize("number", [1.0, 0.1])
def test_coefficients_keep_their_digits(rng, weighted, solver, place, n_rows, number):
    scale = np.geomspace(1e-6, 1e6, 20)
    Z = rng.standard_normal((n_rows, 20))
    y, w = Z.sum(axis=1) + 0.01 * rng.standard_normal(n_rows), rng.uniform(0.5, 2.0, n_rows)
    model = tractable.LinearRegression(solver=solver).fit(
        np.insert(Z * scale, place, number, axis=1), y, sample_weight=w if weighted else None
    )
    known = tractable.LinearRegression().fit(Z, y, sample_weight=w if weighted else None)
    found, errors = (np.delete(each, place) * scale for each in (model.coef_, model.coef_std_errors_))
    np.testing.assert_allclose(found, known.coef_, rtol=0.0, atol=1e-12)
    np.testing.assert_allclose(errors, known.coef_std_errors_, rtol=1e-11)
    assert model.coef_[place] == 0.0
    assert np.isinf(model.coef_std_errors_[place])
    assert model.rank_ == 20
    np.testing.assert_allclose(model.noise_variance_, known.noise_variance_, rtol=1e-10)


def test_nor_does_ridge_without_a_penalty_lose_them(rng):
    scale, Z = np.geomspace(1e-6, 1e6, 20), rng.standard_normal((40, 20))
    y = Z.sum(axis=1) + 0.01 * rng.standard_normal(40)
    known = tractable.Ridge(alpha=0.0).fit(Z, y)
    found = tractable.Ridge(alpha=0.0).fit(np.insert(Z * scale, 0, 1.0, axis=1), y)
    np.testing.assert_allclose(found.coef_[1:] * scale, known.coef_, rtol=0.0, atol=1e-12)


@pytest.mark.parametrize("solver", ["qr", "svd"])
def test_equal_columns_still_share_their_coefficient(rng, solver):
    Z = rng.standard_normal((40, 20))
    Z[:, 3] = Z[:, 5]
    y = Z.sum(axis=1) + 0.01 * rng.standard_normal(40)
    found = tractable.LinearRegression(solver=solver).fit(np.insert(Z, 0, 1.0, axis=1), y)
    known = np.linalg.lstsq(Z - Z.mean(axis=0), y - y.mean(), rcond=None)[0]
    np.testing.assert_allclose(found.coef_, np.append(0.0, known), rtol=0.0, atol=1e-12)
