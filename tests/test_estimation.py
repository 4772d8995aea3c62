"""Estimator theory: bias, variance, efficiency, consistency; maximum likelihood, priors, the bootstrap."""

import numpy as np
import pytest
from scipy import stats

import tractable
from tractable import (
    Bernoulli,
    Beta,
    Binomial,
    Gamma,
    Laplace,
    Normal,
    Poisson,
    StudentT,
    bootstrap,
    cramer_rao_bound,
    estimator_report,
    fisher_information,
    map_estimate,
    mle,
    score_function,
)
from tractable.conjugate import BernoulliModel, NormalMeanModel
from tractable.distributions import EstimatorReport
from tractable.engines import StepSize, robbins_monro, sequential_mle

FOUR, CAUCHY = Normal(mean=1.0, variance=4.0), StudentT(dof=1.0, location=0.0, scale=1.0)


def unbiased(x):
    return np.var(x, ddof=1)


def close(estimate, expected, sigmas=5.0):
    assert np.all(np.abs(estimate.value - expected) <= sigmas * estimate.standard_error + 1e-12)


@pytest.fixture(scope="module")
def variances():
    return estimator_report({"ML": np.var, "unbiased": unbiased}, FOUR, 5, "variance", n_repeats=5000, rng=0)


@pytest.mark.spec("W-25", "EST-01", "EST-02", "EST-03", "EST-09", "EST-12", "EST-13", "DIST-32", "E001-32")
def test_variances_of_five_draws(variances):
    close(variances.bias, [[-0.8], [0.0]])
    close(variances.variance, [[5.12], [8.0]])
    close(variances.mse, [[5.76], [8.0]])
    assert variances.mse.value[0, 0] < variances.mse.value[1, 0]


@pytest.mark.spec("EST-10")
def test_error_is_squared_bias_plus_variance(variances):
    parts = variances.bias.value**2 + variances.variance.value
    np.testing.assert_allclose(variances.mse.value, parts, rtol=1e-12)
    broken = EstimatorReport(
        names=("one",), sizes=[5], truth=5.0, estimates=variances.estimates[:1], bounds=[[np.nan]]
    )
    assert abs(broken.mse.value - broken.variance.value) > 0.5  # the identity has power: the bias counts


@pytest.mark.spec("EST-05", "EST-06", "EST-11")
def test_the_mean_reaches_the_bound_and_the_unbiased_variance_does_not(variances):
    found = estimator_report(np.mean, FOUR, 5, n_repeats=5000, rng=1)
    close(found.variance, 0.8)
    np.testing.assert_allclose(found.bounds, 0.8, rtol=0.02)
    close(found.efficiency, 1.0, sigmas=6.0)
    assert cramer_rao_bound(FOUR, 5, "variance") == pytest.approx(6.4)
    np.testing.assert_allclose(variances.bounds[:, 0], [6.4 * 0.64, 6.4], rtol=0.06)
    # (n - 1) / n of either: one is biased, and its bound is lower in proportion.
    np.testing.assert_allclose(variances.efficiency.value[:, 0], 0.8, atol=0.1)
    assert np.all(variances.efficiency.value < 0.95)


@pytest.mark.spec("EST-04")
def test_the_mean_is_more_efficient_than_the_median_of_normal_draws():
    both = {"mean": np.mean, "median": np.median}
    found = estimator_report(both, Normal(mean=0.0, stddev=1.0), 101, n_repeats=1500, bound=False, rng=0)
    ratio = found.relative_efficiency("mean", "median")
    close(ratio, np.pi / 2 * 101 / 102, sigmas=5.0)
    heavy = estimator_report(both, Laplace(location=0.0, scale=1.0), 101, n_repeats=1500, bound=False, rng=0)
    assert heavy.relative_efficiency("mean", "median").value[0] < 0.8
    with pytest.raises(ValueError, match="no estimator 'mode'"):
        found.relative_efficiency("mean", "mode")


