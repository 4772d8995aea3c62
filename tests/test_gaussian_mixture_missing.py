"""Gaussian mixtures of rows with missing entries: marginalised exactly, in both steps."""

import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import tractable
from tractable.density import GaussianDensity
from tractable.mixture import GaussianMixture

SHAPES = ["full", "tied", "diag", "spherical", "low_rank"]


@pytest.fixture
def X(rng):
    parts = [rng.normal([0.0, 0.0, 0.0], 1.0, (120, 3)), rng.normal([4.0, 2.0, -3.0], 0.7, (80, 3))]
    rows = np.concatenate(parts)
    rows[:, 2] += 0.8 * rows[:, 0]
    rows[rng.random(rows.shape) < 0.25] = np.nan
    return rows


def observed_log_density(model, row):
    """log p of what is there, from the components' own marginals."""
    o = ~np.isnan(row)
    if not o.any():
        return 0.0
    dense = model.distribution_.components.covariance
    return np.log(
        sum(
            w * multivariate_normal(m[o], c[np.ix_(o, o)]).pdf(row[o])
            for w, m, c in zip(model.weights_, model.means_, dense, strict=True)
        )
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_the_likelihood_is_of_what_was_observed(shape, X):
    model = GaussianMixture(2, covariance_type=shape, random_state=0).fit(X)
    expected = [observed_log_density(model, row) for row in X]
    np.testing.assert_allclose(model.score_samples(X), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_fit_climbs_that_likelihood(shape, X):
    tol = 1e-5 if shape == "low_rank" else 1e-9  # a factor in three columns: a flat ridge
    model = GaussianMixture(2, covariance_type=shape, random_state=0, reg_covar=0.0, tol=tol).fit(X)
    assert np.diff(model.objective_trace_).min() >= -1e-9 * abs(model.lower_bound_)
    counted = len(X) - model.n_unseen_
    assert model.lower_bound_ == pytest.approx(model.score_samples(X).sum() / counted, rel=1e-7)


def test_one_component_is_the_gaussian_density(X):
    mixture = GaussianMixture(1, reg_covar=0.0, tol=1e-14, max_iter=5000).fit(X)
    density = GaussianDensity().fit(X)
    np.testing.assert_allclose(mixture.means_[0], density.location_, atol=1e-5)
    np.testing.assert_allclose(mixture.covariances_[0], density.covariance_, atol=1e-5)


def test_at_the_maximum_nothing_is_gained_nearby(X, rng):
    model = GaussianMixture(2, random_state=0, reg_covar=0.0, tol=1e-13, max_iter=5000).fit(X)
    best = model.score_samples(X).sum()
    for _ in range(20):
        means = model.means_ + 1e-3 * rng.standard_normal(model.means_.shape)
        near = tractable.Mixture(
            weights=model.weights_,
            components=tractable.MultivariateNormal(mean=means, covariance=model.covariances_),
        )
        assert near.log_prob(X).sum() < best


def test_a_hole_nowhere_is_no_hole(X):
    """Grouped rows give what whole rows give."""
    whole = X[~np.isnan(X).any(axis=1)]
    some = np.vstack([whole, np.full((1, 3), np.nan)])
    a, b = (GaussianMixture(2, random_state=0, tol=1e-8).fit(rows) for rows in (whole, some))
    np.testing.assert_allclose(a.means_, b.means_, rtol=1e-7)
    np.testing.assert_allclose(a.covariances_, b.covariances_, rtol=1e-6, atol=1e-9)
    assert a.lower_bound_ == pytest.approx(b.lower_bound_)
    assert (a.n_unseen_, b.n_unseen_) == (0.0, 1.0)


def test_weights_are_repetitions_with_holes(X, rng):
    times = rng.integers(0, 3, len(X))
    weighted = GaussianMixture(2, random_state=0).fit(X, sample_weight=times)
    repeated = GaussianMixture(2, random_state=0).fit(np.repeat(X, times, axis=0))
    np.testing.assert_allclose(weighted.means_, repeated.means_, rtol=1e-7)
    np.testing.assert_allclose(weighted.covariances_, repeated.covariances_, rtol=1e-6)


def test_batches_with_holes_are_rows(X):
    whole = GaussianMixture(2, random_state=0).fit(X)
    parts = GaussianMixture(2, random_state=0).fit([X[:50], X[50:]])
    np.testing.assert_allclose(whole.means_, parts.means_, rtol=1e-7)


def test_scales_and_origin_do_not_matter_with_holes(X):
    plain = GaussianMixture(2, random_state=0).fit(X)
    moved = GaussianMixture(2, random_state=0).fit(X * [1e-100, 1.0, 1e100] + [0.0, 1e8, 0.0])
    np.testing.assert_allclose(
        plain.predict_proba(X), moved.predict_proba(X * [1e-100, 1.0, 1e100] + [0, 1e8, 0]), atol=1e-5
    )


def test_missing_entries_are_predicted_with_their_spread(X):
    model = GaussianMixture(2, random_state=0).fit(X)
    given = model.condition([0, 1], [4.0, 2.0])
    inside = model.distribution_.components
    assert given.mean.shape == (1,)
    assert float(given.covariance[0, 0]) < float(np.max(inside.covariance[:, 2, 2]))


def test_columns_and_rows_without_entries(rng):
    X = rng.standard_normal((30, 2))
    X[:, 1] = np.nan
    with pytest.raises(ValueError, match=r"X .*columns \[1\]"):
        GaussianMixture(2).fit(X)
    X[:, 1] = rng.standard_normal(30)
    X[:5] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = GaussianMixture(2, random_state=0).fit(X)
    assert model.n_unseen_ == 5.0
    np.testing.assert_allclose(model.score_samples(X)[:5], 0.0, atol=1e-15)
    np.testing.assert_allclose(model.predict_proba(X)[:5], np.tile(model.weights_, (5, 1)))
