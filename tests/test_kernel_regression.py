"""Kernel ridge regression and local regression: worked examples, refits, peers, densities, refusals."""

import numpy as np
import pandas as pd
import pytest
import sklearn.decomposition
import sklearn.kernel_ridge
from sklearn.base import clone
from sklearn.datasets import load_diabetes

import tractable
from tractable.arrays.gradient import check_gradient
from tractable.kernel_regression import KernelRidge, LocalLinear, NadarayaWatson, dual_objective
from tractable.kernels import (
    RBF,
    Feature,
    Kernel,
    Linear,
    Matern,
    Periodic,
    Polynomial,
    Sigmoid,
    Subspace,
    White,
)
from tractable.value import value

HOURS, SCORES = np.array([[1.0], [2.0], [3.0], [4.0], [4.5]]), np.array([3.0, 5.0, 7.0, 9.0, 10.0])


@pytest.fixture
def table(rng):
    X = rng.uniform(-2.0, 2.0, (40, 2))
    return X, np.sin(2.0 * X[:, 0]) + X[:, 1] + 0.1 * rng.standard_normal(40)


@pytest.mark.spec("KREG-03", "KREG-04", "KREG-06")
def test_hours_and_scores():
    """Means of the Gaussian process of W-12, by kernel ridge regression."""
    model = KernelRidge(RBF(), alpha=0.1, fit_intercept=False).fit(HOURS, SCORES)
    expected = [7.96419512, 1.07034709, 2.32e-6]
    np.testing.assert_allclose(model.predict([[3.5], [0.0], [10.0]]), expected, rtol=1e-8, atol=1e-8)
    a = np.linalg.solve(RBF()(HOURS) + 0.1 * np.eye(5), SCORES)
    np.testing.assert_allclose(model.dual_coef_, a, rtol=1e-12)
    weights = NadarayaWatson(0.5).fit(HOURS, SCORES).equivalent_kernel([[3.5]])
    expected = [0.00000274, 0.00817133, 0.44613939, 0.44613939, 0.09954715]
    np.testing.assert_allclose(weights[0], expected, atol=5e-9)
    assert NadarayaWatson(0.5).fit(HOURS, SCORES).predict([[3.5]]).item() == pytest.approx(
        8.17456662, abs=5e-9
    )


@pytest.mark.spec("KREG-01", "KREG-02", "E000-49", "E003-11")
def test_dual_objective_is_least_at_the_dual_coefficients(table, rng):
    X, y = table
    K, alpha = Matern(1.0)(X), 0.3
    a = rng.standard_normal(40)
    value, gradient = dual_objective(a, K, y, alpha)
    expected = 0.5 * a @ K @ K @ a - a @ K @ y + 0.5 * y @ y + 0.5 * alpha * a @ K @ a
    assert value == pytest.approx(expected)
    check_gradient(lambda a: dual_objective(a, K, y, alpha)[0], gradient, a, rtol=1e-6)
    model = KernelRidge(Matern(1.0), alpha=alpha, fit_intercept=False).fit(X, y)
    least, slope = dual_objective(model.dual_coef_, K, y, alpha)
    np.testing.assert_allclose(slope, 0.0, atol=1e-11)
    # a = (y - f)/α
    np.testing.assert_allclose(model.dual_coef_, (y - model.predict(X)) / alpha, rtol=1e-9)
    for _ in range(5):
        assert dual_objective(model.dual_coef_ + 0.1 * rng.standard_normal(40), K, y, alpha)[0] > least
    for bad in ({"alpha": 0.0}, {"y": y[:3]}, {"matrix": K[:3]}):
        arguments = {"dual_coef": a, "matrix": K, "y": y, "alpha": alpha} | bad
        with pytest.raises(ValueError, match=r"alpha|shapes"):
            dual_objective(**arguments)


