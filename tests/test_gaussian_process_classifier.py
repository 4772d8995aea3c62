"""Gaussian process classification: textbook digits, identities, gradients, peers, what is refused."""

import numpy as np
import pandas as pd
import pytest
from scipy import special
from scipy.integrate import quad
from scipy.stats import multivariate_normal, norm
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.gaussian_process import GaussianProcessClassifier as Theirs
from sklearn.gaussian_process import kernels as theirs

from tractable.arrays.gradient import check_gradient
from tractable.engines.glm.losses import Logistic, Poisson, Probit
from tractable.gaussian_process import GaussianProcessClassifier
from tractable.gaussian_process.posteriors.latent import (
    LikelihoodExpansion,
    latent_process,
    softmax_process,
)
from tractable.kernels import RBF, Constant, Linear, Matern, White

X4, Y4 = np.array([[-2.0], [-1.0], [1.0], [2.0]]), np.array([0, 0, 1, 1])
RNG = np.random.default_rng(3)
X = RNG.standard_normal((40, 2))
Y = (np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.4 * RNG.standard_normal(40) > 0.0).astype(int)
Y3 = np.digitize(X[:, 0] + 0.4 * RNG.standard_normal(40), [-0.5, 0.5])
WEIGHTS = RNG.integers(1, 4, 40).astype(float)
KERNEL = 2.0 * RBF([1.0, 2.0])


def logit(y, weights=1.0):
    return lambda f: LikelihoodExpansion.of(Logistic().terms(f, y), weights)


@pytest.mark.spec("W-22", "GPC-02", "GPC-03", "GPC-11", "GPC-12", "E003-21")
def test_four_rows():
    model = GaussianProcessClassifier(RBF(), nu=0.01, optimizer=None).fit(X4, Y4)
    expected = [-0.58174018, -0.53627655, 0.53627655, 0.58174018]
    np.testing.assert_allclose(model.latent_mode_, expected, atol=5e-9)
    assert model.log_evidence_ == pytest.approx(-2.62228667, abs=5e-9)
    mean, variance = model.latent_mean_and_variance([[0.5]])
    assert mean.item() == pytest.approx(0.30652040, abs=5e-9)
    assert variance.item() == pytest.approx(0.83646441, abs=5e-9)
    assert model.predict_proba([[0.5]])[0, 1] == pytest.approx(0.56464183, abs=5e-9)
    probit = mean / np.sqrt(1.0 + np.pi * variance / 8.0)  # the approximation by a probit
    assert 1.0 / (1.0 + np.exp(-probit.item())) == pytest.approx(0.56609567, abs=5e-9)


@pytest.mark.parametrize("loss", [Logistic(), Probit(), Poisson()], ids=repr)
@pytest.mark.spec("GPC-01", "GPC-05", "GPC-07", "E003-15")
def test_derivatives_of_likelihoods(loss):
    f, step = np.array([-4.0, -1.5, -0.2, 0.0, 0.7, 2.0, 4.5]), 1e-3
    for y in (np.zeros(7), np.ones(7)):
        here = LikelihoodExpansion.of(loss.terms(f, y))
        around = [LikelihoodExpansion.of(loss.terms(f + k * step, y)) for k in (1.0, -1.0, 2.0, -2.0)]
        for name, slope in (("value", here.slope), ("slope", -here.curvature), ("curvature", -here.third)):
            a, b, c, d = (getattr(part, name) for part in around)
            np.testing.assert_allclose((8.0 * (a - b) - (c - d)) / (12.0 * step), slope, atol=1e-9)
        assert np.all(here.curvature > 0.0)
        if isinstance(loss, Logistic):
            assert np.all(here.curvature <= 0.25)
            np.testing.assert_allclose(here.value, y * f - np.log1p(np.exp(f)))
        if isinstance(loss, Probit):
            np.testing.assert_allclose(here.value, norm.logcdf(np.where(y > 0, f, -f)))


