"""Mixtures of experts: a gate that is found with the planes, and density where rows are."""

import warnings

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import tractable
from tractable import MixtureOfExperts, MixtureOfRegressors
from tractable.distributions import Mixture, Normal
from tractable.engines import fold
from tractable.engines.glm.softmax_regression import softmax_regression


def plug_in(model, X):
    """p(y | x) at the likeliest parameters, as if these were known."""
    normal = Normal(mean=model.predict_components(X), variance=model.noise_variance_)
    return Mixture(weights=model.gate_proba(X), components=normal)


def gated(rng, n=600, steepness=3.0):
    """Rows on the left follow one plane, rows on the right another."""
    x = rng.uniform(-2.0, 2.0, n)
    right = rng.random(n) < expit(steepness * x)
    y = np.where(right, 3.0 + 2.0 * x, -1.0 - x) + 0.2 * rng.standard_normal(n)
    return x[:, None], y, right


def fitted(X, y, n_components=2, **options):
    sample_weight = options.pop("sample_weight", None)
    return MixtureOfExperts(n_components, random_state=0, **options).fit(X, y, sample_weight=sample_weight)


@pytest.mark.spec("MIX-08")
def test_planes_and_gate_are_found(rng):
    """The gate as well as a logistic regression could that saw which plane each row follows."""
    X, y, right = gated(rng, n=3000)
    model = fitted(X, y, gate_alpha=0.0)
    up = int(np.argmax(model.coef_[:, 0]))
    np.testing.assert_allclose(model.coef_[[up, 1 - up], 0], [2.0, -1.0], atol=0.06)
    np.testing.assert_allclose(model.intercept_[[up, 1 - up]], [3.0, -1.0], atol=0.06)
    np.testing.assert_allclose(model.noise_variance_, 0.04, rtol=5.0 * np.sqrt(2.0 / 3000))
    seen = LogisticRegression(C=np.inf, tol=1e-10).fit(X, right)
    slope = model.gate_coef_[up, 0] - model.gate_coef_[1 - up, 0]
    p = seen.predict_proba(X)[:, 1]
    error = 1.0 / np.sqrt(np.sum(p * (1.0 - p) * X[:, 0] ** 2))  # of the slope, where labels are seen
    assert abs(slope - 3.0) < 5.0 * 1.5 * error
    np.testing.assert_allclose(model.gate_coef_.sum(axis=0), 0.0, atol=1e-9)


@pytest.mark.spec("MIX-08")
def test_the_gate_is_a_softmax_of_planes(rng):
    X, y, _ = gated(rng)
    model = fitted(X, y, 3, n_init=1, tol=1e-5)
    logits = np.exp(model.gate_intercept_ + X @ model.gate_coef_.T)
    expected = logits / logits.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.gate_proba(X), expected, rtol=1e-8)
    joint = expected * norm.pdf(
        y[:, None], model.intercept_ + X @ model.coef_.T, np.sqrt(model.noise_variance_)
    )
    np.testing.assert_allclose(
        model.responsibilities(X, y), joint / joint.sum(axis=1, keepdims=True), rtol=1e-6, atol=1e-12
    )
    dist = plug_in(model, X)
    assert isinstance(dist, Mixture)
    assert hasattr(dist, "cdf")
    np.testing.assert_allclose(dist.prob(y), joint.sum(axis=1), rtol=1e-7)
    np.testing.assert_allclose(dist.weights, expected, rtol=1e-8)


@pytest.mark.spec("E000-56", "MIX-08")
@pytest.mark.parametrize("options", [{}, {"noise": "separate"}, {"gate_alpha": 0.0}, {"alpha": 2.0}])
def test_the_gate_is_learned_inside_the_m_step(options, rng):
    """One EM: the objective never falls; where it rests the gate is the softmax regression on the shares."""
    X, y, _ = gated(rng)
    w = rng.uniform(0.5, 2.0, len(y))
    model = fitted(X, y, sample_weight=w, tol=1e-13, max_iter=5000, **options)
    trace = np.asarray(model.objective_trace_)
    assert np.all(np.diff(trace) >= -1e-9 * np.abs(trace[:-1]))
    np.testing.assert_allclose(model.log_likelihood_, w @ plug_in(model, X).log_prob(y), rtol=1e-9)
    shares = model.responsibilities(X, y)
    price = options.get("gate_alpha", 0.01) * np.average(
        (X[:, 0] - np.average(X[:, 0], weights=w)) ** 2, weights=w
    )
    gate = softmax_regression(lambda of: fold(of, X, shares, weights=w), 2, 1, penalty=price)
    np.testing.assert_allclose(model.gate_coef_, gate.coef, rtol=1e-4)
    np.testing.assert_allclose(model.gate_intercept_, gate.intercept, rtol=1e-3, atol=1e-4)