@pytest.mark.spec("KREG-05", "KER-24", "E000-50")
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_primal_equals_dual_and_ridge(table, fit_intercept):
    X, y = table
    variance = 0.5  # of the weights, inside the kernel: the penalty of ridge regression is α/σ²
    basis = tractable.PolynomialBasis(degree=2, include_bias=False).fit(X)
    primal = KernelRidge(variance * Feature(basis), alpha=0.3, fit_intercept=fit_intercept).fit(X, y)
    ridge = tractable.Ridge(0.3 / variance, fit_intercept=fit_intercept).fit(basis.transform(X), y)
    np.testing.assert_allclose(primal.predict(X), ridge.predict(basis.transform(X)), rtol=1e-9)
    # The dual of the same: rows repeated often enough are no more than one feature a row.
    few = slice(0, 5)
    dual = KernelRidge(variance * Feature(basis), alpha=0.3, fit_intercept=fit_intercept).fit(X[few], y[few])
    assert not hasattr(dual, "feature_coef_")
    small = tractable.Ridge(0.3 / variance, fit_intercept=fit_intercept).fit(basis.transform(X[few]), y[few])
    np.testing.assert_allclose(dual.predict(X), small.predict(basis.transform(X)), rtol=1e-8)
    phi = (variance * Feature(basis)).features(X)
    np.testing.assert_allclose(primal.feature_coef_, phi.T @ primal.dual_coef_, rtol=1e-8, atol=1e-10)


def test_scikit_learn_has_the_same_predictions(table, rng):
    X, y = table
    new = rng.uniform(-2.0, 2.0, (9, 2))
    ours = KernelRidge(RBF(1.3), alpha=0.2, fit_intercept=False).fit(X, y)
    theirs = sklearn.kernel_ridge.KernelRidge(alpha=0.2, kernel="rbf", gamma=0.5 / 1.3**2).fit(X, y)
    np.testing.assert_allclose(ours.predict(new), theirs.predict(new), rtol=1e-9)
    np.testing.assert_allclose(ours.dual_coef_, theirs.dual_coef_, rtol=1e-7)
    both = KernelRidge(RBF(1.3), alpha=0.2).fit(X, np.stack([y, 3.0 - 2.0 * y], axis=1))
    np.testing.assert_allclose(both.predict(new)[:, 1], 3.0 - 2.0 * both.predict(new)[:, 0], rtol=1e-9)


@pytest.mark.parametrize("kernel", [RBF(1.0), Polynomial(2)], ids=["dual", "primal"])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_leave_one_out_equals_refits(table, kernel, fit_intercept):
    X, y = table
    alphas = [1e-3, 0.1, 10.0]
    model = KernelRidge(kernel, alpha="loo", alphas=alphas, fit_intercept=fit_intercept).fit(X, y)
    scores = []
    for alpha in alphas:
        errors = []
        for i in range(len(X)):
            rest = np.delete(np.arange(len(X)), i)
            fit = KernelRidge(kernel, alpha=alpha, fit_intercept=fit_intercept).fit(X[rest], y[rest])
            errors.append(fit.predict(X[[i]])[0] - y[i])
        scores.append(np.mean(np.square(errors)))
    np.testing.assert_allclose(model.cv_curve_.scores, scores, rtol=1e-8)
    assert model.alpha_ == alphas[int(np.argmin(scores))]
    at = KernelRidge(kernel, alpha=model.alpha_, fit_intercept=fit_intercept).fit(X, y)
    np.testing.assert_allclose(model.predict(X), at.predict(X), rtol=1e-8)
    smoother = model.equivalent_kernel(X)
    assert model.effective_dof_ == pytest.approx(np.trace(smoother), rel=1e-8)
    gcv = clone(model).set_params(alpha="gcv").fit(X, y)
    for alpha, score in zip(alphas, gcv.cv_curve_.scores, strict=True):
        at = KernelRidge(kernel, alpha=alpha, fit_intercept=fit_intercept).fit(X, y)
        trace = np.trace(at.equivalent_kernel(X))
        rss = np.mean((y - at.predict(X)) ** 2)
        assert score == pytest.approx(rss / (1.0 - trace / len(X)) ** 2, rel=1e-8)


def test_leave_one_out_leaves_out_a_copy(table):
    X, y = table[0][:12], table[1][:12]
    times = np.array([1, 2, 3] * 4)
    X2, y2 = np.repeat(X, times, axis=0), np.repeat(y, times)
    for method in ("loo", "gcv"):
        options = {"alpha": method, "alphas": [0.01, 0.1, 1.0]}
        weighted = KernelRidge(RBF(), **options).fit(X, y, sample_weight=times)
        repeated = KernelRidge(RBF(), **options).fit(X2, y2)
        np.testing.assert_allclose(weighted.cv_curve_.scores, repeated.cv_curve_.scores, rtol=1e-9)
        np.testing.assert_allclose(weighted.effective_dof_, repeated.effective_dof_, rtol=1e-9)
        np.testing.assert_allclose(weighted.predict(X), repeated.predict(X), rtol=1e-9)