def test_likelihoods_far_out_are_numbers():
    f = np.array([-1e8, -700.0, -60.0, 60.0, 700.0, 1e8])
    for loss in (Logistic(), Probit(), Poisson()):
        for y in (np.zeros(6), np.ones(6)):
            found = LikelihoodExpansion.of(loss.terms(f, y))
            for part in (found.value, found.slope, found.curvature, found.third):
                assert np.all(np.isfinite(part))
            assert np.all(found.curvature >= 0.0)
    # The curvature of a probit tends to one as 1 - 1/m², and its derivative with it.
    far = LikelihoodExpansion.of(Probit().terms(np.array([-49.9, -50.1]), np.ones(2)))
    np.testing.assert_allclose(*far.third, rtol=2e-2)


@pytest.mark.spec("GPC-06", "GPC-08", "GPC-09", "GPC-10")
def test_the_mode_is_that_of_the_joint_density():
    C, y = KERNEL(X) + 0.05 * np.eye(40), Y.astype(float)
    found = latent_process(C, logit(y))
    f = found.mode

    def log_joint(f):
        prior = multivariate_normal(np.zeros(40), C).logpdf(f)
        return prior + y @ f - np.sum(np.logaddexp(0.0, f))

    check_gradient(log_joint, np.zeros(40), f, rtol=1e-4)
    np.testing.assert_allclose(f, C @ (y - 1.0 / (1.0 + np.exp(-f))), rtol=1e-9, atol=1e-12)
    W = found.expansion.curvature
    hessian = np.diag(W) + np.linalg.inv(C)
    evidence = log_joint(f) - 0.5 * np.linalg.slogdet(hessian)[1] + 20.0 * np.log(2.0 * np.pi)
    assert found.log_evidence == pytest.approx(evidence, rel=1e-9)
    # Newton's step of the printed form leaves the mode where it is.
    g = y - 1.0 / (1.0 + np.exp(-f))
    np.testing.assert_allclose(C @ np.linalg.solve(np.eye(40) + W[:, None] * C, g + W * f), f, atol=1e-9)
    # A start elsewhere ends there too.
    np.testing.assert_allclose(latent_process(C, logit(y), start=10.0 * g).mode, f, atol=1e-9)


@pytest.mark.spec("GPC-13", "GPC-14", "GPC-15", "E003-16", "E003-17")
def test_the_mode_moves_as_its_derivative_says():
    """∂f = (I + CW)⁻¹ ∂C g; with (I + WC)⁻¹ in front, as is printed somewhere, it is another vector."""
    y, theta, step = Y.astype(float), KERNEL.theta, 1e-5

    def at(change):
        C = KERNEL.with_theta(theta + change * np.eye(3)[1])(X) + 0.05 * np.eye(40)
        return C, latent_process(C, logit(y))

    (above, high), (below, low), (C, here) = at(step), at(-step), at(0.0)
    change, moved = (above - below) / (2.0 * step), (high.mode - low.mode) / (2.0 * step)
    W, g = here.expansion.curvature, here.dual
    right = np.linalg.solve(np.eye(40) + C * W, change @ g)
    np.testing.assert_allclose(moved, right, atol=1e-7)
    assert np.abs(np.linalg.solve(np.eye(40) + W[:, None] * C, change @ g) - moved).max() > 1e-2
    explicit = 0.5 * g @ change @ g - 0.5 * np.trace(np.linalg.inv(np.diag(1.0 / W) + C) @ change)
    covariance = np.linalg.inv(np.linalg.inv(C) + np.diag(W))
    implicit = 0.5 * np.sum(np.diag(covariance) * here.expansion.third * right)
    numeric = (high.log_evidence - low.log_evidence) / (2.0 * step)
    assert explicit + implicit == pytest.approx(numeric, abs=1e-6)
    weights = np.tril(here.gradient_weights(C))  # an entry below the diagonal stands for the one above it
    whole = weights + np.tril(weights, -1).T
    assert np.sum(whole * change) == pytest.approx(explicit + implicit, rel=1e-9)