@pytest.mark.spec("EST-07", "EST-08")
def test_consistency_over_growing_samples():
    found = estimator_report(
        {"mean": np.mean, "first": lambda x: x[0], "shifted": lambda x: x.mean() + 1.0 / len(x)},
        Normal(mean=0.0, stddev=1.0),
        [4, 16, 64, 256],
        n_repeats=600,
        bound=False,
        rng=0,
    )
    outside = found.exceedance(0.25).value
    assert np.all(np.diff(outside[0]) < 0)
    assert outside[0, -1] < 0.01
    assert outside[1].min() > 0.7  # unbiased, and never better
    assert outside[2, -1] < 0.01  # biased, with a bias that vanishes
    assert np.all(outside <= found.mse.value / 0.25**2)  # Chebyshev


@pytest.mark.spec("EST-05")
@pytest.mark.parametrize(
    "d",
    [
        FOUR,
        Bernoulli(probability=0.3),
        Binomial(n_trials=7, probability=0.6),
        Poisson(rate=2.5),
        Gamma(shape=3.0, rate=0.5),
        Beta(alpha=2.0, beta=3.0),
        Laplace(location=1.0, scale=2.0),
        StudentT(dof=5.0, location=0.0, scale=2.0),
    ],
    ids=lambda d: type(d).__name__,
)
def test_information_is_that_of_integrals_and_draws(d):
    names = [name for name in type(d).parameter_ndims if name not in ("n_trials", "dof", "logit")]
    closed = fisher_information(d, names, method="analytic").value
    # The log density of Laplace has a corner at its location, where differences are of the second order.
    rtol = 2e-3 if isinstance(d, Laplace) else 1e-6
    np.testing.assert_allclose(
        fisher_information(d, names, method="integral").value, closed, rtol=rtol, atol=1e-6
    )
    close(fisher_information(d, names, method="monte_carlo", n_samples=4000, rng=0), closed)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_reports_in_any_units(scale):
    d = Normal(mean=scale, stddev=scale)
    found = estimator_report(np.mean, d, 4, n_repeats=200, rng=0)
    assert found.bias.value[0, 0] == pytest.approx(found.estimates.mean() - scale)
    assert np.all(np.isnan(found.efficiency.value) | (found.efficiency.value > 0.5))


def test_information_of_what_has_no_closed_form():
    d = tractable.InverseGamma(shape=4.0, scale=2.0)
    found = fisher_information(d).value  # that of the gamma family: x is the reciprocal
    np.testing.assert_allclose(found, fisher_information(Gamma(shape=4.0, rate=2.0)).value, rtol=1e-5)
    with pytest.raises(ValueError, match="no closed form"):
        fisher_information(d, method="analytic")


@pytest.mark.spec("EST-15")
@pytest.mark.parametrize(
    ("family", "start", "rows"),
    [
        (Normal, {"mean": 0.0, "stddev": 1.0}, lambda rng: rng.normal(3.0, 2.0, 200)),
        (Normal, {"mean": 0.0, "variance": 1.0}, lambda rng: rng.normal(1e6, 1e3, 200)),
        (Gamma, {"shape": 1.0, "rate": 1.0}, lambda rng: rng.gamma(3.0, 2.0, 200)),
        (Poisson, {"rate": 1.0}, lambda rng: rng.poisson(7.0, 200).astype(float)),
        (Bernoulli, {"probability": 0.5}, lambda rng: (rng.random(200) < 0.03).astype(float)),
        (Beta, {"alpha": 1.0, "beta": 1.0}, lambda rng: rng.beta(2.0, 5.0, 200)),
        (StudentT, {"location": 0.0, "scale": 1.0, "dof": 4.0}, lambda rng: rng.standard_t(5.0, 300) * 2.0),
    ],
    ids=["normal", "far", "gamma", "poisson", "rare", "beta", "student"],
)
def test_maximum_likelihood_is_the_closed_form(family, start, rows):
    x = rows(np.random.default_rng(0))
    found = mle(family, x, start)
    assert found.converged
    closed = family.fit(x)
    for name in start:
        np.testing.assert_allclose(found[name], float(getattr(closed, name)), rtol=2e-5, atol=1e-7)
    assert found.log_likelihood >= float(closed.log_prob(x).sum()) - 1e-6
    assert isinstance(found.distribution, family)