@pytest.mark.spec("KREG-07")
@pytest.mark.parametrize(
    "model",
    [
        KernelRidge(RBF(), alpha=0.1),
        KernelRidge(RBF(), alpha=0.1, fit_intercept=False),
        KernelRidge(Linear(1.0), alpha=0.1),
        NadarayaWatson(),
        LocalLinear(),
    ],
    ids=str,
)
def test_equivalent_kernels_reproduce_predictions(model, table, rng):
    X, y = table
    new = rng.uniform(-2.0, 2.0, (7, 2))
    weights = rng.integers(1, 4, len(X)).astype(float)
    for sample_weight in (None, weights):
        fit = clone(model).fit(X, y, sample_weight=sample_weight)
        S = fit.equivalent_kernel(new)
        np.testing.assert_allclose(S @ y, fit.predict(new), rtol=1e-8)
        if getattr(model, "fit_intercept", True):
            np.testing.assert_allclose(S.sum(axis=1), 1.0, rtol=1e-9)


@pytest.mark.spec("KREG-08", "KREG-09", "KREG-10")
def test_conditional_density_has_the_mean_of_nadaraya_watson(table, rng):
    X, y = table
    model = NadarayaWatson().fit(X, y)
    new = rng.uniform(-2.0, 2.0, (6, 2))
    density = model.conditional_density(new, bandwidth=0.2)
    np.testing.assert_allclose(density.mean, model.predict(new), rtol=1e-12)
    np.testing.assert_allclose(density.variance, model.conditional_variance(new) + 0.04, rtol=1e-10)
    # p(y | x) is the joint kernel density over its marginal.
    joint = tractable.KernelDensity(bandwidth=[*model.bandwidth_, 0.2]).fit(np.column_stack([X, y]))
    marginal = tractable.KernelDensity(bandwidth=model.bandwidth_).fit(X)
    at = np.linspace(-1.0, 2.0, 6)
    logs = joint.score_samples(np.column_stack([new, at])) - marginal.score_samples(new)
    np.testing.assert_allclose(density.log_prob(at), logs, rtol=1e-9)
    grid = np.linspace(-12.0, 12.0, 4001)
    mass = np.trapezoid(density.prob(grid[:, None]), grid, axis=0)
    np.testing.assert_allclose(mass, 1.0, rtol=1e-8)
    default = model.conditional_density(new)
    assert default.batch_shape == (6,)
    two = NadarayaWatson(0.5).fit(X, np.stack([y, -y], axis=1)).conditional_density(new)
    np.testing.assert_allclose(two.mean[:, 0], -two.mean[:, 1], rtol=1e-9)


@pytest.mark.spec("KREG-11")
def test_a_density_of_two_branches_has_the_mean_between_them(rng):
    x = rng.uniform(0.0, 1.0, 400)
    y = np.where(rng.random(400) < 0.5, 2.0, -2.0) * x + 0.05 * rng.standard_normal(400)
    model = NadarayaWatson(0.1).fit(x[:, None], y)
    density = model.conditional_density([[0.9]], bandwidth=0.1)[0]
    modes = np.sort(density.modes())
    np.testing.assert_allclose(modes, [-1.8, 1.8], atol=0.15)
    assert abs(model.predict([[0.9]]).item()) < 0.6
    assert model.conditional_variance([[0.9]]).item() == pytest.approx(1.8**2, rel=0.2)


@pytest.mark.parametrize("kind", [NadarayaWatson, LocalLinear])
def test_local_bandwidths_are_the_best_of_refits(kind, table):
    X, y = table[0][:25], table[1][:25]
    model = kind().fit(X, y)
    factors = (0.5, 1.0, 2.0)
    errors = []
    for factor in factors:
        left = []
        for i in range(len(X)):
            rest = np.delete(np.arange(len(X)), i)
            fit = kind(factor * model.bandwidth_).fit(X[rest], y[rest])
            left.append(fit.predict(X[[i]])[0] - y[i])
        errors.append(np.mean(np.square(left)))
    assert np.argmin(errors) == 1
    scale = tractable.arrays.limits.power_of_two(np.max(np.abs(y)))
    assert model.search_.criterion == pytest.approx(errors[1] / scale**2, rel=1e-9)
    assert model.search_.criterion <= model.search_.criteria.min()
    tractable.plot(model.search_)


