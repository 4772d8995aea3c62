"""Posteriors of models by Markov chains, against exact ones, grids and calibration by simulation."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_ndtr

import tractable
from quick import some
from tractable import (
    BayesianGaussianMixture,
    BayesianLinearRegression,
    BayesianLogisticRegression,
    GaussianProcessRegressor,
    Lasso,
    RobustRegression,
    sample_posterior,
)
from tractable.arrays import check_gradient
from tractable.linear_model.bayes.gibbs import LinearGibbs
from tractable.sampling import State
from tractable.testing import SampledTarget, geweke_joint_test
from tractable.testing.sampler_laws import steps_are_pure

RNG = np.random.default_rng(0)
X = RNG.standard_normal((40, 2)) * [1.0, 3.0] + [0.5, 0.0]
Y = 2.0 + X @ [1.0, -0.5] + 0.5 * RNG.standard_t(4, 40)
LABELS = np.where(Y + RNG.standard_normal(40) > 2.0, "late", "early")
OLD_FAITHFUL = tractable.datasets.load("old_faithful").frame.to_numpy()


#: Shapes of covariances that are asked of last.
REST = ("tied", "diag", "spherical")


def within(found, name, mean, sigmas=5.0):
    diagnosis = found.chains.diagnoses[name]
    return np.all(np.abs(diagnosis.mean - mean) < sigmas * diagnosis.mcse_mean + 1e-12)


@pytest.mark.spec("BLR-12")
def test_the_laplace_prior_has_the_lasso_as_its_mode_and_the_grid_s_posterior():
    """Means by a sum over a grid of two coefficients, the noise integrated out in closed form."""
    model = Lasso(alpha=0.4)
    found = sample_posterior(model, X, Y, n_samples=2000, rng=0)
    x, y = X - X.mean(axis=0), Y - Y.mean()
    a, b = np.meshgrid(np.linspace(-0.5, 2.0, 401), np.linspace(-1.0, 0.3, 401), indexing="ij")
    w = np.stack([a.ravel(), b.ravel()], axis=1)
    rss = y @ y - 2.0 * w @ (x.T @ y) + np.einsum("ni,ij,nj->n", w, x.T @ x, w)
    cost = 0.5 * rss + 40 * 0.4 * np.abs(w).sum(axis=1)  # of the lasso, times the number of rows
    np.testing.assert_allclose(w[np.argmin(cost)], model.fit(X, Y).coef_, atol=0.01)
    weights = (cost / cost.min()) ** -(0.5 * 39 + 2)  # ∫ over the noise
    truth = weights @ w / weights.sum()
    assert within(found, "coef", truth)
    second = weights @ w**2 / weights.sum() - truth**2
    np.testing.assert_allclose(found.chains.diagnoses["coef"].sd, np.sqrt(second), rtol=0.1)
    assert found.kind == "mode, the lasso"


def test_gibbs_of_a_conjugate_regression_is_the_exact_posterior():
    model = BayesianLinearRegression(prior_precision=0.5, noise_shape=2.0, noise_scale=1.0)
    found = sample_posterior(model, X, Y, n_samples=2000, rng=0)
    exact = model.fit(X, Y)
    assert within(found, "coef", exact.coef_)
    assert within(found, "intercept", exact.intercept_)
    assert within(found, "noise_variance", float(exact.noise_posterior_.mean))
    np.testing.assert_allclose(found.comparison()["sd_ratio"], 1.0, atol=0.08)
    counts = RNG.integers(0, 3, 40)
    weighted = sample_posterior(model, X, Y, sample_weight=counts, n_samples=50, rng=1)
    repeated = sample_posterior(
        model, np.repeat(X, counts, axis=0), np.repeat(Y, counts), n_samples=50, rng=1
    )
    np.testing.assert_allclose(weighted["coef"], repeated["coef"], rtol=1e-6)


def lasso_step(design, y, alpha, shape=3.0, scale=2.0):
    d = design.shape[1]
    return [
        LinearGibbs(
            products=design.T @ design, moment=design.T @ row, square=float(row @ row), weight=len(row),
            prior_precision=np.zeros((d, d)), prior_mean=np.zeros(d), penalty=alpha, noise_shape=shape,
            noise_scale=scale,
        )
        for row in y
    ]  # fmt: skip


@pytest.mark.spec("BLR-12")
@pytest.mark.parametrize("wrong", [1.0, 1.5])
def test_geweke_s_joint_test_of_the_laplace_prior(wrong):
    design, alpha = RNG.standard_normal((6, 2)), 3.0

    def prior(rng, n):
        variance = 2.0 / rng.standard_gamma(3.0, n)
        w = rng.laplace(size=(n, 2)) * variance[:, None] / alpha
        return np.column_stack([w, variance])

    def simulate(rng, p):
        return p[:, :2] @ design.T + np.sqrt(p[:, 2:]) * rng.standard_normal((len(p), 6))

    def update(rng, p, y):
        steps = lasso_step(design, y, alpha * wrong)
        states = [
            step(rng, State({"coef": row[None, :2], "noise_variance": row[2:]}))[0].position
            for step, row in zip(steps, p, strict=True)
        ]
        return np.array([np.append(s["coef"][0], s["noise_variance"]) for s in states])

    def tame(p, y):
        """Functions with finite variances."""
        log_variance = np.log(p[:, 2:])
        unit = p[:, :2] / p[:, 2:]
        return np.concatenate([unit, np.abs(unit), log_variance, log_variance * np.abs(unit)], axis=1)

    z = geweke_joint_test(prior, simulate, update, tame, n_chains=1500, n_steps=3, rng=0)
    assert bool(np.all(np.abs(z) < 5.0)) is (wrong == 1.0)


@pytest.mark.parametrize("n_classes", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_logistic_posteriors_have_right_gradients_and_are_near_laplace_s(n_classes):
    labels = LABELS if n_classes == 2 else np.digitize(Y, np.quantile(Y, [0.3, 0.6]))
    fitted = BayesianLogisticRegression(alpha=1.0).fit(X, labels)
    target = fitted._posterior_sampler(X, labels, None).step.log_prob
    u = 0.5 * np.random.default_rng(3).standard_normal(target.root.shape[0])
    check_gradient(lambda v: target(v[None])[0][0], target(u[None])[1][0], u)
    found = sample_posterior(BayesianLogisticRegression(alpha=1.0), X, labels, n_samples=300, rng=0)
    table = found.comparison()
    assert list(table.index) == [f"coef[{name}]" for name in fitted.posterior_.names]
    assert np.all(np.abs(table["shift"]) < 0.7)
    assert np.all(np.abs(np.log(table["sd_ratio"])) < 0.35)


@pytest.mark.parametrize(
    ("link", "log_probability"), [("logit", lambda m: -np.logaddexp(0.0, -m)), ("probit", log_ndtr)]
)
def test_a_logistic_posterior_of_two_coefficients_is_that_of_a_grid(link, log_probability):
    model = BayesianLogisticRegression(alpha=0.5, fit_intercept=False, link=link)
    found = sample_posterior(model, X, LABELS, n_samples=800, rng=0)
    sign = np.where(LABELS == "late", 1.0, -1.0)
    a, b = np.meshgrid(np.linspace(-4, 6, 301), np.linspace(-4, 3, 301), indexing="ij")
    w = np.stack([a.ravel(), b.ravel()], axis=1)
    log_p = log_probability((w @ X.T) * sign).sum(axis=1) - 0.25 * np.sum(w * w, axis=1)
    weights = np.exp(log_p - log_p.max())
    assert within(found, "coef", weights @ w / weights.sum())


@pytest.mark.parametrize(
    "noise", some([{"noise": "student", "dof": 4.0}, {"noise": "laplace"}, {"noise": "gaussian"}])
)
def test_robust_posteriors(noise):
    fitted = RobustRegression(**noise).fit(X, Y)
    target = fitted._posterior_sampler(X, Y, None).step.log_prob
    u = 0.3 * np.random.default_rng(3).standard_normal(4)
    check_gradient(lambda v: target(v[None])[0][0], target(u[None])[1][0], u, rtol=1e-6)
    found = sample_posterior(RobustRegression(**noise), X, Y, n_samples=300, rng=0)
    assert np.all(np.abs(found.comparison().iloc[:3]["shift"]) < 0.6)
    if noise["noise"] == "gaussian":  # Student's t about least squares
        assert within(found, "coef", np.append(fitted.intercept_, fitted.coef_))


@pytest.mark.slow
def test_hyper_parameters_of_a_gaussian_process():
    x = np.sort(RNG.uniform(0.0, 6.0, 12))[:, None]
    y = np.sin(x[:, 0]) + 0.2 * RNG.standard_normal(12)
    fitted = GaussianProcessRegressor().fit(x, y)
    target = fitted._posterior_sampler(x, y, None).step.log_prob
    u = target.point(fitted._process_.prior.theta) + 0.1
    check_gradient(lambda v: target(v)[0], target(u)[1], u, rtol=1e-5)
    found = sample_posterior(GaussianProcessRegressor(), x, y, n_samples=30, n_warm_up=30, n_chains=2, rng=0)
    bounds = fitted._process_.prior.bounds
    assert np.all((found["theta"] > bounds[:, 0]) & (found["theta"] < bounds[:, 1]))
    assert np.all(np.abs(found.comparison()["shift"]) < 2.0)


def mixture():
    kind = "dirichlet_distribution"
    return BayesianGaussianMixture(2, weight_concentration_prior_type=kind, random_state=0)


def test_gibbs_of_a_mixture_is_near_the_variational_answer():
    found = sample_posterior(mixture(), OLD_FAITHFUL, n_samples=200, n_warm_up=50, rng=0)
    fitted = mixture().fit(OLD_FAITHFUL)
    order = np.argsort(-fitted.weights_)
    diagnosis = found.chains.diagnoses["means"]
    assert np.all(np.abs(diagnosis.mean - fitted.means_[order]) < 0.3 * diagnosis.sd)
    assert np.all(diagnosis.r_hat < 1.05)
    assert np.all(np.abs(found.comparison()["shift"]) < 0.3)
    best = OLD_FAITHFUL.shape[0] * fitted.score(OLD_FAITHFUL)
    assert best - 20.0 < found["log_likelihood"].mean() < best + 2.0


def draw_precisions(rng, n, kind):
    """Precisions (n, 2, 2) of two components of two columns: dof 5, W₀⁻¹ = 2 I."""
    if kind == "full":
        lower = np.zeros((n, 2, 2, 2))
        lower[..., 0, 0], lower[..., 1, 1] = (np.sqrt(rng.chisquare(df, (n, 2))) for df in (5.0, 4.0))
        lower[..., 1, 0] = rng.standard_normal((n, 2))
        return lower @ np.swapaxes(lower, -1, -2) / 2.0
    if kind == "tied":
        return np.repeat(draw_precisions(rng, n, "full")[:, :1], 2, axis=1)
    columns = rng.chisquare(5.0, (n, 2, 2)) / 2.0
    if kind == "spherical":
        columns = np.repeat(rng.chisquare(10.0, (n, 2, 1)) / 4.0, 2, axis=2)
    return columns[..., None] * np.eye(2)


@pytest.mark.parametrize("sticks", [False, True])
@pytest.mark.parametrize(
    ("kind", "wrong"),
    [("full", 0.0), ("full", 1.5), *(pytest.param(k, 0.0, marks=pytest.mark.slow) for k in REST)],
)
def test_geweke_s_joint_test_of_a_mixture(kind, wrong, sticks):
    """Four rows of a mixture of two components in two dimensions; with a wrong prior it must fail."""
    from tractable.mixture.bayesian_gaussian.gibbs import MixtureGibbs
    from tractable.mixture.bayesian_gaussian.model import MixturePrior

    prior = MixturePrior(
        sticks=sticks, concentration=2.0, strength=0.5, mean=np.zeros(2), dof=5.0 + wrong,
        scatter=2.0 * np.eye(2),
    )  # fmt: skip

    def draw(rng, n):
        first = rng.beta(1.0 if sticks else 2.0, 2.0, (n, 1))
        precision = draw_precisions(rng, n, kind)
        factor = np.linalg.cholesky(np.linalg.inv(precision))
        means = np.einsum("ncij,ncj->nci", factor, rng.standard_normal((n, 2, 2))) / np.sqrt(0.5)
        covariance = np.linalg.inv(precision)
        return np.concatenate([first, 1.0 - first, means.reshape(n, 4), covariance.reshape(n, 8)], axis=1)

    def simulate(rng, p):
        labels = (rng.random((len(p), 4)) < p[:, 1:2]).astype(int)
        at = np.arange(len(p))[:, None]
        factor = np.linalg.cholesky(p[:, 6:].reshape(-1, 2, 2, 2))[at, labels]
        mean = p[:, 2:6].reshape(-1, 2, 2)[at, labels]
        rows = mean + np.einsum("nrij,nrj->nri", factor, rng.standard_normal(mean.shape))
        return rows.reshape(len(p), 8)

    def update(rng, p, y):
        rows = []
        for one, x in zip(p, y, strict=True):
            step = MixtureGibbs(rows=x.reshape(4, 2), prior=prior, n_components=2, covariance_type=kind)
            at = step._sweep(rng, one[:2], one[2:6].reshape(2, 2), one[6:].reshape(2, 2, 2))
            rows.append(np.concatenate([part.ravel() for part in at[:3]]))
        return np.array(rows)

    def tame(p, y):
        means, log_variance = np.tanh(p[:, 2:6]), np.log(p[:, [6, 9, 10, 13]])
        cross = np.tanh(p[:, [7, 11] if kind in ("full", "tied") else []])
        return np.concatenate(
            [p[:, :1], p[:, :1] ** 2, means, means**2, log_variance, log_variance * means, cross], axis=1
        )

    z = geweke_joint_test(draw, simulate, update, tame, n_chains=1200, n_steps=3, rng=0)
    assert bool(np.all(np.abs(z) < 5.0)) is (wrong == 0.0)


@pytest.mark.parametrize("kind", some(["tied", "diag", "spherical", "full"]))
def test_mixtures_of_every_shape_by_sticks(kind):
    """Covariances keep their shape, weights sum to one, and means are near the variational ones."""
    model = BayesianGaussianMixture(2, covariance_type=kind, random_state=0)
    found = sample_posterior(model, OLD_FAITHFUL, n_samples=150, n_warm_up=50, rng=0)
    np.testing.assert_allclose(found["weights"].sum(axis=-1), 1.0)
    fitted = model.fit(OLD_FAITHFUL)
    diagnosis = found.chains.diagnoses["means"]
    assert np.all(np.abs(diagnosis.mean - fitted.means_[np.argsort(-fitted.weights_)]) < 0.5 * diagnosis.sd)
    covariances = found["covariances"]
    if kind == "tied":
        np.testing.assert_array_equal(covariances[..., 0, :, :], covariances[..., 1, :, :])
    if kind in ("diag", "spherical"):
        assert np.all(covariances[..., 0, 1] == 0.0)
    if kind == "spherical":
        np.testing.assert_allclose(covariances[..., 0, 0], covariances[..., 1, 1], rtol=1e-12)
    assert np.all(np.abs(found.comparison()["shift"]) < 0.5)


def test_whole_weights_of_a_mixture_are_repeated_rows():
    rows, counts = OLD_FAITHFUL[:60], np.random.default_rng(0).integers(0, 3, 60)
    short = {"n_samples": 5, "n_warm_up": 5, "n_chains": 1, "rng": 0}
    weighted = sample_posterior(mixture(), rows, sample_weight=counts, **short)
    repeated = sample_posterior(mixture(), np.repeat(rows, counts, axis=0), **short)
    np.testing.assert_allclose(weighted["means"], repeated["means"], rtol=1e-3)
    with pytest.raises(ValueError, match="sample_weight"):
        sample_posterior(mixture(), rows, sample_weight=counts + 0.5, **short)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (BayesianLogisticRegression(alpha=1.0), LABELS),
        (RobustRegression(), Y),
        (Lasso(alpha=0.1), Y),
        (BayesianLinearRegression(prior_precision=0.5, noise_shape=2.0, noise_scale=1.0), Y),
        (BayesianGaussianMixture(2, random_state=0), None),
        (GaussianProcessRegressor(), Y),
    ],
    ids=lambda x: type(x).__name__,
)
def test_frames_keep_their_names(model, y):
    """Without a warning; names of columns are those of entries."""
    frame = pd.DataFrame(X, columns=["width", "height"])
    short = {"n_samples": 5, "n_warm_up": 2, "n_chains": 2, "rng": 0}
    found = sample_posterior(model, frame, y, **short)
    if "coef" in found.chains.draws:
        assert [row for row in found.chains.summary().index if row.startswith("coef")][-1] == "coef[height]"


def test_steps_of_models_are_pure(rng):
    how = mixture().fit(OLD_FAITHFUL)._posterior_sampler(OLD_FAITHFUL, None, None)
    steps_are_pure(SampledTarget(step=how.step, draw=how.start), rng)
    how = Lasso(alpha=0.1).fit(X, Y)._posterior_sampler(X, Y, None)
    steps_are_pure(SampledTarget(step=how.step, draw=how.start), rng)


@pytest.mark.parametrize(
    ("call", "named"),
    [
        (lambda: sample_posterior(tractable.KMeans(2), X), "model"),
        (lambda: sample_posterior(3, X), "model"),
        (lambda: sample_posterior(Lasso(alpha=0.0), X, Y), "alpha"),
        (lambda: sample_posterior(BayesianLinearRegression(noise_variance=1.0), X, Y), "noise_variance"),
        (lambda: sample_posterior(RobustRegression("gaussian"), np.repeat(X[:, :1], 2, axis=1), Y), "X must"),
        (lambda: sample_posterior(Lasso(), X * np.nan, Y), "X"),
    ],
)
def test_bad_input_is_one_clear_error(call, named):
    with pytest.raises(ValueError, match=named):
        call()