@pytest.mark.parametrize(
    ("options", "y"),
    [
        ({}, Y),
        ({"link": "probit", "nu": 0.1}, Y),
        ({}, Y3),
        pytest.param({"link": "probit", "multi_class": "one_vs_rest"}, Y3, marks=pytest.mark.slow),
    ],
)
@pytest.mark.spec("GPC-16")
def test_gradients_are_those_of_differences(options, y):
    kernel = 2.0 * RBF([1.0, 2.0]) + 0.3 * Linear() + White(0.1)
    model = GaussianProcessClassifier(kernel, optimizer=None, **options).fit(X[:15], y[:15], WEIGHTS[:15])
    theta = model.theta_ + 0.1
    value, gradient = model.log_marginal_likelihood(theta, eval_gradient=True)
    assert value == pytest.approx(model.log_marginal_likelihood(theta))
    check_gradient(model.log_marginal_likelihood, gradient, theta, rtol=1e-5)


def test_the_softmax_of_many_classes_is_the_dense_formula():
    C, T, n, k = KERNEL(X), np.eye(3)[Y3], 40, 3
    found = softmax_process(C, T, WEIGHTS)
    p = found.probabilities
    W = np.zeros((k * n, k * n))
    for c in range(k):
        for d in range(k):
            block = WEIGHTS * ((c == d) * p[:, c] - p[:, c] * p[:, d])
            W[c * n : (c + 1) * n, d * n : (d + 1) * n] = np.diag(block)
    large = np.kron(np.eye(k), C)
    np.testing.assert_allclose(found.mode, C @ found.dual, atol=1e-10)
    log_det = np.linalg.slogdet(np.eye(k * n) + large @ W)[1]
    log_joint = WEIGHTS @ np.log(p[T > 0]) - 0.5 * np.sum(found.dual * found.mode)
    assert found.log_evidence == pytest.approx(log_joint - 0.5 * log_det, rel=1e-10)
    new = RNG.standard_normal((3, 2))
    mean, covariance = found.moments(KERNEL(new, X), KERNEL.diagonal(new))
    cross = np.kron(np.eye(k), KERNEL(new, X))
    whole = np.kron(np.eye(k), KERNEL(new)) - cross @ W @ np.linalg.solve(np.eye(k * n) + large @ W, cross.T)
    for i in range(3):
        np.testing.assert_allclose(covariance[i], whole[i::3, i::3], atol=1e-10)
    np.testing.assert_allclose(mean, KERNEL(new, X) @ found.dual)


def test_two_classes_of_a_softmax_are_a_logistic_function_of_twice_the_kernel():
    """f₂ - f₁ has the covariance 2 k."""
    C, T = KERNEL(X), np.eye(2)[Y]
    both, one = softmax_process(C, T, WEIGHTS), latent_process(2.0 * C, logit(Y.astype(float), WEIGHTS))
    np.testing.assert_allclose(both.mode[:, 1] - both.mode[:, 0], one.mode, atol=1e-9)
    assert both.log_evidence == pytest.approx(one.log_evidence, rel=1e-10)


@pytest.mark.spec("GPC-04")
def test_probabilities_are_averages_over_the_latent_function():
    new = RNG.standard_normal((4, 2))
    for link, curve in (("logit", lambda a: 1.0 / (1.0 + np.exp(-a))), ("probit", norm.cdf)):
        model = GaussianProcessClassifier(KERNEL, link=link, optimizer=None).fit(X, Y)
        mean, variance = model.latent_mean_and_variance(new)
        for m, v, p in zip(mean, variance, model.predict_proba(new)[:, 1], strict=True):
            s = v**0.5
            found = quad(lambda a, m=m, s=s: curve(a) * norm.pdf(a, m, s), m - 12 * s, m + 12 * s)[0]  # noqa: B023
            assert p == pytest.approx(found, abs=1e-8)


