"""What a belief of a plane promises beyond the laws of all estimators."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from tractable import ARDRegression, BayesianLinearRegression, BayesianRidge, Lasso, LinearRegression, Ridge
from tractable.arrays import sherman_morrison, to_numpy
from tractable.distributions import InverseGamma, Laplace, MultivariateNormal, MultivariateStudentT, Normal
from tractable.linear_model import NoiseVanishedWarning, PolynomialBasis, negative_log_posterior
from tractable.value import replace

HOURS, MARKS = np.array([1.0, 2.0, 3.0, 4.0, 4.5]), np.array([3.0, 5.0, 7.0, 9.0, 10.0])
DESIGN = np.column_stack([HOURS, np.ones(5)])


@pytest.fixture
def X(rng):
    return rng.standard_normal((40, 3)) @ rng.standard_normal((3, 3)) + [1.0, -2.0, 5.0]


@pytest.fixture
def y(X, rng):
    return 3.0 + X @ [1.0, -0.5, 2.0] + 0.7 * rng.standard_normal(40)


def with_ones(X):
    return np.column_stack([np.ones(len(X)), X])


def spd(rng, d):
    A = rng.standard_normal((d, d))
    return A @ A.T + 0.5 * np.eye(d)


# --- the posterior -----------------------------------------------------------------------------------------


@pytest.mark.spec("BLR-01", "BLR-03")
def test_precisions_of_prior_and_data_add_up(X, y, rng):
    prior, mean, noise = spd(rng, 4), rng.standard_normal(4), 0.3
    model = BayesianLinearRegression(
        prior_mean=mean, prior_covariance=prior, noise_variance=noise, penalize_intercept=True
    ).fit(X, y)
    design = with_ones(X)
    precision = np.linalg.inv(prior) + design.T @ design / noise
    np.testing.assert_allclose(model.posterior_.precision, precision, rtol=1e-9)
    expected = np.linalg.solve(precision, np.linalg.solve(prior, mean) + design.T @ y / noise)
    np.testing.assert_allclose([model.intercept_, *model.coef_], expected, rtol=1e-9)
    np.testing.assert_allclose(model.posterior_.mean, expected, rtol=1e-9)
    by_precision = BayesianLinearRegression(
        prior_mean=mean,
        prior_precision=np.linalg.inv(prior),
        noise_variance=noise,
        penalize_intercept=True,
    ).fit(X, y)
    np.testing.assert_allclose(by_precision.posterior_.covariance, model.posterior_.covariance, rtol=1e-9)


@pytest.mark.spec("BLR-02", "BLR-04")
def test_three_parametrisations_and_ridge_are_one(X, y):
    noise, alpha = 0.49, 2.5
    options = {"fit_intercept": False}
    models = [
        BayesianLinearRegression(prior_covariance=np.eye(3) / alpha, noise_variance=noise, **options),
        BayesianLinearRegression.from_precisions(noise_precision=1 / noise, prior_precision=alpha, **options),
        BayesianLinearRegression.from_alpha(alpha=alpha, noise_variance=noise, **options),
    ]
    a, b = 1 / noise, alpha
    Q = a * X.T @ X + b * np.eye(3)
    ridge = Ridge(alpha=b / a, fit_intercept=False).fit(X, y)
    for model in models:
        model.fit(X, y)
        np.testing.assert_allclose(model.posterior_.precision, Q, rtol=1e-9)
        np.testing.assert_allclose(model.coef_, a * np.linalg.solve(Q, X.T @ y), rtol=1e-9)
        np.testing.assert_allclose(model.coef_, ridge.coef_, rtol=1e-10)
        assert model.log_evidence_ == pytest.approx(models[0].log_evidence_, rel=1e-12)
    for located in ({}, {"penalize_intercept": True}):
        mine = BayesianLinearRegression.from_alpha(alpha=alpha, noise_variance=noise, **located).fit(X, y)
        theirs = Ridge(alpha=alpha * noise, **located).fit(X, y)
        np.testing.assert_allclose(mine.coef_, theirs.coef_, rtol=1e-9)
        assert mine.intercept_ == pytest.approx(theirs.intercept_, rel=1e-9)
    conjugate = BayesianLinearRegression(prior_precision=3.0).fit(X, y)
    np.testing.assert_allclose(conjugate.coef_, Ridge(alpha=3.0).fit(X, y).coef_, rtol=1e-10)


@pytest.mark.spec("BLR-05")
def test_without_prior_it_is_least_squares_and_without_rows_the_prior(X, y):
    plain = LinearRegression().fit(X, y)
    for precision in (1e-9, 0.0):
        model = BayesianLinearRegression(prior_precision=precision, noise_variance=0.5).fit(X, y)
        np.testing.assert_allclose(model.coef_, plain.coef_, rtol=1e-7)
    np.testing.assert_allclose(
        model.posterior_.covariance, 0.5 * np.linalg.inv(with_ones(X).T @ with_ones(X)), rtol=1e-8
    )
    # A scale-free prior of the noise, and none of the plane: the t intervals of least squares.
    free = BayesianLinearRegression(prior_precision=0.0).fit(X, y)
    np.testing.assert_allclose(free.predict_interval(X), plain.predict_interval(X), rtol=1e-9)
    mean = np.array([1.0, 2.0, 3.0])
    few = BayesianLinearRegression(
        prior_mean=mean, prior_covariance=2.0, noise_variance=1.0, fit_intercept=False
    ).fit(X, y, sample_weight=np.full(40, 1e-12))
    np.testing.assert_allclose(few.coef_, mean, rtol=1e-7)
    np.testing.assert_allclose(few.posterior_.covariance, 2.0 * np.eye(3), rtol=1e-7, atol=1e-7)


@pytest.mark.spec("BLR-13")
def test_the_posterior_mean_minimises_the_negative_log_posterior(X, y):
    noise, variance = 0.4, 1.7
    model = BayesianLinearRegression(
        prior_covariance=variance, noise_variance=noise, fit_intercept=False
    ).fit(X, y)
    value, gradient = negative_log_posterior(model.coef_, X, y, noise_variance=noise, prior_variance=variance)
    np.testing.assert_allclose(gradient, 0.0, atol=1e-8)
    # Posterior times evidence is prior times likelihood.
    log_joint = float(model.posterior_.log_prob(model.coef_)) + model.log_evidence_
    assert log_joint == pytest.approx(-value, rel=1e-11)


@pytest.mark.spec("SEQ-13")
def test_the_posterior_is_the_prior_of_the_next_rows(X, y):
    noise = 0.6
    whole = BayesianLinearRegression(prior_precision=0.2, noise_variance=noise, fit_intercept=False)
    whole.fit(X, y)
    mean, covariance = np.zeros(3), np.eye(3) / 0.2
    streamed, log_evidence = BayesianLinearRegression(**whole.get_params()), 0.0
    for row, target in zip(X, y, strict=True):
        step = BayesianLinearRegression(
            prior_mean=mean, prior_covariance=covariance, noise_variance=noise, fit_intercept=False
        ).fit(row[None], [target])
        np.testing.assert_allclose(  # the rank-one update of the textbooks
            step.posterior_.covariance,
            sherman_morrison(covariance, row / noise, row),
            rtol=1e-6,
            atol=1e-12,
        )
        mean, covariance = step.coef_, step.posterior_.covariance
        log_evidence += step.log_evidence_
        streamed.partial_fit(row[None], [target])
    for found in (step, streamed):
        np.testing.assert_allclose(found.coef_, whole.coef_, rtol=1e-7)
        np.testing.assert_allclose(found.posterior_.covariance, whole.posterior_.covariance, rtol=1e-7)
    assert log_evidence == pytest.approx(whole.log_evidence_, rel=1e-8)


def test_a_flat_prior_may_wait_for_its_rows(X, y):
    streamed = BayesianLinearRegression(prior_precision=0.0, noise_variance=0.5)
    for i in range(len(X)):
        streamed.partial_fit(X[i : i + 1], y[i : i + 1])
        if i < 3:
            with pytest.raises(ValueError, match="more rows"):
                streamed.predict(X)
    whole = BayesianLinearRegression(prior_precision=0.0, noise_variance=0.5).fit(X, y)
    np.testing.assert_allclose(streamed.coef_, whole.coef_, rtol=1e-9)
    assert streamed.log_evidence_ == pytest.approx(whole.log_evidence_, rel=1e-9)


# --- prediction --------------------------------------------------------------------------------------------


@pytest.mark.spec("BLR-06", "E000-40", "E000-41")
def test_a_new_observation_has_the_noise_too(X, y):
    noise = 0.49
    model = BayesianLinearRegression(noise_variance=noise, fit_intercept=False).fit(X, y)
    S = model.posterior_.covariance
    new = X[:5] + 1.0
    quadratic = np.einsum("ij,jk,ik->i", new, S, new)
    np.testing.assert_allclose(model.predict_var(new), noise + quadratic, rtol=1e-9)
    np.testing.assert_allclose(model.predict_var(new, include_noise=False), quadratic, rtol=1e-9)
    np.testing.assert_allclose(model.predict_dist(new).mean, new @ model.coef_, rtol=1e-10)


@pytest.mark.spec("BLR-07")
def test_completing_the_square_twice_gives_the_same_predictive(X, y):
    a, b = 1 / 0.49, 2.0
    model = BayesianLinearRegression.from_precisions(
        noise_precision=a, prior_precision=b, fit_intercept=False
    ).fit(X, y)
    Q, mu, x = a * X.T @ X + b * np.eye(3), model.coef_, np.array([0.3, -2.0, 1.5])
    L = a * np.outer(x, x) + Q
    precision = a - a**2 * x @ np.linalg.solve(L, x)
    mean = a * x @ np.linalg.solve(L, Q @ mu) / precision
    assert model.predict([x])[0] == pytest.approx(mean, rel=1e-9)
    assert model.predict_var([x])[0] == pytest.approx(1 / precision, rel=1e-9)


@pytest.mark.slow
@pytest.mark.spec("BLR-08", "E000-40")
def test_intervals_cover_with_the_noise_and_not_without(rng):
    n_worlds, n_new, d, noise = 400, 5, 3, 0.25
    inside = {True: 0, False: 0}
    for _ in range(n_worlds):
        w = rng.standard_normal(d)
        X, new = rng.standard_normal((12, d)), rng.standard_normal((n_new, d))
        y = X @ w + noise**0.5 * rng.standard_normal(12)
        model = BayesianLinearRegression(noise_variance=noise, fit_intercept=False).fit(X, y)
        truth = new @ w + noise**0.5 * rng.standard_normal(n_new)
        for include in (True, False):
            low, high = model.predict_interval(new, 0.95, include_noise=include).T
            inside[include] += int(np.sum((low <= truth) & (truth <= high)))
    total = n_worlds * n_new
    # Rows of one world err together: at most as if each world were one draw.
    error = 5 * np.sqrt(0.95 * 0.05 / n_worlds)
    assert inside[True] / total == pytest.approx(0.95, abs=error)
    assert inside[False] / total < 0.95 - 2 * error
    far = model.predict_var(np.array([[1.0, 0.0, 0.0], [10.0, 0.0, 0.0], [100.0, 0.0, 0.0]]))
    assert far[0] < far[1] < far[2]


@pytest.mark.spec("BLR-08")
def test_the_width_depends_on_x_and_that_of_a_plug_in_does_not(rng):
    """95 % of new targets within the interval; of the plug-in N(xᵀw, σ²), as wide everywhere, fewer."""
    n_worlds, noise, at = 300, 0.25, np.array([[0.0], [1.0], [3.0], [10.0]])
    inside, plug_in = np.zeros((n_worlds, 4)), np.zeros((n_worlds, 4))
    for i in range(n_worlds):
        w, x = rng.standard_normal(2), rng.standard_normal((6, 1))
        y = w[0] + w[1] * x[:, 0] + noise**0.5 * rng.standard_normal(6)
        model = BayesianLinearRegression(noise_variance=noise, penalize_intercept=True).fit(x, y)
        truth = w[0] + w[1] * at[:, 0] + noise**0.5 * rng.standard_normal(4)
        low, high = model.predict_interval(at, 0.95).T
        inside[i] = (low <= truth) & (truth <= high)
        plug_in[i] = np.abs(truth - model.predict(at)) <= 1.96 * noise**0.5
    error = np.sqrt(0.95 * 0.05 / n_worlds)
    assert np.all(np.abs(inside.mean(axis=0) - 0.95) <= 4 * error)
    assert np.all(plug_in.mean(axis=0)[2:] < 0.95 - 10 * error)
    assert np.all(np.diff(model.predict_var(at)[1:]) > 0)


@pytest.mark.spec("BLR-09")
def test_draws_have_the_moments_of_the_predictive(X, y):
    n = 40_000
    new = X[:3] + 0.5
    for noise in (0.49, "conjugate"):
        model = BayesianLinearRegression(noise_variance=noise).fit(X, y)
        for include in (True, False):
            draws = model.sample_functions(new, n, random_state=1, include_noise=include)
            joint = model.predict_joint(new, include_noise=include)
            assert draws.shape == (n, 3)
            error = 5 * np.sqrt(np.diag(joint.covariance) / n)
            assert np.all(np.abs(draws.mean(axis=0) - joint.mean) < error)
            found = np.cov(draws.T)
            scale = np.sqrt(np.outer(np.diag(joint.covariance), np.diag(joint.covariance)))
            assert np.all(np.abs(found - joint.covariance) < 5 * scale * np.sqrt(3 / n))
            again = model.sample_functions(new, n, random_state=1, include_noise=include)
            np.testing.assert_array_equal(draws, again)
        theta = model.posterior_.sample(n, rng=2)
        mean, spread = (theta @ with_ones(new).T).mean(axis=0), (theta @ with_ones(new).T).std(axis=0)
        quiet = model.predict_joint(new, include_noise=False)
        assert np.all(np.abs(mean - quiet.mean) < 5 * np.sqrt(np.diag(quiet.covariance) / n))
        np.testing.assert_allclose(spread**2, np.diag(quiet.covariance), rtol=5 * np.sqrt(4 / n))


def test_the_joint_prediction_has_the_margins_of_each_row(X, y):
    for noise in (0.49, "conjugate", "ml"):
        model = BayesianLinearRegression(noise_variance=noise).fit(X, y)
        joint = model.predict_joint(X)  # more rows than parameters
        each = model.predict_dist(X)
        np.testing.assert_allclose(joint.mean, each.mean, rtol=1e-12)
        np.testing.assert_allclose(joint.variance, each.variance, rtol=1e-10)
        # The evidence of new rows is their joint predictive density.
        more = model.predict(X[:6]) + np.linspace(-1, 1, 6)
        after = BayesianLinearRegression(noise_variance=noise).fit(
            np.concatenate([X, X[:6]]), np.concatenate([y, more])
        )
        if noise != "ml":
            rise = after.log_evidence_ - model.log_evidence_
            assert float(model.predict_joint(X[:6]).log_prob(more)) == pytest.approx(rise, rel=1e-9)
    with pytest.raises(ValueError, match="singular"):
        model.predict_joint(X, include_noise=False)


@pytest.mark.spec("KREG-07")
def test_predictions_are_sums_over_an_equivalent_kernel(X, y):
    for options in ({}, {"fit_intercept": False}, {"penalize_intercept": True}):
        for noise in (0.49, "conjugate"):
            model = BayesianLinearRegression(noise_variance=noise, **options).fit(X, y)
            kernel = model.equivalent_kernel(X[:7] + 1.0, X)
            np.testing.assert_allclose(kernel @ y, model.predict(X[:7] + 1.0), rtol=1e-9)
    np.testing.assert_allclose(BayesianLinearRegression().fit(X, y).equivalent_kernel(X, X).sum(axis=1), 1.0)
    ridge = Ridge(alpha=0.49, fit_intercept=False).fit(X, y)
    known = BayesianLinearRegression(noise_variance=0.49, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(known.equivalent_kernel(X, X), ridge.hat_matrix(X), rtol=1e-9, atol=1e-14)
    S = known.posterior_.covariance
    np.testing.assert_allclose(known.equivalent_kernel(X[:2], X), X[:2] @ S @ X.T / 0.49, rtol=1e-9)


@pytest.mark.spec("BLR-11")
def test_any_basis_may_take_the_place_of_the_columns(rng):
    from sklearn.pipeline import make_pipeline

    x = rng.uniform(-1, 1, (60, 1))
    y = np.sin(3 * x[:, 0]) + 0.05 * rng.standard_normal(60)
    model = make_pipeline(PolynomialBasis(degree=7), BayesianLinearRegression(prior_covariance=1e6))
    model.fit(x, y)
    grid = np.linspace(-0.9, 0.9, 9)[:, None]
    np.testing.assert_allclose(model.predict(grid), np.sin(3 * grid[:, 0]), atol=0.1)


# --- the noise ---------------------------------------------------------------------------------------------


@pytest.mark.spec("BLR-22")
def test_the_noise_of_maximum_likelihood_is_plugged_in(X, y):
    model = BayesianLinearRegression(noise_variance="ml", prior_precision=0.1).fit(X, y)
    noise = LinearRegression().fit(X, y).noise_variance_ml_
    assert model.noise_variance_ == pytest.approx(noise, rel=1e-12)
    known = BayesianLinearRegression(noise_variance=float(noise), prior_precision=0.1).fit(X, y)
    np.testing.assert_allclose(model.posterior_.covariance, known.posterior_.covariance, rtol=1e-10)
    # Predictions know that the noise was estimated.
    unbiased, dist = LinearRegression().fit(X, y).noise_variance_ / noise, model.predict_dist(X)
    np.testing.assert_allclose(dist.scale**2, unbiased * known.predict_var(X), rtol=1e-10)
    assert np.all(dist.dof == LinearRegression().fit(X, y).residual_dof_)
    with pytest.warns(NoiseVanishedWarning, match="vanished"):
        exact = BayesianLinearRegression(noise_variance="ml").fit(HOURS[:, None], MARKS)
    assert np.isfinite(exact.log_evidence_)
    with pytest.warns(NoiseVanishedWarning, match="noise_scale"):
        free = BayesianLinearRegression(prior_precision=0.0).fit(HOURS[:, None], MARKS)
    np.testing.assert_allclose(free.coef_, [2.0], rtol=1e-12)
    np.testing.assert_allclose([*exact.coef_, exact.intercept_], [2.0, 1.0], rtol=1e-7)


@pytest.mark.spec("W-08", "BLR-23")
def test_rounding_is_no_noise(rng):
    """What is left of exactly linear targets is rounding, another in each order of the rows."""
    found = []
    for _ in range(5):
        order = rng.permutation(5)
        with pytest.warns(NoiseVanishedWarning, match="vanished"):
            model = BayesianLinearRegression(prior_precision=0.0).fit(HOURS[order, None], MARKS[order])
        spread = model.predict([[3.5]], return_std=True)[1]
        found.append([model.noise_variance_, model.log_evidence_, spread[0], model.noise_posterior_.scale])
    np.testing.assert_allclose(found, [found[0]] * 5, rtol=1e-12)
    assert found[0][0] == pytest.approx(1e-16 * np.mean(MARKS**2), rel=1e-12)
    # A prior of the noise says how large it is, and is believed.
    told = BayesianLinearRegression(prior_precision=0.0, noise_shape=2.0, noise_scale=3.0)
    assert told.fit(HOURS[:, None], MARKS).noise_variance_ == pytest.approx(3.0 / (2.0 + 1.5), rel=1e-12)


def test_the_conjugate_model_integrates_the_noise(X, y):
    a, b = 2.0, 1.5
    options = {"prior_precision": 0.3, "fit_intercept": False}
    model = BayesianLinearRegression(noise_shape=a, noise_scale=b, **options).fit(X, y)
    assert isinstance(model.posterior_, MultivariateStudentT)
    marginal = stats.multivariate_t(
        loc=np.zeros(40), shape=b / a * (np.eye(40) + X @ X.T / 0.3), df=2 * a
    ).logpdf(y)
    assert model.log_evidence_ == pytest.approx(marginal, rel=1e-10)
    # The same by quadrature over the noise: the predictive is a mixture of normals.
    variances = stats.invgamma(a, scale=b).ppf((np.arange(400) + 0.5) / 400)
    parts = [
        BayesianLinearRegression(prior_precision=0.3 / v, noise_variance=v, fit_intercept=False).fit(X, y)
        for v in variances
    ]
    weights = np.exp([p.log_evidence_ - model.log_evidence_ for p in parts])
    assert weights.mean() == pytest.approx(1.0, abs=0.01)
    at = model.predict(X[:1])[0] + 0.5
    mixed = np.mean([w * p.predict_dist(X[:1]).prob(at)[0] for w, p in zip(weights, parts, strict=True)])
    assert model.predict_dist(X[:1]).prob(at)[0] == pytest.approx(mixed, rel=0.01)
    assert isinstance(model.noise_posterior_, InverseGamma)
    assert float(model.noise_posterior_.shape) == a + 20
    assert model.noise_variance_ == pytest.approx(float(model.noise_posterior_.scale) / (a + 20))


def test_too_few_rows_are_said_where_the_noise_is_asked_for(X, y):
    model = BayesianLinearRegression().partial_fit(X[:1], y[:1])
    assert np.isfinite(model.predict(X)).all()
    assert model.noise_posterior_ is None
    with pytest.raises(ValueError, match="too few rows"):
        model.predict_dist(X)
    model.partial_fit(X[1:], y[1:])
    np.testing.assert_allclose(
        model.predict_interval(X), BayesianLinearRegression().fit(X, y).predict_interval(X), rtol=1e-9
    )


# --- the evidence and the course's example -----------------------------------------------------------------


def test_the_evidence_is_the_density_of_the_targets(X, y, rng):
    prior, mean = spd(rng, 3), rng.standard_normal(3)
    model = BayesianLinearRegression(
        prior_mean=mean, prior_covariance=prior, noise_variance=0.4, fit_intercept=False
    ).fit(X, y)
    marginal = MultivariateNormal(mean=X @ mean, covariance=0.4 * np.eye(40) + X @ prior @ X.T)
    assert model.log_evidence_ == pytest.approx(float(marginal.log_prob(y)), rel=1e-10)


@pytest.mark.spec("BLR-10", "W-08")
@pytest.mark.parametrize(
    ("variance", "V", "mean", "log_evidence"),
    [
        (1e6, [0.12195108, -0.35365806, 1.22560813], [2.00000011, 0.99999948], -20.2669924),
        (1e3, [0.12181146, -0.35318259, 1.22398472], [2.00010956, 0.99948238], -13.3624072),
    ],
)
def test_hours_and_marks(variance, V, mean, log_evidence):
    model = BayesianLinearRegression(prior_covariance=variance, noise_variance=1.0, fit_intercept=False).fit(
        DESIGN, MARKS
    )
    np.testing.assert_allclose(model.posterior_.covariance[np.triu_indices(2)], V, atol=5e-9)
    np.testing.assert_allclose(model.coef_, mean, atol=5e-9)
    assert model.log_evidence_ == pytest.approx(log_evidence, abs=5e-8)
    named = BayesianLinearRegression(
        prior_covariance=variance, noise_variance=1.0, penalize_intercept=True
    ).fit(pd.DataFrame({"hours": HOURS}), MARKS)
    slope_first = named.posterior_.marginal(["hours", "intercept"])
    np.testing.assert_allclose(slope_first.covariance, model.posterior_.covariance, rtol=1e-9)
    assert named.log_evidence_ == pytest.approx(log_evidence, abs=5e-8)


@pytest.mark.spec("BLR-10", "E000-40", "W-08")
def test_hours_and_marks_without_a_prior():
    model = BayesianLinearRegression(prior_precision=0.0, noise_variance=1.0).fit(HOURS[:, None], MARKS)
    expected = np.array([[50.25, -14.5], [-14.5, 5.0]]) / 41  # the intercept first
    np.testing.assert_allclose(model.posterior_.covariance, expected, rtol=1e-12)
    mean, spread = model.predict([[3.5]], return_std=True)
    assert mean[0] == pytest.approx(8.0, rel=1e-13)
    assert spread[0] == pytest.approx(np.sqrt(51 / 41), rel=1e-12)
    assert model.predict_var([[3.5]], include_noise=False)[0] == pytest.approx(10 / 41, rel=1e-12)


def test_rows_far_from_the_origin_lose_nothing(X, y):
    near = BayesianLinearRegression(noise_variance=0.5).fit(X, y)
    shift = 2.0**24  # exact in floating point
    far = BayesianLinearRegression(noise_variance=0.5).fit(np.round(X * 1024) / 1024 + shift, y + shift)
    near = near.fit(np.round(X * 1024) / 1024, y + shift)
    np.testing.assert_allclose(far.coef_, near.coef_, rtol=1e-9)
    assert far.log_evidence_ == pytest.approx(near.log_evidence_, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"noise_variance": 0.0}, "noise_variance"),
        ({"noise_variance": None}, "noise_variance"),
        ({"noise_variance": "unknown"}, "noise_variance"),
        ({"noise_shape": 1.0}, "noise_scale"),
        ({"prior_covariance": -1.0}, "prior_covariance"),
        ({"prior_covariance": [[1.0, 2.0], [2.0, 1.0]]}, "prior_covariance"),
        ({"prior_covariance": np.ones((3, 3))}, "prior_covariance"),
        ({"prior_precision": [1.0, -1.0, 1.0]}, "prior_precision"),
        ({"prior_precision": -np.eye(3)}, "prior_precision"),
        ({"prior_precision": np.triu(np.ones((3, 3)))}, "symmetric"),
        ({"prior_precision": 1.0, "prior_covariance": 1.0}, "not both"),
        ({"prior_mean": [1.0, 2.0]}, "prior_mean"),
        ({"prior_mean": np.nan}, "prior_mean"),
    ],
)
def test_bad_parameters_are_one_clear_error(X, y, options, named):
    with pytest.raises(ValueError, match=named):
        BayesianLinearRegression(**options).fit(X, y)


def test_what_neither_prior_nor_rows_say_is_refused(X, y):
    twice = np.column_stack([X, X[:, 0]])
    with pytest.raises(ValueError, match="flat"):
        BayesianLinearRegression(prior_precision=0.0).fit(twice, y)
    half = BayesianLinearRegression(prior_precision=np.diag([1.0, 0.0, 0.0, 1.0])).fit(twice, y)
    assert half.coef_[0] == pytest.approx(half.coef_[3])
    with pytest.raises(ValueError, match="one target"):
        BayesianLinearRegression().fit(X, np.column_stack([y, y]))
    for make in (
        lambda: BayesianLinearRegression.from_precisions(noise_precision=0.0, prior_precision=1.0),
        lambda: BayesianLinearRegression.from_alpha(alpha=-1.0, noise_variance=1.0),
        lambda: half.sample_functions(twice, 0),
    ):
        with pytest.raises(ValueError, match=r"noise_precision|alpha|n_samples"):
            make()


@pytest.mark.parametrize(
    "make",
    [
        BayesianLinearRegression,
        lambda: BayesianLinearRegression(noise_variance=0.5, prior_covariance=np.eye(3)),
        lambda: BayesianLinearRegression(noise_variance="ml", fit_intercept=False),
        BayesianRidge,
        lambda: BayesianRidge(method="em", fit_intercept=False),
        lambda: ARDRegression(threshold_lambda=50.0, compute_score=True),
    ],
)
def test_every_array_library(backend, make, X, y):
    rows, targets = backend.asarray(X), backend.asarray(y)
    model, plain = make().fit(rows, targets), make().fit(X, y)
    for name in ("coef_", "intercept_"):
        assert backend.owns(getattr(model, name))
    np.testing.assert_allclose(to_numpy(model.coef_), plain.coef_, rtol=1e-8, atol=1e-10)
    assert model.log_evidence_ == pytest.approx(plain.log_evidence_, rel=1e-9)
    asked = {
        "predictions": (model.predict(rows), plain.predict(X)),
        "variances": (model.predict_dist(rows).variance, plain.predict_dist(X).variance),
        "together": (model.predict_joint(rows).mean, plain.predict_joint(X).mean),
        "kernel": (model.equivalent_kernel(rows, rows), plain.equivalent_kernel(X, X)),
        "functions": (
            model.sample_functions(rows, 2, random_state=0),
            plain.sample_functions(X, 2, random_state=0),
        ),
        "posterior": (model.posterior_.mean, plain.posterior_.mean),
    }
    for what, (found, expected) in asked.items():
        assert backend.owns(found), what
        np.testing.assert_allclose(to_numpy(found), expected, rtol=1e-6, atol=1e-9, err_msg=what)


@pytest.mark.spec("BLR-23")
@pytest.mark.parametrize("noise", ["conjugate", "ml"])
@pytest.mark.parametrize("level", [0.0, 3.0])
def test_targets_that_do_not_vary_have_no_noise(rng, noise, level):
    X = rng.standard_normal((20, 3))
    with pytest.warns(NoiseVanishedWarning, match="vanished"):
        model = BayesianLinearRegression(noise_variance=noise).fit(X, np.full(20, level))
    assert np.isfinite(model.log_evidence_)
    assert 0.0 < model.noise_variance_ <= 1e-15 * max(level**2, 1.0)
    np.testing.assert_allclose(model.predict(X), level, atol=1e-12)
    assert np.all(np.isfinite(model.predict_interval(X)))
    assert np.all(np.isfinite(model.posterior_.mean))


@pytest.mark.spec("LIN-43")
def test_least_squares_is_the_likeliest_plane_for_any_noise_and_the_belief_adds_how_sure_it_is(X, y):
    plane = LinearRegression().fit(X, y)
    theta, design = np.r_[plane.intercept_, plane.coef_], with_ones(X)
    for noise in (0.01, 0.5, 9.0):

        def likelihood(at, noise=noise):
            return Normal(mean=design @ at, variance=noise).log_prob(y).sum()

        for i in range(4):
            for step in (-1e-3, 1e-3):
                assert likelihood(theta + step * np.eye(4)[i]) < likelihood(theta)
        flat = BayesianLinearRegression(prior_precision=0.0, noise_variance=noise).fit(X, y)
        np.testing.assert_allclose(flat.posterior_.mean, theta, rtol=1e-9)
        np.testing.assert_allclose(
            flat.posterior_.covariance, noise * np.linalg.inv(design.T @ design), rtol=1e-7
        )
        # A point estimate would predict the noise alone; the belief widens away from the rows.
        far = np.stack([X.mean(axis=0), X.mean(axis=0) + 100.0])
        variances = flat.predict_var(far)
        assert noise < variances[0] < variances[1]
        np.testing.assert_allclose(
            variances,
            noise * (1.0 + np.sum(with_ones(far) @ np.linalg.inv(design.T @ design) * with_ones(far), 1)),
        )


@pytest.mark.spec("BLR-12")
def test_the_lasso_is_the_mode_under_a_laplace_prior(rng):
    """Sparse, unlike its mean: the density has a kink at zero, and no closed form of its normaliser."""
    X = rng.standard_normal((60, 5))
    y = X @ [2.0, 0.0, -1.0, 0.0, 0.05] + rng.standard_normal(60)
    noise, scale = 1.0, 0.05
    # (1/2σ²) |y - Xw|² + |w|₁/b is n/σ² times scikit-learn's (1/2n) |y - Xw|² + alpha |w|₁.
    w = Lasso(noise / (len(y) * scale), fit_intercept=False, tol=1e-12).fit(X, y).coef_
    assert np.any(w == 0.0)
    assert np.any(w != 0.0)

    def log_posterior(at):
        likelihood = Normal(mean=X @ at, variance=noise).log_prob(y).sum()
        return likelihood + Laplace(location=0.0, scale=scale).log_prob(at).sum()

    best = log_posterior(w)
    for step in (*np.eye(5), *rng.standard_normal((20, 5))):
        for size in (-1e-2, -1e-4, 1e-4, 1e-2):
            assert log_posterior(w + size * step) < best


@pytest.mark.spec("BLR-09")
def test_draws_do_not_depend_on_the_root_of_the_posterior(X, y, rng):
    """Roots differ by a rotation, by signs of eigenvectors say, between libraries; draws of a seed do not."""
    for model in (BayesianRidge(), ARDRegression(), BayesianLinearRegression()):
        expected = model.fit(X, y).sample_functions(X[:4], 3, random_state=0)
        held = model._posterior_
        factor = held.root.factor
        turned = np.linalg.qr(rng.standard_normal((factor.shape[1],) * 2))[0]
        model._posterior_ = replace(held, root=replace(held.root, factor=factor @ turned))
        np.testing.assert_allclose(model.sample_functions(X[:4], 3, random_state=0), expected, rtol=1e-9)