@pytest.mark.spec("EST-15")
def test_standard_errors_are_the_inverse_of_the_information():
    x = np.random.default_rng(1).normal(3.0, 2.0, 400)
    found = mle(Normal, x, {"mean": 0.0, "variance": 1.0})
    expected = np.linalg.inv(400 * fisher_information(Normal.fit(x)).value)
    np.testing.assert_allclose(found.covariance, expected, rtol=1e-3, atol=1e-6)
    assert found.interval(0.9)[0, 0] == pytest.approx(x.mean() - 1.6449 * x.std() / 20, rel=1e-3)
    assert found.aic == pytest.approx(4 - 2 * found.log_likelihood)
    weighted = mle(Normal, x[:200], {"mean": 0.0, "variance": 1.0}, sample_weight=np.full(200, 2.0))
    repeated = mle(Normal, np.repeat(x[:200], 2), {"mean": 0.0, "variance": 1.0})
    np.testing.assert_allclose(weighted.estimate, repeated.estimate, rtol=1e-6)
    np.testing.assert_allclose(weighted.standard_errors, repeated.standard_errors, rtol=1e-4)


def test_any_function_is_a_log_density():
    rng = np.random.default_rng(2)
    X = np.column_stack([np.ones(300), rng.standard_normal(300)])
    y = rng.poisson(np.exp(X @ [0.5, 0.8]))
    found = mle(
        lambda rows, w: stats.poisson.logpmf(rows[:, 2], np.exp(rows[:, :2] @ w)),
        np.column_stack([X, y]),
        [0.0, 0.0],
    )
    assert found.converged
    mean = np.exp(X @ found.estimate)
    np.testing.assert_allclose(X.T @ (y - mean), 0.0, atol=1e-4)
    np.testing.assert_allclose(found.covariance, np.linalg.inv((X.T * mean) @ X), rtol=1e-4)