@pytest.mark.spec("GPC-04")
def test_the_approximation_is_near_the_posterior():
    """Importance sampling of the latent values, from the approximation."""
    x, y = X[:8], Y[:8].astype(float)
    kernel = 1.0 * RBF(1.0)
    model = GaussianProcessClassifier(kernel, optimizer=None).fit(x, Y[:8])
    C = kernel(x) + 1e-8 * np.eye(8)
    W = latent_process(C, logit(y)).expansion.curvature
    q = multivariate_normal(model.latent_mode_, np.linalg.inv(np.linalg.inv(C) + np.diag(W)), True)
    draws = q.rvs(40_000, random_state=0)
    logs = multivariate_normal(np.zeros(8), C).logpdf(draws) - q.logpdf(draws)
    logs += draws @ y - np.sum(np.logaddexp(0.0, draws), axis=1)
    evidence = np.log(np.mean(np.exp(logs)))
    assert model.log_evidence_ == pytest.approx(evidence, abs=0.05)
    weights = np.exp(logs - logs.max())
    new = np.array([[0.3, -0.2]])
    means = draws @ np.linalg.solve(C, kernel(x, new))[:, 0]
    spread = float((kernel(new) - kernel(new, x) @ np.linalg.solve(C, kernel(x, new))).item()) ** 0.5
    z = np.random.default_rng(1).standard_normal(len(means))
    exact = np.sum(weights / (1.0 + np.exp(-(means + spread * z)))) / weights.sum()
    assert model.predict_proba(new)[0, 1] == pytest.approx(exact, abs=0.02)


def test_scikit_learn_agrees():
    kernel = theirs.ConstantKernel(2.0) * theirs.RBF([1.0, 2.0])
    peer = Theirs(kernel, optimizer=None).fit(X, Y)
    model = GaussianProcessClassifier(KERNEL, optimizer=None).fit(X, Y)
    assert model.log_evidence_ == pytest.approx(peer.log_marginal_likelihood_value_, rel=1e-6)
    value, gradient = peer.log_marginal_likelihood(peer.kernel_.theta, eval_gradient=True)
    mine = model.log_marginal_likelihood(model.theta_, eval_gradient=True)
    np.testing.assert_allclose(mine[0], value, rtol=1e-6)
    np.testing.assert_allclose(mine[1], gradient, rtol=1e-4)
    # Theirs approximates the integral by error functions.
    np.testing.assert_allclose(model.predict_proba(X), peer.predict_proba(X), atol=2e-3)


def test_weights_are_repetitions():
    twice = np.repeat(np.arange(40), WEIGHTS.astype(int))
    for y in (Y, Y3):
        weighted = GaussianProcessClassifier(KERNEL, optimizer=None).fit(X, y, WEIGHTS)
        repeated = GaussianProcessClassifier(KERNEL, optimizer=None).fit(X[twice], y[twice])
        assert weighted.log_evidence_ == pytest.approx(repeated.log_evidence_, rel=1e-9)
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-8)


def test_leave_one_out_is_near_refitting():
    model = GaussianProcessClassifier(KERNEL, optimizer=None).fit(X, Y)
    process = model._models_[0].process
    mean, variance = process.leave_one_out(KERNEL.diagonal(X), np.ones(len(X)))
    assert np.all(variance > 0.0)
    for i in (0, 7, 21):
        others = np.arange(40) != i
        left = GaussianProcessClassifier(KERNEL, optimizer=None).fit(X[others], Y[others])
        m, v = left.latent_mean_and_variance(X[i : i + 1])
        np.testing.assert_allclose([mean[i], variance[i]], [m[0], v[0]], atol=0.15)


@pytest.mark.parametrize("multi_class", ["softmax", "one_vs_rest"])
def test_three_kinds_of_iris(multi_class):
    table = load_iris()
    some = np.random.default_rng(0).permutation(150)
    x, y = table.data[some, 2:], table.target_names[table.target[some]]
    model = GaussianProcessClassifier(multi_class=multi_class, max_iter=30, tol=1e-4)
    model.fit(x[:60], y[:60])
    assert model.score(x[60:], y[60:]) > 0.9
    log_loss = -np.mean(np.log(model.predict_proba(x[60:])[np.arange(90), table.target[some[60:]]]))
    assert log_loss < 0.35
    assert 0.1 < model.coupling_ < 8.0
    if multi_class == "softmax":
        assert model.coupling_ == 1.0


