"""Gaussian processes over time in state-space form: equal to the exact process, in any order of rows."""

import numpy as np
import pytest

from tractable.arrays.gradient import check_gradient
from tractable.gaussian_process import GaussianProcessRegressor, StateSpaceGaussianProcess
from tractable.gaussian_process.posteriors.exact import Observations, factorized, log_evidence
from tractable.gaussian_process.posteriors.state_space import StateSpacePosterior, jacobian_of
from tractable.kernels import RBF, Constant, Cosine, Matern, Periodic, Scaled, Subspace, White
from tractable.primitives.state_space import agnostic, kalman_filter, smoothing_sums

SUM = 0.7 * Matern(3.0, nu=2.5) + 0.4 * Matern(0.5, nu=0.5) + Constant(2.0) + 0.3 * Cosine(6.0)
KERNELS = [1.3 * Matern(2.0, nu=0.5), Constant(2.0) * Matern(2.0, nu=1.5), Matern(2.0, nu=2.5), SUM]


def series(rng, n, span=50.0):
    """Times of which some repeat, and noisy values of a wave."""
    t = np.sort(rng.uniform(0.0, span, n))
    t[3] = t[4] = t[5]
    return t, np.sin(t) + 0.05 * t + 0.3 * rng.standard_normal(n)


def rows_of(t, y, basis, scale):
    return Observations(x=t[:, None], y=y[:, None], basis=basis, noise_scale=scale)


@pytest.mark.parametrize("n", [60, 1000])  # in NumPy, and compiled
@pytest.mark.parametrize("kernel", KERNELS, ids=["1/2", "3/2", "5/2", "sum"])
def test_evidence_gradient_and_posterior_are_those_of_the_exact_process(kernel, n, rng):
    t, y = series(rng, n)
    rows = rows_of(t, y, np.column_stack([np.ones(n), t / 50.0]), rng.uniform(0.5, 2.0, n))
    found = StateSpacePosterior.of(kernel.markov_terms(), 0.1, rows, t)
    exact = log_evidence(kernel, 0.1, rows)
    assert found.log_evidence(0.1) == pytest.approx(exact.value, rel=1e-9)
    by_kernel, by_noise = found.gradient(0.1, jacobian_of(kernel))
    np.testing.assert_allclose(by_kernel, exact.kernel_gradient, rtol=1e-6, atol=1e-7)
    assert by_noise == pytest.approx(exact.noise_gradient, rel=1e-6)
    posterior = factorized(kernel, 0.1, rows)
    new = np.concatenate([rng.uniform(-10.0, 70.0, 50), t[:6]])
    basis = np.column_stack([np.ones(56), new / 50.0])
    mean, variance = found.moments(new, basis)
    cross = kernel(new[:, None], t[:, None])
    explained, of_mean = posterior.white(cross, basis)
    prior = kernel.diagonal(new[:, None])
    np.testing.assert_allclose(mean, posterior.mean(cross, basis)[:, 0], atol=1e-8)
    np.testing.assert_allclose(
        variance, prior - np.sum(explained**2, axis=0) + np.sum(of_mean**2, axis=0), rtol=1e-6
    )


@pytest.mark.parametrize("scale", [1.0, 1e-100, 1e100])  # of targets: their variances are squares
def test_compiled_loops_are_those_of_numpy(rng, scale):
    n, s, c = 700, 3, 2
    A = 0.3 * rng.standard_normal((n, s, s))
    A[0] = 0.0
    root = rng.standard_normal((n, s, s))
    Q, h, y = root @ np.swapaxes(root, 1, 2), np.array([1.0, 0.0, 1.0]), rng.standard_normal((n, c))
    Q, y, R = scale**2 * Q, scale * y, np.full(n, scale**2)
    found = kalman_filter(A, Q, h, y, R)
    direct = [np.empty_like(part) for part in found]
    agnostic.kalman_filter(A, Q, h, y, R, *direct)
    for one, other, unit in zip(found, direct, [scale, scale**2, scale, scale**2, 1.0], strict=True):
        np.testing.assert_allclose(one / unit, other / unit, rtol=1e-9, atol=1e-11)
    sums = smoothing_sums(A, h, found.innovations, found.variances, found.gains)
    direct = [np.empty_like(part) for part in sums]
    agnostic.smoothing_sums(A, h, found.innovations, found.variances, found.gains, *direct)
    for one, other, unit in zip(sums, direct, [scale, scale**2, scale, scale**2], strict=True):
        np.testing.assert_allclose(one * unit, other * unit, rtol=1e-9, atol=1e-11)


