"""Weighted least squares: rows of known relative noise variances, apart from how often they count."""

import numpy as np
import pytest
from scipy import stats

from tractable.linear_model import BayesianLinearRegression, LinearRegression, Ridge

N = 20


@pytest.fixture
def table(rng):
    X, variance = rng.standard_normal((N, 3)), rng.uniform(0.1, 4.0, N)
    return X, X @ [1.0, -2.0, 0.5] + 3.0 + np.sqrt(variance) * rng.standard_normal(N), variance


def closed_form(X, y, variance):
    """(AᵀV⁻¹A)⁻¹AᵀV⁻¹y with its standard errors and σ², as statsmodels' WLS with weights 1/v."""
    A = np.column_stack([np.ones(len(X)), X])
    inverse = np.linalg.inv((A.T / variance) @ A)
    coef = inverse @ (A.T / variance) @ y
    noise = float(np.sum((y - A @ coef) ** 2 / variance) / (len(y) - A.shape[1]))
    return coef, np.sqrt(noise * np.diag(inverse)), noise


def test_it_is_weighted_least_squares(table):
    X, y, variance = table
    coef, errors, noise = closed_form(X, y, variance)
    model = LinearRegression().fit(X, y, noise_variance=variance)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), coef, rtol=1e-10)
    np.testing.assert_allclose(
        np.append(model.intercept_std_error_, model.coef_std_errors_), errors, rtol=1e-10
    )
    np.testing.assert_allclose(model.noise_variance_, noise, rtol=1e-10)
    assert model.residual_dof_ == N - 4
    half = stats.t.ppf(0.975, N - 4) * errors[1:]
    np.testing.assert_allclose(model.coef_interval(0.95), np.column_stack([coef[1:] - half, coef[1:] + half]))
    sigma = np.sqrt(model.noise_variance_ml_ * variance)
    np.testing.assert_allclose(model.log_likelihood_, stats.norm.logpdf(y, model.predict(X), sigma).sum())


def test_refinement_keeps_the_weights(table):
    X, y, variance = table
    coef = closed_form(X, y, variance)[0]
    model = LinearRegression(refine=True).fit(X, y, noise_variance=variance)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_), coef, rtol=1e-10)


@pytest.mark.parametrize("make", [LinearRegression, Ridge, BayesianLinearRegression])
def test_a_number_is_the_unit_of_the_noise(make, table):
    X, y, _ = table
    plain, scaled = make().fit(X, y), make().fit(X, y, noise_variance=1.0)
    np.testing.assert_allclose(scaled.predict_interval(X), plain.predict_interval(X))
    every = LinearRegression().fit(X, y, noise_variance=4.0)
    np.testing.assert_allclose(every.coef_std_errors_, LinearRegression().fit(X, y).coef_std_errors_)
    np.testing.assert_allclose(4.0 * every.noise_variance_, LinearRegression().fit(X, y).noise_variance_)


@pytest.mark.parametrize("make", [LinearRegression, Ridge, BayesianLinearRegression])
def test_weights_are_frequencies_beside_it(make, table):
    X, y, variance = table
    times = np.arange(N) % 3
    weighted = make().fit(X, y, sample_weight=times, noise_variance=variance)
    repeated = make().fit(
        np.repeat(X, times, axis=0), np.repeat(y, times), noise_variance=np.repeat(variance, times)
    )
    np.testing.assert_allclose(weighted.coef_, repeated.coef_)
    np.testing.assert_allclose(weighted.residual_dof_, repeated.residual_dof_)
    np.testing.assert_allclose(weighted.predict_interval(X), repeated.predict_interval(X))


def test_ridge_without_a_penalty_and_a_flat_prior_agree(table):
    X, y, variance = table
    model = LinearRegression().fit(X, y, noise_variance=variance)
    for other in (Ridge(alpha=0.0), BayesianLinearRegression(prior_precision=0.0)):
        found = other.fit(X, y, noise_variance=variance)
        np.testing.assert_allclose(found.coef_, model.coef_)
        np.testing.assert_allclose(found.predict_interval(X), model.predict_interval(X))


def test_the_evidence_counts_the_noise_of_each_row(table):
    X, y, variance = table
    model = BayesianLinearRegression(noise_variance=1.7, fit_intercept=False)
    found = model.fit(X, y, noise_variance=variance).log_evidence_
    marginal = stats.multivariate_normal(np.zeros(N), X @ X.T + np.diag(1.7 * variance))
    np.testing.assert_allclose(found, marginal.logpdf(y))


def test_merged_statistics_count_the_rows_of_both(table):
    X, y, variance = table
    model = LinearRegression().fit(X, y, noise_variance=variance)
    halves = [
        LinearRegression().fit(X[part], y[part], noise_variance=variance[part])
        for part in (slice(0, 12), slice(12, N))
    ]
    both = halves[0].merge(halves[1])
    np.testing.assert_allclose(both.coef_std_errors_, model.coef_std_errors_)
    np.testing.assert_allclose(both.log_likelihood_, model.log_likelihood_)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, np.inf, "one", np.ones(3), np.ones((N, 1)), 1e-200])
@pytest.mark.parametrize("make", [LinearRegression, Ridge, BayesianLinearRegression])
def test_other_variances_are_refused_by_name(make, bad, table):
    X, y, _ = table
    with pytest.raises(ValueError, match="noise_variance"):
        make().fit(X, y, noise_variance=bad)


@pytest.mark.parametrize("make", [LinearRegression, Ridge])
def test_weights_that_sum_to_one_are_told_of(make, table):
    X, y, _ = table
    with pytest.warns(UserWarning, match="sums to 1.*noise_variance=1/weight"):
        model = make().fit(X, y, sample_weight=np.full(N, 1.0 / N))
    with pytest.raises(ValueError, match="too few rows"):
        model.predict_interval(X)
