"""Gaussian process regression: textbook digits, identities, other libraries, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessRegressor as Theirs
from sklearn.gaussian_process import kernels as theirs

import tractable
from tractable.arrays.gradient import check_gradient
from tractable.distributions import Gamma, Normal, StudentT
from tractable.gaussian_process import GaussianProcessRegressor
from tractable.gaussian_process.posteriors.exact import (
    DualPosterior,
    Observations,
    PrimalPosterior,
    log_evidence,
    primal_log_evidence,
)
from tractable.kernels import (
    RBF,
    Categorical,
    Constant,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    Scaled,
    Sigmoid,
    Subspace,
    White,
)
from tractable.linear_model import FunctionBasis

HOURS, MARKS = np.array([[1.0], [2.0], [3.0], [4.0], [4.5]]), np.array([3.0, 5.0, 7.0, 9.0, 10.0])
RNG = np.random.default_rng(5)
X = RNG.standard_normal((40, 3))
Y = np.sin(X[:, 0]) + X[:, 1] ** 2 + 0.1 * RNG.standard_normal(40) + 5.0
NEW = RNG.standard_normal((7, 3))
KERNEL = 2.0 * RBF([1.0, 2.0, 3.0]) + White(0.3)


def fixed(kernel=KERNEL, **options):
    return GaussianProcessRegressor(kernel, **{"mean": "zero", "optimizer": None, **options})


def observations(x=X, y=Y, basis=None):
    columns = np.ones((len(x), 0)) if basis is None else basis
    return Observations(x=x, y=y.reshape(len(y), -1), basis=columns, noise_scale=np.ones(len(x)))


# -- published digits ---------------------------------------------------------------------------------------


@pytest.mark.spec("W-12", "GP-03", "GP-05", "GP-08", "GP-17", "GP-19", "KER-23")
def test_hours_studied():
    model = fixed(RBF(), noise_variance=0.1).fit(HOURS, MARKS)
    found = model.predict_dist([[3.5], [0.0], [10.0]])
    np.testing.assert_allclose(found.mean, [7.96419512, 1.07034709, 2.32e-6], rtol=2e-3)
    np.testing.assert_allclose(found.mean[:2], [7.96419512, 1.07034709], rtol=1e-8)
    np.testing.assert_allclose(found.variance, [0.18171169, 0.70493047, 1.1], rtol=1e-7)
    np.testing.assert_allclose(model.log_evidence_, -61.11615704, rtol=1e-9)


@pytest.mark.spec("W-12", "GP-09")
def test_gradients_of_hours_studied():
    model = fixed(1.0 * RBF() + White(0.1)).fit(HOURS, MARKS)
    value, gradient = model.log_marginal_likelihood(eval_gradient=True)
    np.testing.assert_allclose(value, -61.11615704, rtol=1e-9)
    # By logarithms: scale 1, length scale 1, noise 0.1.
    np.testing.assert_allclose(gradient, [51.15566469, 29.33502938, 0.1 * 38.13288154], rtol=1e-8)


# -- against scikit-learn -----------------------------------------------------------------------------------

PAIRS = {
    "ard": (KERNEL, theirs.ConstantKernel(2.0) * theirs.RBF([1.0, 2.0, 3.0]) + theirs.WhiteKernel(0.3)),
    "matern": (Matern(1.5, nu=2.5) + White(0.2), theirs.Matern(1.5, nu=2.5) + theirs.WhiteKernel(0.2)),
    "rough": (Matern(0.7, nu=0.5) + White(0.2), theirs.Matern(0.7, nu=0.5) + theirs.WhiteKernel(0.2)),
    "sum": (
        Constant(3.0) + RBF(2.0) * RBF(0.5) + White(0.1),
        theirs.ConstantKernel(3.0) + theirs.RBF(2.0) * theirs.RBF(0.5) + theirs.WhiteKernel(0.1),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.spec("GP-08", "GP-09", "GP-05", "GP-04")
def test_scikit_learn_agrees(name):
    ours, other = PAIRS[name]
    model = fixed(ours).fit(X, Y)
    peer = Theirs(other, alpha=0.0, optimizer=None).fit(X, Y)
    np.testing.assert_allclose(model.log_evidence_, peer.log_marginal_likelihood_value_, rtol=1e-10)
    np.testing.assert_allclose(model.predict(NEW), peer.predict(NEW), rtol=1e-8)
    np.testing.assert_allclose(
        model.predict(NEW, return_std=True)[1], peer.predict(NEW, return_std=True)[1], rtol=1e-8
    )
    covariance = model.predict(NEW, return_cov=True)[1]
    np.testing.assert_allclose(covariance, peer.predict(NEW, return_cov=True)[1], rtol=1e-8, atol=1e-10)
    gradient = model.log_marginal_likelihood(eval_gradient=True)[1]
    expected = peer.log_marginal_likelihood(peer.kernel_.theta, eval_gradient=True)[1]
    np.testing.assert_allclose(gradient, expected, rtol=1e-8, atol=1e-8)


@pytest.mark.spec("GP-10", "GP-13", "E000-51")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_the_search_is_as_good_as_scikit_learns():
    kernel = Scaled(RBF(np.ones(3))) + White(1.0)
    model = GaussianProcessRegressor(kernel, mean="zero").fit(X, Y)
    peer = Theirs(
        theirs.ConstantKernel(1.0) * theirs.RBF(np.ones(3)) + theirs.WhiteKernel(1.0), alpha=0.0
    ).fit(X, Y)
    assert model.log_evidence_ >= peer.log_marginal_likelihood_value_ - 1e-6
    gradient = model.log_marginal_likelihood(eval_gradient=True)[1]
    assert np.all(np.abs(gradient) < 1e-2)


# -- the mean -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mean", ["constant", "linear"])
def test_a_flat_prior_is_the_limit_of_a_wide_one(mean):
    wide = 1e7
    design = np.ones((40, 1)) if mean == "constant" else np.column_stack([np.ones(40), X])
    flat = fixed(mean=mean).fit(X, Y)
    added = KERNEL.terms[0] + Constant(wide, constant_value_bounds="fixed")
    if mean == "linear":
        added = added + Scaled(Linear(0.0), wide, scale_bounds="fixed")
    vague = fixed(added + White(0.3)).fit(X, Y)
    np.testing.assert_allclose(flat.predict(NEW), vague.predict(NEW), rtol=1e-5)
    np.testing.assert_allclose(flat.predict_var(NEW), vague.predict_var(NEW), rtol=1e-5)
    m = design.shape[1]
    np.testing.assert_allclose(
        flat.log_evidence_, vague.log_evidence_ + 0.5 * m * np.log(2.0 * np.pi * wide), atol=1e-3
    )


@pytest.mark.parametrize("mean", ["zero", "constant", "linear", tractable.PolynomialBasis(2)])
def test_evidence_with_a_mean_is_a_density_of_contrasts(mean):
    """Rasmussen and Williams (2.45): the density of what is left beside the mean, times a Jacobian."""
    model = fixed(mean=mean).fit(X, Y)
    covariance = KERNEL(X)
    if isinstance(mean, str):
        design = np.column_stack([np.ones(40), X])[:, : {"zero": 0, "constant": 1, "linear": 4}[mean]]
    else:
        design = np.column_stack([np.ones(40), clone(mean).fit(X).transform(X)])
    m = design.shape[1]
    contrasts = np.linalg.qr(np.column_stack([design, np.eye(40)]))[0][:, m:40]
    found = multivariate_normal(cov=contrasts.T @ covariance @ contrasts).logpdf(contrasts.T @ Y)
    found -= 0.5 * np.linalg.slogdet(design.T @ design)[1]
    np.testing.assert_allclose(model.log_evidence_, found, rtol=1e-8)


def test_shifted_targets_shift_predictions():
    model, moved = fixed(mean="constant").fit(X, Y), fixed(mean="constant").fit(X, Y + 100.0)
    np.testing.assert_allclose(moved.predict(NEW), model.predict(NEW) + 100.0, rtol=1e-10)
    np.testing.assert_allclose(moved.log_evidence_, model.log_evidence_, rtol=1e-9)


def test_dependent_functions_of_the_mean_are_left_out():
    twice = np.column_stack([X, X[:, 0]])
    model = fixed(2.0 * RBF(2.0) + White(0.3), mean="linear").fit(twice, Y)
    once = fixed(mean="linear").fit(X, Y)
    assert model.mean_coef_.shape == once.mean_coef_.shape == (4,)


@pytest.mark.parametrize("normalize", [False, True])
def test_coefficients_of_the_mean_are_in_natural_units(normalize):
    x, scale = 100.0 + 5.0 * X, np.array([3.0, 1.0, 0.0])
    targets = np.column_stack([1000.0 + x @ scale, 5.0 - x @ scale])
    kernel = 1e-4 * RBF(10.0) + White(1e-4)
    found = fixed(kernel, mean="linear", normalize_y=normalize).fit(x, targets).mean_coef_
    np.testing.assert_allclose(found, [[1000.0, 5.0], [3.0, -3.0], [1.0, -1.0], [0.0, 0.0]], atol=0.05)
    square = FunctionBasis(["square"])
    found = (
        fixed(kernel, mean=square, normalize_y=normalize).fit(x[:, :1], 7.0 + 2.0 * x[:, 0] ** 2).mean_coef_
    )
    np.testing.assert_allclose(found, [7.0, 2.0], atol=0.05)
    level = fixed(kernel, normalize_y=normalize, mean="constant").fit(x, np.full(40, 8.0)).mean_coef_
    np.testing.assert_allclose(level, [8.0])


@pytest.mark.parametrize("first", [1, 2, 3])
@pytest.mark.parametrize("mean", ["linear", FunctionBasis(["square", "sin"])])
@pytest.mark.parametrize("kernel", [KERNEL, Linear() + White(0.3)])
def test_functions_of_the_mean_that_later_rows_tell_apart_are_kept_then(first, mean, kernel):
    x = X.copy()
    x[:3, 2] = 1.5
    grown = fixed(kernel, mean=mean).fit(x[:first], Y[:first]).partial_fit(x[first:], Y[first:])
    whole = fixed(kernel, mean=mean).fit(x, Y)
    np.testing.assert_allclose(grown.predict(NEW), whole.predict(NEW), rtol=1e-7)
    np.testing.assert_allclose(grown.predict_var(NEW), whole.predict_var(NEW), rtol=1e-7)
    np.testing.assert_allclose(grown.log_evidence_, whole.log_evidence_, rtol=1e-8)
    np.testing.assert_allclose(grown.mean_coef_, whole.mean_coef_, rtol=1e-6, atol=1e-9)


# -- evidence, posterior, leave-one-out ---------------------------------------------------------------------


@pytest.mark.parametrize("basis", [None, np.ones((40, 1)), np.column_stack([np.ones(40), X])])
@pytest.mark.parametrize("kernel", [2.0 * RBF([1.0, 2.0, 3.0]), Linear() + 0.5 * Matern(2.0, nu=1.5)])
@pytest.mark.spec("GP-09")
def test_the_gradient_is_that_of_differences(kernel, basis):
    rows = observations(y=np.column_stack([Y, np.cos(X[:, 2])]), basis=basis)

    def value(theta):
        return log_evidence(kernel.with_theta(theta[:-1]), np.exp(theta[-1]), rows, gradient=False).value

    theta = np.append(kernel.theta, np.log(0.3))
    found = log_evidence(kernel, 0.3, rows)
    check_gradient(value, np.append(found.kernel_gradient, found.noise_gradient), theta)


def test_one_evaluation_takes_the_memory_of_one_matrix():
    import tracemalloc

    n = 1200
    x = RNG.standard_normal((n, 4))
    rows = observations(x, np.sin(x[:, 0]))
    log_evidence(2.0 * RBF(np.ones(4)), 0.1, rows)
    tracemalloc.start()
    log_evidence(2.0 * RBF(np.ones(4)), 0.1, rows)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 1.6 * 8 * n**2  # blocks of rows are a larger part of so small a matrix


@pytest.mark.parametrize("kernel", [KERNEL, Linear() + White(0.3)])
@pytest.mark.parametrize("mean", ["zero", "linear"])
def test_leave_one_out_is_refitting(kernel, mean):
    model = fixed(kernel, mean=mean).fit(X, Y)
    found = model.leave_one_out()
    for i in (0, 17, 39):
        keep = np.arange(40) != i
        left = fixed(kernel, mean=mean).fit(X[keep], Y[keep]).predict_dist(X[i : i + 1])
        np.testing.assert_allclose(
            [found.mean[i], found.variance[i]], [left.mean[0], left.variance[0]], rtol=1e-8
        )
    np.testing.assert_allclose(model.loo_log_density_, np.mean(found.log_prob(Y)), rtol=1e-10)


def test_leave_one_out_of_equal_rows_leaves_one_of_them():
    x, y = np.repeat(X[:15], 2, axis=0), Y[:30]
    found = fixed(mean="constant").fit(x, y).leave_one_out()
    for i in (0, 7):
        keep = np.arange(30) != i
        left = fixed(mean="constant").fit(x[keep], y[keep]).predict_dist(x[i : i + 1])
        np.testing.assert_allclose(
            [found.mean[i], found.variance[i]], [left.mean[0], left.variance[0]], rtol=1e-8
        )


def test_equal_rows_are_joined_exactly():
    x, y = np.repeat(X[:15], 3, axis=0), np.tile(Y[:15], 3) + 0.1 * RNG.standard_normal(45)
    model = fixed(mean="constant").fit(x, y)
    assert model._process_.parts[0].posterior.rows.x.shape[0] == 15
    covariance = KERNEL(x)
    ones = np.ones((45, 1))
    whole = log_evidence(KERNEL.terms[0], 0.3, observations(x, y, ones))
    np.testing.assert_allclose(model.log_evidence_, whole.value, rtol=1e-10)
    gradient = model.log_marginal_likelihood(eval_gradient=True)[1]
    np.testing.assert_allclose(gradient, np.append(whole.kernel_gradient, whole.noise_gradient), rtol=1e-8)
    weights = np.linalg.solve(covariance, ones)
    centre = float(weights[:, 0] @ y / weights.sum())
    cross = KERNEL(NEW, x)
    np.testing.assert_allclose(
        model.predict(NEW), centre + cross @ np.linalg.solve(covariance, y - centre), rtol=1e-8
    )


@pytest.mark.spec("KREG-06", "E000-50")
def test_the_mean_is_kernel_ridge_regression():
    from sklearn.kernel_ridge import KernelRidge

    model = fixed(RBF(1.5), noise_variance=0.1).fit(X, Y)
    ridge = KernelRidge(alpha=0.1, kernel="rbf", gamma=0.5 / 1.5**2).fit(X, Y)
    np.testing.assert_allclose(model.predict(NEW), ridge.predict(NEW), rtol=1e-9)
    np.testing.assert_allclose(model.dual_coef_, ridge.dual_coef_, rtol=1e-8)
    # With a prior variance of σ_w² of the weights, the penalty is the noise variance over it.
    scaled = fixed(Scaled(RBF(1.5), 4.0), noise_variance=0.4).fit(X, Y)
    np.testing.assert_allclose(scaled.predict(NEW), ridge.predict(NEW), rtol=1e-9)


# -- the space of features ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [Linear(0.5), Polynomial(2), Linear(1.0) + Constant(2.0)])
@pytest.mark.spec("GP-14", "GP-02")
def test_features_and_rows_say_the_same(kernel):
    rows = observations(basis=np.ones((40, 1)))
    dual, primal = (find(kernel, 0.3, rows) for find in (log_evidence, primal_log_evidence))
    np.testing.assert_allclose(primal.value, dual.value, rtol=1e-9)
    np.testing.assert_allclose(primal.kernel_gradient, dual.kernel_gradient, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(primal.noise_gradient, dual.noise_gradient, rtol=1e-8)
    model = fixed(kernel + White(0.3), mean="constant").fit(X, Y)
    assert isinstance(model._process_.parts[0].posterior, PrimalPosterior)
    few = fixed(kernel + White(0.3), mean="constant").fit(X[:3], Y[:3])
    assert isinstance(few._process_.parts[0].posterior, DualPosterior)
    cross, covariance = kernel(NEW, X), kernel(X) + 0.3 * np.eye(40)
    weights = np.linalg.solve(covariance, np.ones(40))
    centre = weights @ Y / weights.sum()
    expected = centre + cross @ np.linalg.solve(covariance, Y - centre)
    np.testing.assert_allclose(model.predict(NEW), expected, rtol=1e-7)
    joint = model.predict_joint(NEW)
    np.testing.assert_allclose(np.diag(joint.covariance), model.predict_var(NEW), rtol=1e-9)


def test_many_rows_of_few_features_are_quick():
    x = RNG.standard_normal((20_000, 2))
    y = x @ [1.0, -2.0] + 0.1 * RNG.standard_normal(20_000)
    model = GaussianProcessRegressor(Linear(1.0) + White(0.1)).fit(x, y)  # a matrix of rows × rows: 3.2 GB
    np.testing.assert_allclose(model.predict(np.eye(2)), [1.0, -2.0], atol=0.02)


# -- samples ------------------------------------------------------------------------------------------------


@pytest.mark.spec("GP-01", "GP-06")
def test_samples_have_the_moments_of_the_process():
    model = fixed(mean="constant").fit(X, Y)
    drawn = model.sample_functions(NEW, 20_000, random_state=0)
    mean, covariance = model.predict(NEW, return_cov=True, include_noise=False)
    spread = np.sqrt(np.diag(covariance) / 20_000)
    assert np.all(np.abs(drawn.mean(axis=0) - mean) < 5.0 * spread)
    np.testing.assert_allclose(np.cov(drawn.T), covariance, atol=0.05 * covariance.max())
    prior = fixed().sample_prior(NEW, 20_000, random_state=1)
    np.testing.assert_allclose(np.cov(prior.T), KERNEL.terms[0](NEW), atol=0.08)
    again = fixed().sample_prior(NEW, 2, random_state=1)
    np.testing.assert_array_equal(again, fixed().sample_prior(NEW, 2, random_state=1))


def test_samples_of_the_prior_are_in_the_units_of_the_targets():
    targets = np.column_stack([10.0 * Y, Y])
    model = fixed(normalize_y=True).fit(X, targets)
    drawn = model.sample_prior(NEW, 4000, random_state=0)
    assert drawn.shape == (4000, 7, 2)
    np.testing.assert_allclose(drawn.std(axis=0) / targets.std(axis=0), 2.0**0.5, rtol=0.06)
    one = fixed(normalize_y=True).fit(X, 10.0 * Y).sample_prior(NEW, 2, random_state=0)
    assert one.shape == (2, 7)


@pytest.mark.spec("GP-18", "KER-19")
def test_the_ornstein_uhlenbeck_process_is_markov():
    """Given the present, past and future are independent; and paths are rough."""
    times = np.array([[0.0], [0.7], [1.5]])
    covariance = Matern(1.3, nu=0.5)(times)
    precision = np.linalg.inv(covariance)
    np.testing.assert_allclose(precision[0, 2], 0.0, atol=1e-12)
    model = fixed(Matern(1.3, nu=0.5), noise_variance=0.0).fit(times[:2], np.array([9.0, 1.0]))
    alone = fixed(Matern(1.3, nu=0.5), noise_variance=0.0).fit(times[1:2], np.array([1.0]))
    np.testing.assert_allclose(model.predict(times[2:]), alone.predict(times[2:]), rtol=1e-10)
    fine = np.linspace(0.0, 1.0, 200)[:, None]
    paths = {nu: fixed(Matern(0.5, nu=nu)).sample_prior(fine, 20, random_state=0) for nu in (0.5, 2.5)}
    steps = {nu: np.mean(np.diff(path, axis=1) ** 2) for nu, path in paths.items()}
    assert steps[0.5] > 20.0 * steps[2.5]


@pytest.mark.spec("GP-19", "KER-23", "GP-05")
def test_far_from_the_rows_the_prior_is_left():
    model = fixed().fit(X, Y)
    far = model.predict_dist(np.full((1, 3), 100.0), include_noise=False)
    np.testing.assert_allclose(far.mean, 0.0, atol=1e-12)
    np.testing.assert_allclose(far.variance, 2.0, rtol=1e-12)


@pytest.mark.spec("GP-05")
def test_intervals_cover_functions_from_the_prior():
    rng, inside, coverages = np.random.default_rng(0), [], np.array([0.5, 0.9])
    for _ in range(120):
        x = rng.uniform(-3.0, 3.0, (20, 1))
        y = fixed(RBF() + White(0.1)).sample_prior(x, random_state=rng, include_noise=True)[0]
        model = fixed(RBF() + White(0.1)).fit(x[:15], y[:15])
        ends = [model.predict_interval(x[15:], c) for c in coverages]
        inside.append([np.mean((e[:, 0] <= y[15:]) & (y[15:] <= e[:, 1])) for e in ends])
    error = np.std(inside, axis=0) / np.sqrt(len(inside))
    assert np.all(np.abs(np.mean(inside, axis=0) - coverages) < 4.0 * error)


# -- noise, weights, several and missing targets, more rows -------------------------------------------------


def test_each_row_may_have_noise_of_its_own():
    noise = RNG.uniform(0.1, 2.0, 40)
    model = fixed(RBF(1.5), noise_variance=1.0).fit(X, Y, noise_variance=noise)
    covariance = RBF(1.5)(X) + np.diag(noise)
    np.testing.assert_allclose(
        model.predict(NEW), RBF(1.5)(NEW, X) @ np.linalg.solve(covariance, Y), rtol=1e-9
    )
    peer = Theirs(theirs.RBF(1.5), alpha=noise, optimizer=None).fit(X, Y)
    np.testing.assert_allclose(model.log_evidence_, peer.log_marginal_likelihood_value_, rtol=1e-10)


def test_several_targets_are_functions_with_one_kernel():
    targets = np.column_stack([Y, np.cos(X[:, 1])])
    both = fixed(mean="constant").fit(X, targets)
    each = [fixed(mean="constant").fit(X, targets[:, j]) for j in range(2)]
    assert both.predict(NEW).shape == both.predict_var(NEW).shape == (7, 2)
    for j, one in enumerate(each):
        np.testing.assert_allclose(both.predict(NEW)[:, j], one.predict(NEW), rtol=1e-10)
        np.testing.assert_allclose(both.predict_var(NEW)[:, j], one.predict_var(NEW), rtol=1e-10)
    np.testing.assert_allclose(both.log_evidence_, sum(one.log_evidence_ for one in each), rtol=1e-10)
    assert both.predict_joint(NEW).batch_shape == (2,)
    assert both.predict(NEW, return_cov=True)[1].shape == (7, 7, 2)
    assert both.sample_functions(NEW, 3).shape == (3, 7, 2)
    assert both.predict_interval(NEW).shape == (7, 2, 2)


def test_missing_targets_are_no_evidence():
    targets = np.column_stack([Y, np.cos(X[:, 1]), -Y])
    targets[:9, 0] = targets[5:20, 1] = targets[5:20, 2] = np.nan
    targets[39] = np.nan
    model = fixed(mean="constant").fit(X, targets)
    total = 0.0
    for j in range(3):
        known = ~np.isnan(targets[:, j])
        one = fixed(mean="constant").fit(X[known], targets[known, j])
        np.testing.assert_allclose(model.predict(NEW)[:, j], one.predict(NEW), rtol=1e-9)
        np.testing.assert_allclose(model.predict_var(NEW)[:, j], one.predict_var(NEW), rtol=1e-9)
        total += one.log_evidence_
    np.testing.assert_allclose(model.log_evidence_, total, rtol=1e-10)
    left = model.leave_one_out()
    np.testing.assert_allclose(left.mean[:5, 0], model.predict(X[:5])[:, 0], rtol=1e-9)
    np.testing.assert_allclose(left.variance[:5, 0], model.predict_var(X[:5])[:, 0], rtol=1e-9)
    learned = GaussianProcessRegressor(n_restarts_optimizer=1, random_state=0).fit(X, targets)
    assert learned.log_evidence_ > total


@pytest.mark.parametrize("kernel", [KERNEL, Linear() + White(0.3)])
@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("normalize", [False, True])
def test_partial_fit_is_exact(kernel, missing, normalize):
    targets = np.where(RNG.random((40, 2)) < 0.2, np.nan, np.column_stack([Y, -Y])) if missing else Y
    times = RNG.integers(1, 3, 40)
    options = {"mean": "constant", "normalize_y": normalize}
    model = fixed(kernel, **options).fit(X[:20], targets[:20], times[:20])
    whole = model._process_
    model.partial_fit(X[20:33], targets[20:33], times[20:33]).partial_fit(X[33:], targets[33:], times[33:])
    expected = fixed(kernel, **options)
    if normalize:  # by the first rows
        shift, scale = np.asarray(whole.shift), np.asarray(whole.scale)
        expected = fixed(kernel, mean="constant").fit(
            X, ((targets.reshape(40, -1) - shift) / scale).reshape(targets.shape), times
        )
        np.testing.assert_allclose(
            (model.predict(NEW).reshape(7, -1) - shift) / scale,
            expected.predict(NEW).reshape(7, -1),
            rtol=1e-8,
        )
        return
    expected.fit(X, targets, times)
    np.testing.assert_allclose(model.predict(NEW), expected.predict(NEW), rtol=1e-8)
    np.testing.assert_allclose(model.predict_var(NEW), expected.predict_var(NEW), rtol=1e-8)
    np.testing.assert_allclose(model.log_evidence_, expected.log_evidence_, rtol=1e-9)
    np.testing.assert_allclose(model.loo_log_density_, expected.loo_log_density_, rtol=1e-8)


def test_partial_fit_begins_as_fit_and_takes_equal_rows():
    model = fixed().partial_fit(X[:20], Y[:20]).partial_fit(X[:20], Y[:20] + 0.1)
    expected = fixed().fit(np.tile(X[:20], (2, 1)), np.append(Y[:20], Y[:20] + 0.1))
    np.testing.assert_allclose(model.predict(NEW), expected.predict(NEW), rtol=1e-9)
    np.testing.assert_allclose(model.log_evidence_, expected.log_evidence_, rtol=1e-9)
    np.testing.assert_allclose(model.loo_log_density_, expected.loo_log_density_, rtol=1e-8)
    with pytest.raises(ValueError, match="y must have the targets of the fit"):
        model.partial_fit(X[:2], np.ones((2, 2)))


# -- noise, wherever it is in the kernel, and variances ------------------------------------------------------

NOISY = {
    "term": RBF() + White(0.2),
    "scaled term": RBF() + 2.0 * White(0.1),
    "scaled sum": 2.0 * (0.5 * RBF() + White(0.1)),
    "constant times sum": Constant(2.0) * (Scaled(RBF(), 0.5) + White(0.1)),
    "shared scale": Scaled(
        Scaled(RBF(), 0.5, scale_bounds="fixed") + White(0.1, noise_level_bounds="fixed"), 2.0
    ),
    "product": RBF() * (Constant(1.0) + White(0.2)),
    "scale with a prior": RBF() + Scaled(White(0.1), 2.0, scale_prior=Gamma(shape=2.0, rate=1.0)),
}


@pytest.mark.parametrize("name", NOISY)
def test_noise_is_noise_wherever_it_stands(name):
    """All these are one kernel with one noise, and none has noise added."""
    model, expected = (fixed(k, mean="constant").fit(X, Y) for k in (NOISY[name], NOISY["term"]))
    np.testing.assert_allclose(model.log_evidence_, expected.log_evidence_, rtol=1e-10)
    np.testing.assert_allclose(model.predict(NEW), expected.predict(NEW), rtol=1e-9)
    np.testing.assert_allclose(model.loo_log_density_, expected.loo_log_density_, rtol=1e-9)
    for noise in (True, False):
        covariance = expected.predict(NEW, return_cov=True, include_noise=noise)[1]
        found = model.predict(NEW, return_cov=True, include_noise=noise)[1]
        np.testing.assert_allclose(found, covariance, rtol=1e-9, atol=1e-12)
        spread = model.predict(NEW, return_std=True, include_noise=noise)[1]
        np.testing.assert_allclose(spread**2, np.diag(covariance), rtol=1e-9)
        np.testing.assert_allclose(model.predict_dist(NEW, include_noise=noise).variance, spread**2)
        drawn = model.sample_prior(NEW, 3, random_state=0, include_noise=noise)
        np.testing.assert_allclose(
            drawn, expected.sample_prior(NEW, 3, random_state=0, include_noise=noise), rtol=1e-6, atol=1e-6
        )


@pytest.mark.parametrize("name", NOISY)
def test_noise_that_stands_elsewhere_is_learned_alike(name):
    free = GaussianProcessRegressor(NOISY[name]).fit(X, Y)
    assert free.log_evidence_ >= fixed(NOISY[name], mean="constant").fit(X, Y).log_evidence_
    # A scale of noise alone is one hyper-parameter with it, unless it has a prior.
    expected = {"term": 2, "scaled term": 2, "shared scale": 2, "scaled sum": 4, "constant times sum": 4}
    assert len(free.theta_) == expected.get(name, 3)


@pytest.mark.parametrize("kernel", [2.0 * (RBF() + White(0.1)), RBF() + 2.0 * White(0.1)])
def test_noise_is_said_once(kernel):
    with pytest.raises(ValueError, match="noise_variance must be None"):
        fixed(kernel, noise_variance=1e-6).fit(X, Y)


def test_noise_that_is_zero_at_the_first_row_is_noise():
    kernel = RBF() + White(0.5) * Linear(1e-12)
    x = np.array([[0.0], [1.0], [1.0], [2.0], [2.0]])
    y = np.array([0.1, 0.5, 0.9, 0.3, -0.2])
    model = fixed(kernel, noise_variance=0.1).fit(x, y)
    whole = multivariate_normal(cov=kernel(x) + 0.1 * np.eye(5)).logpdf(y)
    np.testing.assert_allclose(model.log_evidence_, whole, rtol=1e-10)
    assert kernel.has_noise
    assert not RBF().has_noise
    with pytest.raises(ValueError, match="kernel must have no white noise"):
        tractable.KernelRidge(kernel).fit(x, y)


@pytest.mark.parametrize("kernel", [Polynomial(degree=4), Linear() ** 3 + Polynomial(degree=4)])
def test_variances_of_features_are_sums_of_squares(kernel):
    """They are no differences of large numbers, which a floor relative to k(x, x) would hide."""
    times = np.linspace(0.0, 100.0, 60)[:, None]
    y = np.sin(times[:, 0] / 20.0) + 0.1 * RNG.standard_normal(60)
    model = fixed(kernel + White(0.01), mean="constant").fit(times, y)
    spread = model.predict(times, return_std=True, include_noise=False)[1]
    covariance = model.predict(times, return_cov=True, include_noise=False)[1]
    np.testing.assert_allclose(spread**2, np.diag(covariance), rtol=1e-9)
    assert spread.max() < 0.1
    parts = model.decompose(times)
    np.testing.assert_allclose(parts.mean.sum(axis=0), model.predict(times), rtol=1e-6, atol=1e-6)


def test_a_kernel_that_noise_makes_a_covariance_is_refused():
    model = fixed(Sigmoid(0.5) + White(3.0)).fit(X, Y)
    for options in ({"return_std": True}, {"return_cov": True}):
        with pytest.raises(ValueError, match=r"kernel must be positive semi-definite .* Sigmoid"):
            model.predict(NEW, **options)
    with pytest.raises(ValueError, match="kernel must be positive semi-definite"):
        model.predict_dist(NEW)


def test_rounding_is_no_indefinite_kernel():
    close = np.linspace(0.0, 1.0, 200)[:, None]
    wide = np.linspace(-1.0, 2.0, 301)[:, None]
    for kernel in (RBF(0.5), RBF(5.0), Matern(3.0, nu=2.5), 1e6 * RBF(1.0)):
        model = fixed(kernel, noise_variance=0.0).fit(close, np.sin(close[:, 0]))
        spread = model.predict(wide, return_std=True)[1]
        covariance = model.predict(wide, return_cov=True)[1]
        assert np.all(spread > 0.0)
        np.testing.assert_allclose(
            spread**2, np.diag(covariance), rtol=1e-6, atol=1e-7 * kernel.diagonal(wide)[0]
        )


# -- what is left out, where little is left ------------------------------------------------------------------


@pytest.mark.parametrize("kernel", [RBF(), Linear(1.0), Polynomial(2)])
@pytest.mark.parametrize("noise", [0.0, 1e-6, 0.3])
@pytest.mark.parametrize("mean", ["zero", "constant", "linear"])
def test_twins_are_left_out_one_at_a_time(kernel, noise, mean):
    """Joined rows that alone determine the mean, and no noise at all, among them."""
    x, y = np.repeat([[0.0], [1.0]], 3, axis=0), np.array([1.0, 1.0, 1.0, 2.0, 2.0, 2.0])
    y = y + (0.1 * RNG.standard_normal(6) if noise == 0.3 else 0.0)
    found = fixed(kernel, mean=mean, noise_variance=noise).fit(x, y).leave_one_out()
    for i in range(6):
        keep = np.arange(6) != i
        left = fixed(kernel, mean=mean, noise_variance=noise).fit(x[keep], y[keep]).predict_dist(x[i : i + 1])
        np.testing.assert_allclose(found.mean[i], left.mean[0], rtol=1e-7)
        np.testing.assert_allclose(found.variance[i], left.variance[0], rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("kernel", [RBF(), Linear(1.0)])
def test_a_row_that_alone_determines_the_mean_has_no_density_without_it(kernel):
    model = fixed(kernel, mean="constant", noise_variance=0.1).fit(X[:1, :], Y[:1])
    assert model.loo_log_density_ == -np.inf
    with pytest.raises(ValueError, match="no distribution of row 0"):
        model.leave_one_out()
    x = np.array([[0.0], [0.0], [0.0], [1.0]])
    model = fixed(kernel, mean="linear", noise_variance=0.1).fit(x, Y[:4])
    assert model.loo_log_density_ == -np.inf
    with pytest.raises(ValueError, match="no distribution of row 3"):
        model.leave_one_out()
    equal = fixed(kernel, mean="constant", noise_variance=0.1).fit(np.zeros((5, 1)), Y[:5])
    assert np.isfinite(equal.loo_log_density_)
    alone = fixed(kernel, noise_variance=0.1).fit(X[:1], Y[:1]).leave_one_out()
    np.testing.assert_allclose([alone.mean[0], alone.variance[0]], [0.0, kernel.diagonal(X[:1])[0] + 0.1])


def test_partial_fit_of_equal_rows_without_noise_is_fit():
    x, y = np.array([[0.0], [1.0], [2.0]]), np.array([1.0, 2.0, 0.0])
    first = fixed(RBF(), noise_variance=0.0).fit(x, y)
    model = clone(first).fit(x, y).partial_fit([[1.0], [3.0]], [2.0, 1.0])
    expected = clone(first).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2.0, 0.0, 1.0])
    assert model.jitter_ == 0.0
    np.testing.assert_allclose(model.predict(NEW[:, :1]), expected.predict(NEW[:, :1]), rtol=1e-9)
    np.testing.assert_allclose(model.log_evidence_, expected.log_evidence_, rtol=1e-9)
    with pytest.raises(ValueError, match="equal rows with different targets"):
        first.partial_fit([[1.0]], [5.0])
    np.testing.assert_allclose(first.predict(x), y, rtol=1e-9, atol=1e-12)


# -- learning -----------------------------------------------------------------------------------------------


@pytest.mark.spec("GP-11")
def test_priors_of_hyper_parameters_make_it_the_mode():
    prior = Gamma(shape=50.0, rate=100.0)
    kernel = Scaled(RBF(1.0, length_scale_prior=prior)) + White(0.1)
    model = GaussianProcessRegressor(kernel).fit(X, Y)
    free = GaussianProcessRegressor(Scaled(RBF(1.0)) + White(0.1)).fit(X, Y)
    length = model.kernel_.terms[0].kernel.length_scale
    assert abs(length - 0.5) < abs(free.kernel_.terms[0].kernel.length_scale - 0.5)
    assert model.log_evidence_ < free.log_evidence_

    def objective(theta):
        density = model._process_.prior.with_theta(theta).log_density()[0]
        return model.log_marginal_likelihood(theta) + density

    at = model._process_.prior.theta
    for step in 0.01 * np.eye(3):
        assert objective(at) >= max(objective(at + step), objective(at - step))
    assert model.residual_dof_ == free.residual_dof_ + 0.5


@pytest.mark.spec("GP-10")
def test_restarts_find_the_better_of_two_maxima():
    rng = np.random.default_rng(2)
    x = np.linspace(0.0, 10.0, 40)[:, None]
    y = np.sin(3.0 * x[:, 0]) + 0.05 * rng.standard_normal(40)
    poor = Scaled(RBF(8.0), 1.0) + White(1.0)
    once = GaussianProcessRegressor(poor).fit(x, y)
    often = GaussianProcessRegressor(poor, n_restarts_optimizer=6, random_state=0).fit(x, y)
    assert often.log_evidence_ >= once.log_evidence_ - 1e-9
    assert often.predict_interval(x).shape == (40, 2)
    assert often.score(x, y) > 0.99


@pytest.mark.spec("GP-12", "E000-53", "KER-20", "KER-22")
def test_a_column_of_noise_is_irrelevant():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((80, 3)) * [1.0, 100.0, 0.01]
    y = np.sin(2.0 * x[:, 0]) + 0.5 * x[:, 2] / 0.01 + 0.1 * rng.standard_normal(80)
    found = GaussianProcessRegressor().fit(pd.DataFrame(x, columns=["a", "b", "c"]), y).relevance()
    assert found.names == ("a", "b", "c")
    assert list(found.order) == [0, 2, 1]
    assert found.relevance[1] < 0.05
    assert found.relevance[2] > 0.2
    assert str(found).splitlines()[0].startswith("a  ")


@pytest.mark.spec("GP-12")
def test_relevance_is_that_of_all_pairs():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((60, 2))
    one = GaussianProcessRegressor().fit(x[:, :1], np.sin(2.0 * x[:, 0])).relevance()
    np.testing.assert_allclose(one.relevance, 1.0, rtol=1e-12)
    # Of a sum of functions of a column each, the indices are shares of the variance.
    model = fixed(Linear(0.0), mean="constant", noise_variance=1e-6).fit(x, x @ [2.0, 1.0])
    shares = np.var(x * [2.0, 1.0], axis=0)
    np.testing.assert_allclose(model.relevance().relevance, shares / np.var(x @ [2.0, 1.0]), rtol=0.05)
    constant = fixed(noise_variance=0.1, kernel=RBF(), mean="constant").fit(x, np.ones(60)).relevance()
    np.testing.assert_array_equal(constant.relevance, 0.0)


@pytest.mark.spec("GP-07", "E000-46")
def test_matrices_near_diagonal_and_near_constant_are_told():
    verdicts = [
        fixed(RBF(s), noise_variance=0.1).fit(X, Y).kernel_diagnosis().verdict for s in (0.01, 1.0, 1e3)
    ]
    assert verdicts == ["near-diagonal", "balanced", "near-constant"]


def test_predictions_of_learned_hyper_parameters_have_heavier_tails():
    known, learned = fixed().fit(X, Y), GaussianProcessRegressor(KERNEL).fit(X, Y)
    assert isinstance(known.predict_dist(NEW), Normal)
    found = learned.predict_dist(NEW)
    assert isinstance(found, StudentT)
    assert float(found.dof[0]) == learned.residual_dof_ == 40 - 1 - 5
    joint = learned.predict_joint(NEW)
    np.testing.assert_allclose(np.sqrt(np.diag(joint.covariance)), learned.predict(NEW, return_std=True)[1])
    drawn = learned.sample_functions(NEW, 20_000, random_state=0)
    spread = learned.predict(NEW, return_std=True, include_noise=False)[1]
    np.testing.assert_allclose(drawn.std(axis=0), spread, rtol=0.05)


# -- parts --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mean", ["zero", "constant"])
@pytest.mark.parametrize(
    "terms", [(2.0 * RBF(2.0), Periodic(1.0, periodicity=1.3)), (Linear(1.0), Polynomial(2))]
)
def test_parts_add_up_to_the_prediction(mean, terms):
    kernel = terms[0] + terms[1] + White(0.3)
    x = X[:, :1]
    model = fixed(kernel, mean=mean).fit(x, Y)
    parts = model.decompose(NEW[:, :1])
    assert len(parts.names) == 2 + (mean == "constant")
    np.testing.assert_allclose(parts.mean.sum(axis=0), model.predict(NEW[:, :1]), rtol=1e-9)
    # Each part by conditioning the joint normal of parts and targets.
    covariance = kernel(x) + (1e9 if mean == "constant" else 0.0)
    first = terms[0](NEW[:, :1], x)
    expected = first @ np.linalg.solve(covariance, Y)
    variance = terms[0].diagonal(NEW[:, :1]) - np.sum(first.T * np.linalg.solve(covariance, first.T), axis=0)
    at = len(parts.names) - 2
    np.testing.assert_allclose(parts.mean[at], expected, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(parts.scale[at] ** 2, variance, rtol=1e-4, atol=1e-5)
    assert parts.interval(0.5).shape == (len(parts.names), 7, 2)


# -- tables -------------------------------------------------------------------------------------------------


def pets(n=60):
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.uniform(0, 10, n), "pet": rng.choice(["cat", "dog", "eel"], n)})
    weight = np.sin(frame["age"]) + 3.0 * (frame["pet"] == "dog") + 0.1 * rng.standard_normal(n)
    return frame, weight.rename("weight")


def test_words_and_numbers():
    frame, weight = pets()
    model = GaussianProcessRegressor().fit(frame, weight)
    assert model.categories_ == {"pet": ("cat", "dog", "eel")}
    assert model.score(frame, weight) > 0.98
    asked = pd.DataFrame({"age": [5.0, 5.0], "pet": ["dog", "newt"]})
    known, unknown = model.predict(asked, return_std=True)[1]
    assert unknown > 2.0 * known
    named = frame.assign(weight=weight)
    np.testing.assert_allclose(
        GaussianProcessRegressor().fit(named, "weight").predict(frame), model.predict(frame)
    )


def test_categories_that_are_new_differ_from_each_other():
    frame, weight = pets()
    model = fixed(Categorical() + White(0.1), mean="constant").fit(frame[["pet"]], weight)
    asked = pd.DataFrame({"pet": ["newt", "owl", "newt"]})
    covariance = model.predict(asked, return_cov=True, include_noise=False)[1]
    assert covariance[0, 1] < 0.9 * covariance[0, 0]
    np.testing.assert_allclose(covariance[0, 2], covariance[0, 0])
    before = model.predict(asked)
    np.testing.assert_allclose(before, before[0])
    assert model.categories_ == {"pet": ("cat", "dog", "eel")}
    with pytest.raises(ValueError, match="holds int"):
        model.partial_fit(pd.DataFrame({"pet": [1, 2]}), [1.0, 2.0])
    newts = pd.DataFrame({"pet": ["newt"] * 20})
    model.partial_fit(newts, np.full(20, 50.0))
    assert model.categories_ == {"pet": ("cat", "dog", "eel", "newt")}
    after = model.predict(asked)
    assert after[0] == after[2] > after[1] + 5.0
    together = pd.concat([frame[["pet"]], newts], ignore_index=True)
    whole = clone(model).fit(together, np.append(weight, np.full(20, 50.0)))
    np.testing.assert_allclose(after, whole.predict(asked), rtol=1e-9)


def test_kernels_of_columns_by_name():
    frame, weight = pets()
    kernel = 2.0 * Subspace(RBF(2.0), ["age"]) + Subspace(Categorical(), ["pet"]) + White(0.1)
    model = GaussianProcessRegressor(kernel).fit(frame, weight)
    assert model.score(frame, weight) > 0.98
    parts = model.decompose(frame)
    assert parts.names == ("mean", "RBF(age)", "Categorical(pet)")
    with pytest.raises(ValueError, match="columns must be among"):
        GaussianProcessRegressor(Subspace(RBF(), ["size"])).fit(frame, weight)


def test_a_mean_of_a_table_is_of_its_numbers():
    frame, weight = pets()
    model = GaussianProcessRegressor(mean="linear").fit(frame, weight)
    assert model.mean_coef_.shape == (2,)


# -- what is refused, and what is answered ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"kernel": "rbf"}, "kernel must be a kernel"),
        ({"kernel": theirs.RBF()}, "kernel must be a kernel"),
        ({"kernel": White(1.0)}, "kernel must have a term besides white noise"),
        ({"kernel": RBF() + White() + White()}, "one term of white noise"),
        ({"kernel": RBF() + White(), "noise_variance": 1.0}, "noise_variance must be None"),
        ({"kernel": RBF(9.0, length_scale_bounds=(1.0, 2.0))}, "RBF.length_scale outside its bounds"),
        ({"kernel": RBF([1.0, 2.0])}, "length_scale has 2 entries"),
        ({"noise_variance": -1.0}, "noise_variance"),
        ({"mean": "quadratic"}, "mean must be one of"),
        ({"mean": tractable.PolynomialBasis}, "mean must be one of"),
        ({"optimizer": "adam"}, "optimizer"),
        ({"n_restarts_optimizer": -1}, "n_restarts_optimizer"),
        ({"max_iter": 0}, "max_iter"),
        ({"tol": -1.0}, "tol"),
        ({"random_state": "a"}, "random_state"),
        ({"normalize_y": "no"}, "normalize_y"),
    ],
)
def test_refusals(options, named):
    with pytest.raises(ValueError, match=named):
        GaussianProcessRegressor(**options).fit(X, Y)


@pytest.mark.parametrize(
    ("y", "options", "named"),
    [
        (np.full(40, np.nan), {}, "y must have a target"),
        (np.column_stack([Y, np.full(40, np.nan)]), {}, "y has no entry for target 1"),
        (np.where(np.arange(40) == 3, np.inf, Y), {}, "y contains infinity"),
        (1e-160 * Y, {}, "y has values so small that their squares underflow"),
        (Y[:5], {}, "y"),
        (None, {}, "y"),
        (Y, {"noise_variance": -np.ones(40)}, "noise_variance must be positive"),
        (Y, {"noise_variance": np.ones(3)}, "noise_variance must be a number or one a row"),
        (Y, {"sample_weight": -np.ones(40)}, "sample_weight"),
    ],
)
def test_bad_targets_and_noise(y, options, named):
    with pytest.raises(ValueError, match=named):
        fixed().fit(X, y, **options)


def test_equal_rows_without_noise():
    x = np.array([[0.0], [0.0], [1.0]])
    model = fixed(RBF(), noise_variance=0.0).fit(x, np.array([1.0, 1.0, 2.0]))
    np.testing.assert_allclose(model.predict(x), [1.0, 1.0, 2.0], rtol=1e-9)
    with pytest.raises(ValueError, match="equal rows with different targets"):
        fixed(RBF(), noise_variance=0.0).fit(x, np.array([1.0, 3.0, 2.0]))


def test_the_jitter_is_said():
    close = np.linspace(0.0, 1.0, 60)[:, None]
    model = fixed(RBF(5.0), noise_variance=0.0).fit(close, np.sin(close[:, 0]))
    assert 0.0 < model.jitter_ < 1e-8
    np.testing.assert_allclose(model.predict(close), np.sin(close[:, 0]), atol=1e-4)
    assert fixed().fit(X, Y).jitter_ == 0.0


def test_a_kernel_that_is_no_covariance_is_refused():
    kernel = Sigmoid(5.0, sigma0=3.0) if hasattr(Sigmoid(), "sigma0") else Sigmoid()
    indefinite = Scaled(kernel, 100.0)
    eigenvalues = np.linalg.eigvalsh(indefinite(X))
    assert eigenvalues.min() < -1.0
    with pytest.raises(ValueError, match="positive semi-definite"):
        fixed(indefinite, noise_variance=1e-6).fit(X, Y)
    with pytest.raises(ValueError, match="positive semi-definite"):
        GaussianProcessRegressor(indefinite, noise_variance=1e-6).fit(X, Y)


@pytest.mark.parametrize("n", [1, 2, 3])
def test_few_rows_and_constant_targets(n):
    model = GaussianProcessRegressor().fit(X[:n], Y[:n])
    assert np.all(np.isfinite(model.predict(NEW, return_std=True)))
    constant = GaussianProcessRegressor().fit(X, np.full(40, 7.0))
    np.testing.assert_allclose(constant.predict(NEW), 7.0, rtol=1e-6)


def test_noise_inside_a_product_is_of_each_row():
    kernel = RBF(1.5) * (White(0.5) + Constant(1.0))
    model = fixed(kernel, noise_variance=0.1).fit(X, Y)
    covariance = RBF(1.5)(X) + 0.6 * np.eye(40)
    np.testing.assert_allclose(
        model.predict(NEW), RBF(1.5)(NEW, X) @ np.linalg.solve(covariance, Y), rtol=1e-9
    )
    with pytest.raises(ValueError, match="sample_weight cannot be combined"):
        fixed(kernel, noise_variance=0.1).fit(X, Y, np.full(40, 2.0))


def test_too_few_iterations_are_said():
    with pytest.warns(ConvergenceWarning, match="did not converge in 1 iterations"):
        model = GaussianProcessRegressor(max_iter=1).fit(X, Y)
    assert not model.converged_


def test_parameters_of_the_kernel_are_parameters():
    model = GaussianProcessRegressor(RBF() + White(0.1)).set_params(kernel__k1__length_scale=3.0)
    assert model.kernel == RBF(3.0) + White(0.1)
    assert clone(model).kernel == model.kernel


def test_only_one_spread_is_returned():
    with pytest.raises(ValueError, match="return_std and return_cov"):
        fixed().fit(X, Y).predict(NEW, return_std=True, return_cov=True)


# -- arrays of other libraries ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "make", [lambda: fixed(mean="linear"), GaussianProcessRegressor, lambda: fixed(Linear() + White(0.3))]
)
def test_every_library_of_arrays(backend, make):
    """All that is asked of a process on one library is answered there, as NumPy answers."""
    from tractable.arrays.namespace import to_numpy

    targets = np.column_stack([Y, -Y])
    targets[:5, 1] = np.nan
    there, here = ([make(), make()] for _ in range(2))
    for y, model, expected in zip((Y, targets), there, here, strict=True):
        model.fit(backend.asarray(X[:30]), backend.asarray(y[:30]))
        expected.fit(X[:30], y[:30])
        if model.optimizer is None:
            model.partial_fit(backend.asarray(X[30:]), backend.asarray(y[30:]))
            expected.partial_fit(X[30:], y[30:])
        new = backend.asarray(NEW)
        questions = {
            "predict": lambda m, x: m.predict(x, return_std=True)[1],
            "covariance": lambda m, x: m.predict(x, return_cov=True)[1],
            "joint": lambda m, x: m.predict_joint(x).mean,
            "dist": lambda m, x: m.predict_dist(x, include_noise=False).variance,
            "samples": lambda m, x: m.sample_functions(x, 2, random_state=0),
            "prior": lambda m, x: m.sample_prior(x, 2, random_state=0),
            "loo": lambda m, x: m.leave_one_out().mean,
        }
        for name, asked in questions.items():
            found = asked(model, new)
            assert backend.owns(found), name
            np.testing.assert_allclose(
                to_numpy(found), asked(expected, NEW), rtol=1e-4, atol=1e-5, err_msg=name
            )
        np.testing.assert_allclose(model.log_evidence_, expected.log_evidence_, rtol=1e-7)
        np.testing.assert_allclose(model.loo_log_density_, expected.loo_log_density_, rtol=1e-4)


# -- units and interruptions --------------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_units_of_targets_change_the_units_alone(scale):
    model, scaled = GaussianProcessRegressor().fit(X, Y), GaussianProcessRegressor().fit(X, scale * Y)
    np.testing.assert_allclose(scaled.predict(NEW) / scale, model.predict(NEW), rtol=1e-4)
    spread = scaled.predict(NEW, return_std=True)[1] / scale
    np.testing.assert_allclose(spread, model.predict(NEW, return_std=True)[1], rtol=1e-3)
    density = scaled.loo_log_density_ + np.log(scale)
    np.testing.assert_allclose(density, model.loo_log_density_, rtol=1e-3)


def test_an_interrupted_search_keeps_the_best_so_far(monkeypatch):
    from tractable.gaussian_process import model as module

    count = []

    def interrupted(*given, **options):
        count.append(1)
        if len(count) == 8:
            raise KeyboardInterrupt
        return log_evidence(*given, **options)

    monkeypatch.setattr(module, "log_evidence", interrupted)
    model = GaussianProcessRegressor(KERNEL)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, Y)
    assert model.log_evidence_ > fixed(mean="constant").fit(X, Y).log_evidence_
    assert model.predict(NEW).shape == (7,)


def test_a_process_is_saved_and_loaded(tmp_path):
    frame, weight = pets()
    targets = np.column_stack([weight, np.where(np.arange(60) < 9, np.nan, -weight)])
    for model in (
        GaussianProcessRegressor().fit(frame, weight),
        fixed(Linear() + White(0.3), mean=tractable.PolynomialBasis(2)).fit(X, Y),
        fixed(mean="linear", normalize_y=True).fit(X, np.column_stack([Y, -Y])),
        fixed(2.0 * Subspace(RBF(2.0), ["age"]) + White(0.1)).fit(frame, targets),
    ):
        tractable.save(model, tmp_path / "process.tractable")
        again = tractable.load(tmp_path / "process.tractable")
        rows = frame if hasattr(model, "feature_names_in_") else X
        np.testing.assert_array_equal(again.predict(rows), model.predict(rows))
        np.testing.assert_array_equal(again.predict_var(rows), model.predict_var(rows))
        assert again.log_evidence_ == model.log_evidence_
        assert again.kernel_ == model.kernel_


def test_hyper_parameters_at_their_bounds_are_named():
    rng = np.random.default_rng(0)
    X = rng.uniform(-3.0, 3.0, (40, 2))
    y = np.sin(2.0 * X[:, 0]) + 0.1 * rng.standard_normal(40)
    narrow = RBF(0.2, length_scale_bounds=(0.1, 0.3)) + White(0.1)
    with pytest.warns(ConvergenceWarning, match=r"RBF.length_scale at its upper bound 0.3.*widen the bounds"):
        GaussianProcessRegressor(narrow).fit(X, y)
    # The second column does not matter: its length scale ends at its bound, where the evidence is level.
    model = GaussianProcessRegressor(RBF([1.0, 1.0]) + White(0.1)).fit(X, y)
    assert model.kernel_.terms[0].length_scale[1] > 10.0
    # Targets without noise are no reason for a warning of noise that was not asked for.
    GaussianProcessRegressor(1.0 * RBF(1.0)).fit(X[:20, :1], np.sin(X[:20, 0]))


def test_gradients_of_features_hold_with_little_noise():
    """By the exact identity ∂ log p/∂ log(scale) + ∂ log p/∂ log σ² = ½ (yᵀPy - t (n - m))."""
    rng = np.random.default_rng(1)
    x = rng.uniform(-1.0, 1.0, (40, 2))
    y = x @ np.array([[1.0], [-2.0]])
    rows = Observations(x=x, y=y, basis=np.ones((40, 1)), noise_scale=np.ones(40))
    kernel = Scaled(Linear(sigma_0=0.7) + Polynomial(2), 1.3)
    by_rows = log_evidence(kernel, 1e-6, rows).kernel_gradient
    np.testing.assert_allclose(primal_log_evidence(kernel, 1e-6, rows).kernel_gradient, by_rows, atol=1e-6)
    for noise in (1e-8, 1e-10, 1e-12):
        found = primal_log_evidence(kernel, noise, rows)
        # Features that are there twice leave their rounding, 1e-16 / σ² a row.
        rounding = max(1e-6, 2e-14 / noise)
        fit = PrimalPosterior.from_features(rows, kernel.features(x), noise).fit
        total = found.kernel_gradient[0] + found.noise_gradient
        assert total == pytest.approx(0.5 * (fit - 39.0), abs=rounding)
        # All but the noise is as it was: the function is known already.
        np.testing.assert_allclose(found.kernel_gradient, by_rows, atol=2.0 * rounding)


@pytest.mark.parametrize(
    "model",
    [
        tractable.GaussianProcessRegressor(),
        tractable.BayesianCommittee(n_subsets=2),
        tractable.NystromGaussianProcess(n_inducing=150),
        tractable.StateSpaceGaussianProcess(),
    ],
    ids=lambda model: type(model).__name__,
)
def test_the_default_kernel_finds_what_varies_fast(model, rng):
    """Thirty periods within the range of the rows: from a long length scale, a search finds noise."""
    x = np.sort(rng.uniform(0.0, 1.0, 300))[:, None]
    y = np.sin(200.0 * x[:, 0]) + 0.1 * rng.standard_normal(300)
    assert model.fit(x, y).score(x, y) > 0.9
