"""Latent moments of rows grouped by what is missing equal those of rows taken one by one."""

import numpy as np
import pytest

from quick import some
from tractable.primitives.factors import IncompleteRows, agnostic, factor_pass, latent_posterior, unpacked
from tractable.primitives.factors.compiled import latent_moments


def problem(rng, n, d, r, missing=0.3):
    """Rows with gaps, and mean, loadings and noise."""
    x = 2.0 * rng.standard_normal((n, d))
    x[rng.random((n, d)) < missing] = np.nan
    return x, rng.standard_normal(d), rng.standard_normal((d, r)), rng.uniform(0.3, 3.0, d)


def sums_one_by_one(x, w, mean, loadings, noise):
    """The same sums from the joint normal of (z, x_o), by conditioning each row, without M."""
    d, r = loadings.shape
    first, second, cross = np.zeros((d, r)), np.zeros((d, r, r)), np.zeros((d, r))
    latent_first, latent_second, log_likelihood = np.zeros(r), np.zeros((r, r)), 0.0
    for row, weight in zip(x, w, strict=True):
        seen = ~np.isnan(row)
        if not seen.any():
            continue
        a = loadings[seen]
        covariance = a @ a.T + np.diag(noise[seen])
        gain = np.linalg.solve(covariance, a).T
        step = row[seen] - mean[seen]
        z = gain @ step
        zz = np.eye(r) - gain @ a + np.outer(z, z)
        first[seen] += weight * z
        second[seen] += weight * zz
        cross[seen] += weight * np.outer(row[seen], z)
        latent_first += weight * z
        latent_second += weight * zz
        distance = step @ np.linalg.solve(covariance, step)
        log_norm = np.linalg.slogdet(2.0 * np.pi * covariance)[1]
        log_likelihood -= 0.5 * weight * (distance + log_norm)
    return first, second, cross, latent_first, latent_second, log_likelihood


SIZES = some([(1, 1, 1), (40, 3, 1), (63, 3, 5), (60, 12, 2), (300, 6, 3), (500, 20, 11)], 4, several=True)


def grouped(x, w, params):
    """What the two forms take: matrices and shifts of the patterns, and products of the rows."""
    rows = IncompleteRows.of(x, w)
    mean, loadings, noise = params
    i, j = np.tril_indices(loadings.shape[1])
    scaled = loadings / noise[:, None]
    matrices = rows.masks @ (scaled[:, i] * loadings[:, j]) + (i == j)
    return matrices, rows.masks @ (scaled * mean[:, None]), rows.x @ scaled, rows.begins, rows.weights


@pytest.mark.parametrize(("n", "d", "r"), SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_compiled_equals_obvious_equals_rows_one_by_one(n, d, r, weighted, rng):
    x, *params = problem(rng, n, d, r)
    w = rng.integers(0, 3, n).astype(float) if weighted else np.ones(n)
    given = grouped(x, w, params)
    for found, expected in zip(latent_moments(*given), agnostic.latent_moments(*given), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-11, atol=1e-11 * max(n, 1))
    found = factor_pass(IncompleteRows.of(x, w), *params)
    found = found._replace(second=unpacked(found.second, r), latent_second=unpacked(found.latent_second, r))
    for name, expected in zip(found._fields, sums_one_by_one(x, w, *params), strict=True):
        np.testing.assert_allclose(
            getattr(found, name), expected, rtol=1e-10, atol=1e-10 * max(n, 1), err_msg=name
        )


def test_determinants_of_many_factors_and_little_noise_do_not_overflow(rng):
    x, mean, loadings, _ = problem(rng, 200, 60, 40, missing=0.05)
    given = grouped(x, None, (mean, loadings, np.full(60, 1e-12)))
    found, expected = latent_moments(*given)[4], agnostic.latent_moments(*given)[4]
    assert np.isfinite(expected)
    np.testing.assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("form", [latent_moments, agnostic.latent_moments])
def test_rows_of_nothing_count_for_nothing(form, rng):
    x, *params = problem(rng, 80, 3, 2)
    x[[0, 7, 8, 79]] = np.nan
    some_rows = form(*grouped(x, None, params))
    fewer = form(*grouped(x[~np.isnan(x).all(axis=1)], None, params))
    for found, expected in zip(some_rows, fewer, strict=True):
        np.testing.assert_array_equal(found, expected)
    nothing = factor_pass(IncompleteRows.of(np.full((5, 3), np.nan)), *params)
    assert all(np.all(np.asarray(part) == 0.0) for part in nothing)


def test_posterior_of_each_row(rng):
    x, mean, loadings, noise = problem(rng, 50, 4, 2)
    x[3] = np.nan
    means, covariances = latent_posterior(IncompleteRows.of(x), mean, loadings, noise, len(x))
    np.testing.assert_array_equal(means[3], 0.0)
    np.testing.assert_array_equal(covariances[3], np.eye(2))
    for row, z, covariance in zip(x, means, covariances, strict=True):
        seen = ~np.isnan(row)
        a = loadings[seen]
        gain = np.linalg.solve(a @ a.T + np.diag(noise[seen]), a).T
        np.testing.assert_allclose(z, gain @ (row[seen] - mean[seen]), atol=1e-12)
        np.testing.assert_allclose(covariance, np.eye(2) - gain @ a, atol=1e-12)