def test_local_lines_reproduce_lines(rng):
    X = rng.standard_normal((60, 3))
    y = 2.0 + X @ [1.0, -2.0, 0.5]
    model = LocalLinear(1.0).fit(X, y)
    far = 3.0 * rng.standard_normal((10, 3))
    np.testing.assert_allclose(model.predict(X), y, rtol=1e-9)
    near = LocalLinear(5.0).fit(X, y)
    np.testing.assert_allclose(near.predict(far), 2.0 + far @ [1.0, -2.0, 0.5], rtol=1e-8)
    # A mean is biased at the ends of the rows, a line is not.
    x = np.linspace(0.0, 1.0, 50)[:, None]
    assert abs(NadarayaWatson(0.1).fit(x, x[:, 0]).predict([[0.0]])[0]) > 0.05
    assert abs(LocalLinear(0.1).fit(x, x[:, 0]).predict([[0.0]])[0]) < 1e-9


def test_rows_out_of_reach_have_the_target_of_the_nearest():
    model = NadarayaWatson(0.5, kernel="epanechnikov").fit(HOURS, SCORES)
    np.testing.assert_allclose(model.predict([[100.0], [-1e9], [2.0]]), [10.0, 3.0, 5.0])
    np.testing.assert_allclose(
        LocalLinear(0.5, kernel="tophat").fit(HOURS, SCORES).predict([[100.0]]), [10.0]
    )
    gaussian = NadarayaWatson(0.5).fit(HOURS, SCORES)
    np.testing.assert_allclose(gaussian.predict([[1e5]]), [10.0])


def test_far_from_the_rows_the_prediction_is_the_intercept():
    model = KernelRidge(RBF(), alpha=0.1).fit(HOURS, SCORES)
    np.testing.assert_allclose(model.predict([[1e3]]), model.intercept_)
    assert KernelRidge(RBF(), alpha=0.1, fit_intercept=False).fit(HOURS, SCORES).predict([[1e3]])[0] == 0.0


def test_kernels_of_named_columns(table):
    X, y = table
    frame = pd.DataFrame(X, columns=["a", "b"])
    kernel = Subspace(Periodic(1.0, periodicity=3.0), ["a"]) + Subspace(Linear(0.0), ["b"])
    named = KernelRidge(kernel, alpha=0.1).fit(frame, y)
    placed = KernelRidge(kernel.with_columns(["a", "b"]), alpha=0.1).fit(X, y)
    np.testing.assert_array_equal(named.predict(frame), placed.predict(X))
    with pytest.raises(ValueError, match="'a'"):
        KernelRidge(kernel).fit(X, y)


def test_many_penalties_cost_one_decomposition(table, monkeypatch):
    import scipy.linalg

    calls = []
    eigh = scipy.linalg.eigh
    monkeypatch.setattr(scipy.linalg, "eigh", lambda *a, **k: calls.append(1) or eigh(*a, **k))
    KernelRidge(RBF(), alpha="loo", alphas=np.logspace(-6, 2, 30)).fit(*table)
    assert len(calls) == 1


BAD = [
    (KernelRidge(alpha=0.0), "alpha"),
    (KernelRidge(alpha=-1.0), "alpha"),
    (KernelRidge(alpha=np.nan), "alpha"),
    (KernelRidge(alpha="cv"), "alpha"),
    (KernelRidge(alphas=[0.0, 1.0]), "alphas"),
    (KernelRidge(alphas=[]), "alphas"),
    (KernelRidge("matern"), "kernel"),
    (KernelRidge(RBF() + White()), "noise"),
    (KernelRidge(-1.0), "kernel"),
    (KernelRidge(RBF([1.0, 2.0, 3.0])), "length_scale"),
    (KernelRidge(Sigmoid(5.0, coef0=-5.0), alpha="loo"), "positive semi-definite"),
    (NadarayaWatson("silverman"), "bandwidth"),
    (NadarayaWatson(0.0), "bandwidth"),
    (NadarayaWatson([1.0, 2.0, 3.0]), "bandwidth"),
    (NadarayaWatson(1e-200), "bandwidth"),
    (NadarayaWatson(kernel="square"), "kernel"),
    (LocalLinear(-1.0), "bandwidth"),
]


@pytest.mark.parametrize(("model", "message"), BAD, ids=[str(i) for i in range(len(BAD))])
def test_bad_parameters_are_refused(model, message, table):
    with pytest.raises(ValueError, match=message):
        model.fit(*table)


def test_one_row_has_no_left_out_error():
    for model in (KernelRidge(alpha="loo"), NadarayaWatson(), LocalLinear()):
        with pytest.raises(ValueError, match="X"):
            model.fit([[1.0]], [2.0])
    assert KernelRidge().fit([[1.0]], [2.0]).predict([[5.0]])[0] == pytest.approx(2.0)
    one = NadarayaWatson(1.0).fit([[1.0]], [2.0])
    assert one.predict([[5.0]])[0] == 2.0
    with pytest.raises(ValueError, match="bandwidth must be given"):
        one.conditional_density([[1.0]])