@pytest.mark.spec("MIX-09")
def test_constant_shares_give_density_where_no_row_is(rng):
    """The same two modes everywhere; the gate keeps the one that is there, and predicts new rows better."""
    X, y, _ = gated(rng)
    held, truth, _ = gated(rng)
    constant, gate = MixtureOfRegressors(random_state=0).fit(X, y), fitted(X, y)
    for at in ([[-1.8]], [[1.8]]):
        heights = [np.sort(m.predict_dist(at)[0].prob(m.predict_components(at)[0])) for m in (constant, gate)]
        assert heights[0][0] > 0.5 * heights[0][1]
        assert heights[1][0] < 0.05 * heights[1][1]
    absent = 3.0 + 2.0 * -1.8  # the right plane, on the left
    assert constant.predict_dist([[-1.8]])[0].prob(absent) > 20.0 * gate.predict_dist([[-1.8]])[0].prob(
        absent
    )
    gains = gate.predict_dist(held).log_prob(truth) - constant.predict_dist(held).log_prob(truth)
    assert gains.mean() > 5.0 * gains.std() / np.sqrt(len(gains))
    assert gate.bic(held, truth) < constant.bic(held, truth)


@pytest.mark.slow
def test_a_gate_without_anything_to_say_is_constant(rng):
    """Where shares do not depend on x, both models are one, within the noise of the gate's coefficients."""
    x = rng.uniform(-2.0, 2.0, 2000)[:, None]
    y = np.where(rng.random(2000) < 0.7, x[:, 0], 4.0 - x[:, 0]) + 0.1 * rng.standard_normal(2000)
    model, constant = fitted(x, y), MixtureOfRegressors(random_state=0).fit(x, y)
    gain = model.log_likelihood_ - constant.log_likelihood_
    assert -1e-3 < gain < 12.0  # half of a chi-squared variable of one degree
    strong = fitted(x, y, gate_alpha=1e9)
    np.testing.assert_allclose(
        np.sort(strong.gate_proba(x), axis=1), np.sort(constant.weights_) + 0.0 * x, rtol=1e-4
    )


def test_planes_that_never_meet_have_a_finite_gate(rng):
    x = np.concatenate([rng.uniform(-2.0, -1.0, 100), rng.uniform(1.0, 2.0, 100)])[:, None]
    y = np.where(x[:, 0] > 0, 5.0, -5.0) * x[:, 0] + 0.1 * rng.standard_normal(200)
    model = fitted(x, y)
    assert np.all(np.isfinite(model.gate_coef_))
    np.testing.assert_allclose(model.predict(x), y, atol=0.6)


def test_one_expert_is_one_plane(rng):
    X, y, _ = gated(rng)
    one = MixtureOfExperts(1).fit(X, y)
    np.testing.assert_allclose(one.coef_, MixtureOfRegressors(1).fit(X, y).coef_, rtol=1e-12)
    assert np.all(one.gate_proba(X) == 1.0)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_units_make_no_difference(scale, rng):
    X, y, _ = gated(rng)
    plain, scaled = fitted(X, y), fitted(X * scale, y / scale)
    np.testing.assert_allclose(scaled.gate_coef_ * scale, plain.gate_coef_, rtol=1e-5)
    np.testing.assert_allclose(scaled.coef_ * scale * scale, plain.coef_, rtol=1e-5)


def test_streams_of_batches_are_rows(rng):
    X, y, _ = gated(rng)
    whole = fitted(X, y)
    cut = fitted([(X[:200], y[:200]), (X[200:], y[200:])], None)
    np.testing.assert_allclose(cut.gate_coef_, whole.gate_coef_, rtol=1e-6)
    np.testing.assert_allclose(cut.coef_, whole.coef_, rtol=1e-6)