@pytest.mark.spec("EST-16", "PROB-26")
def test_the_mode_of_the_posterior_is_the_conjugate_one():
    x = np.array([1.0, 1.0, 1.0])
    prior = Beta(alpha=2.0, beta=3.0)
    found = map_estimate(Bernoulli, {"probability": prior}, x, {"probability": 0.5})
    model = BernoulliModel(prior=prior)
    np.testing.assert_allclose(
        found["probability"], float(model.update(model.summarize(x)).mode()), rtol=1e-7
    )
    rows = np.random.default_rng(0).normal(2.0, 1.5, 20)
    by_hand = map_estimate(
        lambda x, mean: Normal(mean=mean, stddev=1.5).log_prob(x),
        Normal(mean=0.0, stddev=0.5),
        rows,
        {"mean": 0.0},
    )
    model = NormalMeanModel(prior=Normal(mean=0.0, stddev=0.5), variance=1.5**2)
    after = model.update(model.summarize(rows)).prior
    np.testing.assert_allclose(by_hand["mean"], float(after.mean), rtol=1e-7)
    np.testing.assert_allclose(by_hand.standard_errors[0], float(after.stddev), rtol=1e-6)
    np.testing.assert_allclose(by_hand.posterior.variance[0], float(after.variance), rtol=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mle(Normal, [], {"mean": 0.0, "stddev": 1.0}), "data must have rows"),
        (lambda: mle(Normal, [1.0], {"mean": 0.0, "stddev": -1.0}), "stddev"),
        (lambda: mle(Normal, [1.0], {}), "start must have"),
        (lambda: mle(Normal, [1.0], 3.0), "start must map"),
        (lambda: mle("normal", [1.0], 3.0), "log_density must be"),
        (lambda: mle(Beta, [2.0], {"alpha": 1.0, "beta": 1.0}), "start must have a finite likelihood"),
        (lambda: mle(Normal, [1.0, 2.0], {"mean": np.nan, "stddev": 1.0}), "finite"),
        (lambda: map_estimate(Normal, None, [1.0], {"mean": 0.0}), "log_prior must be"),
        (lambda: map_estimate(Poisson, {"mean": FOUR}, [1.0], {"rate": 1.0}), "log_prior has"),
        (lambda: estimator_report(lambda x: np.nan, FOUR, 5), "returned nan"),
        (lambda: estimator_report(lambda x: x, FOUR, 5), "one number"),
        (lambda: estimator_report(np.mean, FOUR, 0), "n must be"),
        (lambda: estimator_report(np.mean, FOUR, 5, "median height"), "of must name"),
        (lambda: estimator_report(np.mean, CAUCHY, 5, "variance"), "of must be finite"),
        (lambda: estimator_report("mean", FOUR, 5), "estimator must be"),
        (lambda: estimator_report(np.mean, Normal(mean=[0.0, 1.0], stddev=1.0), 5), "one distribution"),
        (lambda: fisher_information(FOUR, "scale"), "names must be"),
        (lambda: fisher_information(FOUR, method="guess"), "method must be"),
        (lambda: cramer_rao_bound(FOUR, 0, "mean"), "n must be"),
        (lambda: score_function(3, ["mean"]), "family must be"),
        (lambda: bootstrap(np.mean, [1.0]), "at least two"),
        (lambda: bootstrap(np.mean, [1.0, np.nan]), "statistic must be finite"),
        (lambda: bootstrap(np.mean, [1.0, 2.0], n_resamples=1), "n_resamples"),
        (lambda: bootstrap(np.mean, [1.0, 2.0], groups=[1, 1]), "groups must have"),
        (lambda: bootstrap(np.mean, [1.0, 2.0], rng=0).interval(method="magic"), "method must be"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_has_no_maximum_does_not_converge():
    with pytest.warns(RuntimeWarning, match="no maximum"):
        found = mle(lambda x, theta: theta * np.ones(len(x)), np.zeros(5), 0.0, max_iter=5)
    assert not found.converged
    assert np.isnan(found.standard_errors).all()


def test_bootstrap_intervals_are_those_of_scipy():
    x = np.random.default_rng(0).gamma(2.0, size=80)
    ours = bootstrap(np.mean, x, n_resamples=9000, rng=0)
    theirs = stats.bootstrap(
        (x,), np.mean, n_resamples=9000, confidence_level=0.9, method="BCa", random_state=1
    )
    error = float(ours.standard_error)
    np.testing.assert_allclose(error, theirs.standard_error, rtol=0.04)
    np.testing.assert_allclose(ours.interval(0.9), tuple(theirs.confidence_interval), atol=0.15 * error)
    percentile = stats.bootstrap(
        (x,), np.mean, n_resamples=9000, confidence_level=0.9, method="percentile", random_state=1
    )
    np.testing.assert_allclose(
        ours.interval(0.9, "percentile"), tuple(percentile.confidence_interval), atol=0.1 * error
    )
    low, high = ours.interval(0.9, "basic")
    np.testing.assert_allclose([low, high], 2 * x.mean() - np.array(ours.interval(0.9, "percentile"))[::-1])


@pytest.mark.slow
def test_bootstrap_intervals_hold_their_coverage():
    rng = np.random.default_rng(0)
    inside = []
    for _ in range(400):
        low, high = bootstrap(np.mean, rng.exponential(size=60), n_resamples=400, rng=rng).interval(0.9)
        inside.append(low <= 1.0 <= high)
    assert abs(np.mean(inside) - 0.9) < 5 * np.sqrt(0.09 / 400)


def test_rows_of_a_group_are_drawn_together():
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 20)
    x = rng.standard_normal(30)[groups] + 0.1 * rng.standard_normal(600)
    together = bootstrap(np.mean, x, groups=groups, n_resamples=400, rng=0)
    apart = bootstrap(np.mean, x, n_resamples=400, rng=0)
    assert together.standard_error > 3 * apart.standard_error
    vector = bootstrap(lambda x, y: np.array([x.mean(), y.mean()]), x, -x, n_resamples=50, rng=0)
    assert vector.standard_error.shape == (2,)
    np.testing.assert_allclose(vector.draws[:, 0], -vector.draws[:, 1])
    low, high = vector.interval()
    assert np.all(low < high)