def test_a_column_that_does_not_matter_is_irrelevant():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((80, 3))
    y = (np.sin(2.0 * x[:, 0]) > 0.0).astype(int)
    model = GaussianProcessClassifier(max_iter=50, tol=1e-5).fit(x, y)
    found = model.relevance().relevance
    assert found[0] > 0.8
    assert np.all(found[1:] < 0.2)
    known = GaussianProcessClassifier(4.0 * RBF(1.0), optimizer=None).fit(x, y)
    assert model.log_evidence_ > known.log_evidence_


@pytest.mark.parametrize(
    ("options", "y", "named"),
    [
        ({}, np.zeros(40, dtype=int), "two classes at least, got one class"),
        ({"link": "probit"}, Y3, 'link must be "logit" for more than two classes'),
        ({"link": "cloglog"}, Y, "link"),
        ({"multi_class": "one_vs_one"}, Y, "multi_class"),
        ({"nu": -1.0}, Y, "nu"),
        ({"kernel": "rbf"}, Y, "kernel must be a kernel"),
        ({"optimizer": "adam"}, Y, "optimizer"),
        ({"kernel": RBF(1.0, length_scale_bounds=(2.0, 3.0))}, Y, "outside its bounds"),
    ],
)
def test_refusals(options, y, named):
    with pytest.raises(ValueError, match=named):
        GaussianProcessClassifier(**options).fit(X, y)


def test_bounds_that_the_search_ends_at_are_named():
    with pytest.warns(ConvergenceWarning, match=r"RBF.length_scale at its upper bound 0.1"):
        GaussianProcessClassifier(
            Constant(4.0, constant_value_bounds="fixed") * RBF(0.05, length_scale_bounds=(0.01, 0.1))
        ).fit(X, Y)


def test_theta_is_checked():
    model = GaussianProcessClassifier(KERNEL, optimizer=None).fit(X, Y)
    with pytest.raises(ValueError, match="theta must be 3 finite numbers"):
        model.log_marginal_likelihood([1.0])


def test_restarts_do_not_lose():
    kernel = 1.0 * Matern(0.01, nu=1.5, length_scale_bounds=(1e-3, 1e2))
    one = GaussianProcessClassifier(kernel).fit(X, Y)
    more = GaussianProcessClassifier(kernel, n_restarts_optimizer=2, random_state=0).fit(X, Y)
    assert more.log_evidence_ >= one.log_evidence_ - 1e-6


# -- how far Laplace's approximation is from the exact posterior -----------------------------------------


def exact_of_two_rows(x, y, kernel, cdf):
    """Return the log evidence, and p(y = 1) at the rows, by a grid over f = L z."""
    root = np.linalg.cholesky(kernel(x))
    z = np.linspace(-8.0, 8.0, 641)
    grid = np.stack(np.meshgrid(z, z, indexing="ij"), axis=-1)
    f = grid @ root.T
    density = np.exp(-0.5 * np.sum(grid**2, axis=-1)) / (2.0 * np.pi) * (z[1] - z[0]) ** 2
    density = density * np.prod(np.where(y, cdf(f), cdf(-f)), axis=-1)
    return np.log(density.sum()), np.einsum("ij,ijk->k", density, cdf(f)) / density.sum()