def test_overflowing_kernels_are_refused():
    with pytest.raises(ValueError, match="finite at the rows of X"):
        KernelRidge(Polynomial(3)).fit([[1e120], [2e120]], [1.0, 2.0])


def test_sigmoid_kernels_that_happen_to_be_definite_are_solved(table):
    X, y = table
    model = KernelRidge(Sigmoid(0.01), alpha=10.0).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


@pytest.mark.parametrize("length", [1e4, 1e6, 1e9])
@pytest.mark.parametrize("alpha", ["loo", "gcv"])
def test_a_kernel_that_is_nearly_constant_is_positive_semidefinite(length, alpha, rng):
    """The centred matrix is rounding alone."""
    X, y = rng.normal(size=(30, 2)), rng.normal(size=30)
    found = KernelRidge(RBF(length), alpha=alpha).fit(X, y).predict(X)
    np.testing.assert_allclose(found, y.mean(), atol=3.0 * y.std())


@pytest.mark.parametrize("alpha", [1e-2, 1e-18, 1e-30])
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_equivalent_kernels_of_features_need_no_penalty(table, alpha, fit_intercept):
    X, y = table
    model = KernelRidge(Linear() + Polynomial(2), alpha=alpha, fit_intercept=fit_intercept)
    for weights in (None, np.arange(40) % 3 + 1.0):
        model.fit(X, y, weights)
        assert hasattr(model, "feature_coef_")
        new = X[:7] + 0.1
        np.testing.assert_allclose(model.equivalent_kernel(new) @ y, model.predict(new), rtol=1e-9)
        if fit_intercept:
            np.testing.assert_allclose(model.equivalent_kernel(new).sum(axis=1), 1.0, rtol=1e-12)


def test_penalties_below_rounding_and_tiny_targets(table):
    X, y = table
    with pytest.raises(ValueError, match=r"alpha = 1e-30 is too small for this kernel"):
        KernelRidge(RBF(30.0), alpha=1e-30).fit(X, y)
    with pytest.raises(ValueError, match=r"alpha = 1e-30 is too small for this kernel"):
        KernelRidge(RBF(30.0), alpha="loo", alphas=[1e-30]).fit(X, y)
    model, small = (KernelRidge(RBF(1.0), alpha=0.1).fit(X, scale * y) for scale in (1.0, 1e-160))
    np.testing.assert_allclose(1e160 * small.predict(X), model.predict(X), rtol=1e-12)
    with pytest.raises(ValueError, match=r"y has values so small that their squares underflow"):
        KernelRidge(RBF(1.0), alpha="loo").fit(X, 1e-160 * y)


@pytest.mark.parametrize("bandwidth", [1e3, 1e8, 1e300, [0.5, 1e4], [1e200, 0.5]])
def test_local_lines_under_a_wide_window_are_the_linear_function(bandwidth):
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = 1.0 + X @ [1.0, 0.3]
    np.testing.assert_allclose(LocalLinear(bandwidth).fit(X, y).predict(X), y, atol=1e-9)


def test_local_lines_have_no_slope_along_a_column_that_varies_by_rounding():
    X = np.random.default_rng(0).standard_normal((40, 2))
    y = np.sin(X[:, 0])
    X[:, 1] = 1.0 + 1e-16 * np.arange(40)
    plain = LocalLinear(0.5).fit(X[:, :1], y).predict(X[:, :1])
    np.testing.assert_allclose(LocalLinear(0.5).fit(X, y).predict(X), plain, atol=1e-9)
    np.testing.assert_allclose(
        LocalLinear(0.5).fit(X, y).predict(X + np.array([0.0, 1e-3])), plain, atol=1e-4
    )


@value
class Undefined(Kernel):
    """A kernel that is not a number."""

    def block(self, x, y, same):
        return np.full((len(x), len(y)), np.nan)

    def block_diagonal(self, x):
        return np.full(len(x), np.nan)


def test_a_kernel_that_is_not_a_number_is_named_in_the_refusal_and_not_the_penalty():
    with pytest.raises(ValueError, match="kernel must be finite at the rows of X"):
        KernelRidge(Undefined()).fit(np.eye(3), np.arange(3.0))