def test_gaps_of_any_size_keep_the_digits(rng):
    """Times near each other and little noise: Q of a short time is a sum of squares, and not a difference."""
    t = np.cumsum(rng.choice([1e-7, 1e-4, 1e-2, 3.0, 200.0], 80))
    kernel, y = 2.0 * Matern(1.0, nu=2.5), rng.standard_normal(80)
    (term,) = kernel.markov_terms()
    gaps = 10.0 ** np.linspace(-8.0, 2.0, 41)
    noises = term.noises(gaps, term.transitions(gaps))
    # Of a short time t, Q of f is 2 · 16/3 t⁵/20.
    np.testing.assert_allclose(noises[:8, 0, 0], 2.0 * 16.0 / 3.0 * gaps[:8] ** 5 / 20.0, rtol=1e-5)
    assert np.linalg.eigvalsh(noises).min() > -1e-14
    rows = rows_of(t, y, np.ones((80, 1)), np.ones(80))
    exact = log_evidence(kernel, 1e-3, rows, gradient=False).value
    assert StateSpacePosterior.of(kernel.markov_terms(), 1e-3, rows, t).log_evidence(1e-3) == pytest.approx(
        exact, rel=1e-8
    )


def exact_model(**options):
    kernel = 1.3 * Subspace(Matern(2.0, nu=1.5), [0]) + White(0.1)
    return GaussianProcessRegressor(kernel, mean="linear", **options)


def model(**options):
    return StateSpaceGaussianProcess(1.3 * Matern(2.0, nu=1.5) + White(0.1), **options)


@pytest.mark.spec("GP-05", "GP-08", "KER-19")
def test_rows_in_any_order_weights_and_missing_targets(rng):
    t, y = series(rng, 60, 12.0)
    X = np.column_stack([t, rng.standard_normal((60, 2))])
    X[7] = X[8]  # equal rows
    y[10] = np.nan
    weights = rng.integers(0, 3, 60).astype(float)
    order = rng.permutation(60)
    found = model().fit(X[order], y[order], weights[order])
    exact = exact_model().fit(X, y, weights)
    assert found.log_evidence_ == pytest.approx(exact.log_evidence_, rel=1e-7)
    np.testing.assert_allclose(found.theta_, exact.theta_, atol=2e-3)
    kept = found.kernel_ + White(found.noise_variance_)
    found = StateSpaceGaussianProcess(kept, optimizer=None).fit(X[order], y[order], weights[order])
    exact = GaussianProcessRegressor(
        Subspace(kept.terms[0], [0]) + kept.terms[1], mean="linear", optimizer=None
    ).fit(X, y, weights)
    new = np.column_stack([rng.uniform(-3.0, 20.0, 30), rng.standard_normal((30, 2))])
    for noise in (True, False):
        one, other = (m.predict_dist(new, include_noise=noise) for m in (found, exact))
        np.testing.assert_allclose(one.mean, other.mean, atol=1e-9)
        np.testing.assert_allclose(one.variance, other.variance, rtol=1e-8)
    np.testing.assert_allclose(found.mean_coef_, exact.mean_coef_, rtol=1e-7)
    assert found.log_evidence_ == pytest.approx(exact.log_evidence_, rel=1e-10)