@pytest.mark.parametrize(("link", "cdf"), [("logit", special.expit), ("probit", special.ndtr)])
def test_comparison_with_the_exact_posterior_is_that_of_quadrature(link, cdf):
    x, y, kernel = np.array([[0.0], [0.7]]), np.array([0, 1]), 4.0 * RBF(1.0)
    model = GaussianProcessClassifier(kernel, link=link, optimizer=None).fit(x, y)
    found = model.compare_to_exact()
    evidence, above = exact_of_two_rows(x, y, kernel, cdf)
    assert found.log_evidence_error < 0.02
    assert found.log_evidence == pytest.approx(evidence, abs=4.0 * found.log_evidence_error)
    assert found.approximate_log_evidence == pytest.approx(model.log_evidence_)
    difference = np.sqrt(np.mean((model.predict_proba(x)[:, 1] - above) ** 2))
    assert found.prediction_difference == pytest.approx(difference, abs=5e-3)
    assert found.pareto_k < 0.7


def test_weights_of_another_curvature_are_not_the_exact_evidence(monkeypatch):
    from tractable.gaussian_process.posteriors.latent import LatentProcess

    x, y, kernel = np.array([[0.0], [0.7]]), np.array([0, 1]), 4.0 * RBF(1.0)
    model = GaussianProcessClassifier(kernel, optimizer=None).fit(x, y)
    curvature = LatentProcess.curvature.fget
    monkeypatch.setattr(LatentProcess, "curvature", property(lambda self: 0.5 * curvature(self)))
    found = model.compare_to_exact()
    assert abs(found.log_evidence - exact_of_two_rows(x, y, kernel, special.expit)[0]) > 0.05


def test_comparison_of_several_classes():
    """The exact evidence of one row is 1/K by symmetry; one against the rest is three of two classes."""
    rng = np.random.default_rng(3)
    x = rng.uniform(-2.0, 2.0, (60, 2))
    y = np.digitize(x[:, 0] + 0.3 * rng.standard_normal(60), [-0.7, 0.7])
    model = GaussianProcessClassifier(3.0 * RBF(1.0), optimizer=None).fit(x, y)
    one = model.compare_to_exact(1)
    assert one.log_evidence == pytest.approx(-np.log(3.0), abs=4.0 * one.log_evidence_error)
    assert abs(one.approximate_log_evidence + np.log(3.0)) > 4.0 * one.log_evidence_error
    for multi_class in ("softmax", "one_vs_rest"):
        model.set_params(multi_class=multi_class).fit(x, y)
        found = model.compare_to_exact(30)
        assert found.n_rows == 30
        assert found.pareto_k < 0.8
        assert 0.0 < found.prediction_difference < 0.1
        # Few draws are worth little, and it says so.
        far = GaussianProcessClassifier(400.0 * RBF(1.0), multi_class=multi_class, optimizer=None)
        assert far.fit(x, y).compare_to_exact(30).pareto_k > found.pareto_k


def test_words_and_numbers():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"age": rng.uniform(0.0, 10.0, 80), "pet": rng.choice(["cat", "dog", "eel"], 80)})
    tame = np.where((frame["pet"] == "dog") ^ (frame["age"] > 9.0), "yes", "no")
    model = GaussianProcessClassifier(max_iter=50).fit(frame, tame)
    assert model.categories_ == {"pet": ("cat", "dog", "eel")}
    assert model.score(frame, tame) > 0.95
    assert model.relevance().order[0] == 1
    asked = pd.DataFrame({"age": [5.0, 5.0, 5.0], "pet": ["dog", "cat", "newt"]})
    dog, cat, newt = model.predict_proba(asked)[:, 1]
    assert cat < newt < dog
    variance = model.latent_mean_and_variance(asked)[1]
    assert variance[2] > 2.0 * variance[0]
    assert model.compare_to_exact(30).n_rows == 30
    named = GaussianProcessClassifier(max_iter=50).fit(frame.assign(tame=tame), "tame")
    np.testing.assert_allclose(named.predict_proba(asked), model.predict_proba(asked))
    with pytest.raises(ValueError, match="holds int"):
        model.predict(pd.DataFrame({"age": [1.0], "pet": [3]}))
    assert GaussianProcessClassifier(optimizer=None).fit(X, Y).categories_ == {}