@pytest.mark.slow
def test_experts_on_basis_functions(rng):
    X, y, _ = gated(rng)
    curves = make_pipeline(tractable.PolynomialBasis(3), MixtureOfExperts(random_state=0)).fit(X, y)
    assert curves.score(X, y) > 0.5


def test_parameters_are_counted(rng):
    X, y, _ = gated(rng)
    assert fitted(X, y).n_parameters_ == 2 + 2 + 1 + 2


def test_interruption_in_the_gate_keeps_the_best_so_far(rng, monkeypatch):
    from tractable.mixture.regression import steps as regression_steps

    X, y, _ = gated(rng)
    calls = iter(range(100))

    def interrupted(*args, honest=regression_steps.armijo_steps, **options):
        if next(calls) == 3:
            raise KeyboardInterrupt
        return honest(*args, **options)

    monkeypatch.setattr(regression_steps, "armijo_steps", interrupted)
    model = MixtureOfExperts(random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.n_iter_ == 3
    assert np.all(np.isfinite(model.gate_proba(X)))


def test_a_search_cut_short_says_so(rng):
    X, y, _ = gated(rng)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        assert not fitted(X, y, max_iter=1).converged_


@pytest.mark.parametrize(
    ("options", "named"), [({"gate_alpha": -1.0}, "gate_alpha"), ({"noise": "x"}, "noise")]
)
def test_bad_parameters_are_refused(options, named, rng):
    X, y, _ = gated(rng, n=20)
    with pytest.raises(ValueError, match=named):
        MixtureOfExperts(**options).fit(X, y)


def test_a_plane_fades_where_it_is_not_trusted(rng):
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    X, y, _ = gated(rng)
    model = fitted(X, y)
    ax = tractable.plot(model, X=X, y=y)
    lines = [c for c in ax.collections if isinstance(c, mpl.collections.LineCollection)]
    right = lines[int(np.argmax(model.coef_[:, 0]))].get_colors()[:, 3]
    assert right[0] < 0.2
    assert right[-1] > 0.9
    assert [t.get_text() for t in ax.get_legend().get_texts()] == [
        "density",
        "data",
        "component 0",
        "component 1",
    ]
    for options, named in (({"y": y}, "data must be given with y"), ({"X": np.ones((4, 2))}, "column")):
        with pytest.raises(ValueError, match=named):
            tractable.plot(model, **options)
    plt.close("all")


@pytest.mark.slow
@pytest.mark.parametrize("model", [MixtureOfExperts, MixtureOfRegressors])
def test_extrapolated_em_is_monotone_and_ends_where_em_does(model, rng, monkeypatch):
    """On rows without structure, where EM is slow: fewer iterations, no worse an optimum."""
    from tractable.mixture.regression.steps import RegressionProblem

    X = rng.standard_normal((200, 2))
    y = X @ [1.0, -0.5] + rng.standard_normal(200)
    options = {"random_state": 0, "n_init": 1, "tol": 1e-8, "max_iter": 5000}
    quick = model(**options).fit(X, y)
    monkeypatch.setattr(RegressionProblem, "extrapolate", lambda *_: None)
    plain = model(**options).fit(X, y)
    assert np.all(np.diff(quick.objective_trace_) >= -1e-12)
    assert quick.n_iter_ < plain.n_iter_
    assert quick.lower_bound_ > plain.lower_bound_ - 1e-5


@pytest.mark.parametrize("floor", [None, 1e-4])
def test_predictions_have_the_noise_that_is_reported(floor, rng):
    """Where experts fit a target of few values without error, its floor is the noise of predictions too."""
    X, y = rng.standard_normal((400, 3)), rng.integers(0, 3, 400).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = tractable.MixtureOfExperts(4, noise="separate", noise_floor=floor, random_state=0).fit(X, y)
    assert floor is not None or model.collapsed_.any()
    variance = model.predict_dist(X[:20]).components.scale ** 2
    assert np.all(variance >= 0.999 * model.noise_variance_.min())
    assert np.all(model.noise_variance_ >= 0.999 * (1e-12 * y.var() if floor is None else floor))