@pytest.mark.spec("SEQ-07", "SEQ-08")
@pytest.mark.parametrize(
    ("family", "start", "scale", "draw", "closed"),
    [
        (Poisson, [2.0], 5.0, lambda rng: rng.poisson(5.0, 3000), lambda x: [x.mean()]),
        (Bernoulli, [0.5], 0.2, lambda rng: rng.random(300) < 0.3, lambda x: [x.mean()]),
    ],
    ids=["poisson", "bernoulli"],
)
def test_any_family_is_learnt_one_row_at_a_time(family, start, scale, draw, closed):
    x = np.asarray(draw(np.random.default_rng(0)), dtype=float)
    names = [name for name in family.parameter_ndims if name in ("rate", "probability")]
    step = StepSize(scale=scale, offset=20.0)
    found = sequential_mle(
        score_function(family, names),
        start,
        x,
        step=step,
        bounds=(0.01, 0.99 if family is Bernoulli else 50.0),
    )
    spread = np.sqrt(float(1.0 / fisher_information(family.fit(x), names).value[0, 0] / len(x)))
    assert abs(found.x[0] - closed(x)[0]) < spread


def test_estimates_stay_within_bounds():
    found = robbins_monro(lambda x: x - 3.0, 0.0, n_steps=50, bounds=(-1.0, 1.0))
    assert float(found.x) == 1.0
    assert found.history.max() == 1.0
    with pytest.raises(ValueError, match="bounds"):
        robbins_monro(lambda x: x, 5.0, n_steps=3, bounds=(-1.0, 1.0))


def test_reports_are_text_and_frames(variances):
    assert "unbiased" in str(variances)
    frame = variances.to_frame()
    assert list(frame.estimator) == ["ML", "unbiased"]
    assert "±" in str(bootstrap(np.mean, np.arange(9.0), n_resamples=50, rng=0))
    assert "log-likelihood" in str(mle(Poisson, np.array([1.0, 3.0]), {"rate": 1.0}))


def test_a_likelihood_without_a_maximum_does_not_converge():
    with pytest.warns(RuntimeWarning, match="no maximum"):
        found = mle(lambda x, theta: theta * np.ones_like(x), np.zeros(200), 1.0)
    assert not found.converged
    assert np.isnan(found.covariance).all()


@pytest.mark.parametrize("unit", [1e-100, 1.0, 1e100])
def test_maximum_likelihood_in_any_unit(unit, rng):
    rows = rng.normal(3.0, 2.0, size=50)
    found = mle(Normal, unit * rows, {"mean": unit, "stddev": unit})
    np.testing.assert_allclose(found.estimate / unit, [rows.mean(), rows.std()], rtol=1e-6)
    np.testing.assert_allclose(found.standard_errors / unit, rows.std() / np.sqrt([50.0, 100.0]), rtol=1e-3)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mle(Normal, [1.0, 2.0], {"mu": 0.0, "stddev": 1.0}), "'mu'"),
        (lambda: mle(lambda x, theta: 0.0, [1.0, 2.0], 1.0), "one number a row"),
        (lambda: map_estimate(Normal, {"mean": 3}, [1.0, 2.0], {"mean": 0.0, "stddev": 1.0}), "log_prior"),
        (lambda: score_function(Poisson, ["speed"])(np.array([1.0]), 2.0), "names must be the parameters"),
        (lambda: estimator_report(np.mean, FOUR, []), "n must have at least one"),
        (lambda: bootstrap(np.unique, np.arange(9.0), rng=0), "statistic must have one shape"),
    ],
)
def test_errors_name_the_argument(call, message):
    with pytest.raises(ValueError, match=message):
        call()