@pytest.mark.parametrize("kernel", ["linear", "poly", "rbf", "sigmoid"])
@pytest.mark.parametrize("options", [{}, {"gamma": 0.1, "degree": 2, "coef0": 0.5}], ids=["default", "given"])
def test_kernels_by_name_are_those_of_scikit_learn(kernel, options):
    X, y = load_diabetes(return_X_y=True, scaled=False)
    X = (X[:150] - X.mean(axis=0)) / X.std(axis=0)
    ours = tractable.KernelRidge(kernel, alpha=60.0, fit_intercept=False, **options).fit(X, y[:150])
    theirs = sklearn.kernel_ridge.KernelRidge(kernel=kernel, alpha=60.0, **options).fit(X, y[:150])
    np.testing.assert_allclose(ours.predict(X[:20]), theirs.predict(X[:20]), rtol=1e-6)
    adopted = tractable.adopt(sklearn.kernel_ridge.KernelRidge(kernel=kernel, alpha=60.0, **options)).fit(
        X, y[:150]
    )
    np.testing.assert_array_equal(adopted.predict(X[:20]), ours.predict(X[:20]))


def test_kernels_by_name_are_refused_where_they_are_unknown_or_have_no_gamma():
    X, y = np.eye(4), np.arange(4.0)
    for model in (tractable.KernelRidge, tractable.KernelPCA):
        with pytest.raises(ValueError, match=r"kernel must be one of \['linear', 'poly', 'rbf', 'sigmoid'\]"):
            model(kernel="laplacian").fit(X, y)
        with pytest.raises(ValueError, match="gamma is of kernels by name"):
            model(kernel=RBF(), gamma=1.0).fit(X, y)
        with pytest.raises(ValueError, match="gamma must be"):
            model(kernel="rbf", gamma=-1.0).fit(X, y)
    for theirs in (sklearn.kernel_ridge.KernelRidge, sklearn.decomposition.KernelPCA):
        with pytest.raises(ValueError, match="kernel='cosine' has no equal here"):
            tractable.adopt(theirs(kernel="cosine"))


@pytest.mark.parametrize("bandwidth", [0.003, 0.1, 1.0, 1e4])
@pytest.mark.parametrize("case", ["plain", "far", "outlier", "weights", "copies", "33 columns"])
def test_moments_of_lines_have_the_digits_of_differences(case, bandwidth, rng):
    X = rng.standard_normal((80, 33 if case == "33 columns" else 3))
    y = np.column_stack([np.sin(X[:, 0]), 1e6 + X[:, 1] ** 2])
    if case == "far":
        X += 1e6
    elif case == "outlier":
        X[0] *= 1e5
    elif case == "copies":
        X[40:] = X[:40]
    weights = rng.integers(1, 4, len(X)).astype(float) if case == "weights" else None
    fit = LocalLinear(bandwidth).fit(X, y, sample_weight=weights)
    new = np.vstack([X[:20], X[:20] + 0.02 * rng.standard_normal((20, X.shape[1]))])
    np.testing.assert_allclose(fit.predict(new), fit.equivalent_kernel(new) @ y, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("bandwidth", [0.7, "loo"])
@pytest.mark.parametrize("model", [NadarayaWatson, LocalLinear])
def test_far_from_the_origin_no_digit_is_lost(model, bandwidth, rng):
    far = rng.standard_normal((60, 3)) + 1e9
    near, y = far - 1e9, np.sin(far[:, 0] - 1e9)  # exact: the rows are on one grid
    new = far[:10] + rng.standard_normal((10, 3))
    found = model(bandwidth).fit(far, y).predict(new)
    np.testing.assert_allclose(found, model(bandwidth).fit(near, y).predict(new - 1e9), rtol=1e-9)


def test_kernels_too_small_for_a_choice_of_the_penalty_are_refused(rng):
    """Predictions were NaN, without a warning."""
    X = rng.standard_normal((30, 3))
    y = X @ [1.0, 2.0, 3.0] + 0.1 * rng.standard_normal(30)
    model = KernelRidge(alpha="loo", kernel=Linear(sigma_0=0.0))
    want = model.fit(X, y).predict(X)
    np.testing.assert_allclose(model.fit(X * 1e-150, y).predict(X * 1e-150), want, rtol=1e-8)
    for scale in (1e-155, 1e-160, 1e-170):
        with pytest.raises(ValueError, match="X has values so small that the kernel"):
            model.fit(X * scale, y)
    assert np.all(model.fit(X * 0.0, y).predict(X) == pytest.approx(y.mean()))