def test_gradients_are_those_of_differences(rng):
    t, y = series(rng, 50, 12.0)
    found = StateSpaceGaussianProcess(SUM + White(0.1), mean="constant", optimizer=None).fit(t[:, None], y)
    theta = found.theta_
    check_gradient(found.log_marginal_likelihood, found.log_marginal_likelihood(theta, True)[1], theta)
    assert found.log_marginal_likelihood() == pytest.approx(found.log_evidence_, rel=1e-12)


def test_forecasts_widen_to_the_prior_and_gaps_are_less_certain(rng):
    t = np.concatenate([np.arange(0.0, 10.0, 0.1), np.arange(15.0, 20.0, 0.1)])
    y = np.sin(t) + 0.05 * rng.standard_normal(len(t))
    kernel = 1.0 * Matern(2.0, nu=2.5) + White(0.0025)
    found = StateSpaceGaussianProcess(kernel, mean="zero", optimizer=None).fit(t[:, None], y)
    inside, gap, near, far = found.predict_var([[5.0], [12.5], [20.5], [1e6]], include_noise=False)
    assert inside < near < gap < far
    assert far == pytest.approx(1.0)
    assert found.predict([[1e6]])[0] == pytest.approx(0.0, abs=1e-12)
    assert found.compare_to_exact(100).mean_difference < 1e-9


def test_long_series_that_vary_quickly_are_learned(rng):
    t = np.arange(3000.0)
    f = np.sin(t / 5.0)
    found = StateSpaceGaussianProcess(mean="constant").fit(t[:, None], f + 0.2 * rng.standard_normal(3000))
    assert found.noise_variance_**0.5 == pytest.approx(0.2, rel=0.1)
    assert np.mean((found.predict(t[:, None]) - f) ** 2) < 0.01


def test_columns_by_name(rng):
    import pandas as pd

    t, y = series(rng, 60, 12.0)
    frame = pd.DataFrame({"a": rng.standard_normal(60), "when": t})
    found = model(time="when", optimizer=None).fit(frame, y)
    again = model(time=1, optimizer=None).fit(frame.to_numpy(), y)
    assert found.log_evidence_ == pytest.approx(again.log_evidence_, rel=1e-12)
    with pytest.raises(ValueError, match=r"time must be one of \['a', 'when'\]"):
        model(time="hour").fit(frame, y)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kernel": RBF()}, "RBF has no state-space form"),
        ({"kernel": Periodic() * Matern()}, "Product has no state-space form"),
        ({"kernel": Scaled(Matern(), function=lambda x: x[:, 0])}, "Scaled has no state-space form"),
        ({"kernel": Matern([1.0, 2.0])}, "length_scale must be one number"),
        ({"time": 2}, "time must be a position below 2"),
        ({"time": 1.5}, "time must be the position or the name"),
        ({"mean": "constant"}, 'mean must be "linear" or a basis'),
        ({"mean": "quadratic"}, "mean"),
        ({"noise_variance": 0.0}, "noise_variance"),
    ],
)
def test_refusals(options, named, rng):
    X = rng.standard_normal((20, 2))
    with pytest.raises(ValueError, match=named):
        StateSpaceGaussianProcess(**options).fit(X, X[:, 0])


@pytest.mark.parametrize(
    ("X", "y"),
    [
        ([[0.0], [0.0], [0.0]], [1.0, 2.0, 4.0]),  # one time
        ([[1.0]], [2.0]),  # one row
        ([[0.0], [1.0], [2.0]], [5.0, 5.0, 5.0]),  # constant
        ([[0.0], [1e100], [2e100], [5e100]], [1.0, 3.0, 2.0, 2.5]),
        ([[0.0], [1e-100], [2e-100], [5e-100]], [1e90, 3e90, 2e90, 2.5e90]),
    ],
)
def test_few_rows_and_extreme_scales(X, y):
    found = StateSpaceGaussianProcess(mean="constant").fit(X, y)
    assert np.all(np.isfinite(found.predict(X)))
    assert np.all(found.predict_var(X) > 0.0)
    with pytest.raises(ValueError, match="y must have a target of some row"):
        found.fit(X, [np.nan] * len(y))
