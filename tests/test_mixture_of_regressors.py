"""Mixtures of regressors: planes, noise and shares that are found, and predictions with several modes."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import norm
from sklearn.exceptions import ConvergenceWarning, DataConversionWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

import tractable
from tractable import LinearRegression, MixtureOfExperts, MixtureOfRegressors, Ridge
from tractable.distributions import Mixture, Normal
from tractable.engines import decompose_evidence
from tractable.mixture import NoiseCollapsedWarning
from tractable.mixture.regression.steps import RegressionProblem


def plug_in(model, X):
    """p(y | x) at the likeliest parameters, as if these were known."""
    normal = Normal(mean=model.predict_components(X), variance=model.noise_variance_)
    return Mixture(weights=model.weights_, components=normal)


def crossing(rng, n=300, noise_variance=0.0093, share=0.6):
    """Two roads that cross."""
    x = rng.uniform(0.0, 4.0, n)
    first = rng.random(n) < share
    y = np.where(first, 1.0 + x, 5.0 - 2.0 * x) + np.sqrt(noise_variance) * rng.standard_normal(n)
    return x[:, None], y, first


def fitted(X, y, n_components=2, **options):
    sample_weight = options.pop("sample_weight", None)
    return MixtureOfRegressors(n_components, random_state=0, **options).fit(X, y, sample_weight=sample_weight)


def in_order(model):
    order = np.argsort(model.coef_[:, 0])
    return model.coef_[order, 0], model.intercept_[order], model.weights_[order], model.noise_variance_[order]


@pytest.mark.spec("MIX-01", "MIX-05")
def test_planes_shares_and_noise_are_found(rng):
    """Within five standard errors, those of rows whose plane is known being a little smaller."""
    X, y, first = crossing(rng, n=2000)
    slopes, heights, shares, noise = in_order(fitted(X, y))
    for slope, height, rows, truth in ((slopes[0], heights[0], ~first, [-2.0, 5.0]),
                                       (slopes[1], heights[1], first, [1.0, 1.0])):  # fmt: skip
        known = LinearRegression().fit(X[rows], y[rows])
        errors = 1.5 * np.array([known.coef_std_errors_[0], known.intercept_std_error_])
        assert np.all(np.abs(np.array([slope, height]) - truth) < 5.0 * errors)
    assert abs(shares[1] - 0.6) < 5.0 * np.sqrt(0.6 * 0.4 / 2000)
    assert abs(noise[0] / 0.0093 - 1.0) < 5.0 * np.sqrt(2.0 / 2000)
    assert noise[0] == noise[1]


@pytest.mark.spec("E000-55", "MIX-04")
def test_the_noise_is_that_of_the_points(rng):
    """The printed formula squares the errors of all rows for every row: thousands, the truth being 0.0093."""
    X, y, _ = crossing(rng)
    model = fitted(X, y)
    shares, errors = model.responsibilities(X, y), y[:, None] - model.predict_components(X)
    ours = np.sum(shares * errors**2) / len(y)
    printed = np.sum(shares * np.sum(errors**2, axis=0)) / len(y)
    np.testing.assert_allclose(model.noise_variance_, ours, rtol=1e-4)
    assert abs(ours / 0.0093 - 1.0) < 5.0 * np.sqrt(2.0 / len(y))
    assert printed > 1e5 * ours


@pytest.mark.spec("MIX-02")
def test_responsibilities_are_the_posterior_of_the_plane(rng):
    X, y, first = crossing(rng)
    model = fitted(X, y)
    joint = model.weights_ * norm.pdf(
        y[:, None], model.intercept_ + X @ model.coef_.T, np.sqrt(model.noise_variance_)
    )
    expected = joint / joint.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.responsibilities(X, y), expected, rtol=1e-8, atol=1e-300)
    np.testing.assert_allclose(plug_in(model, X).responsibilities(y), expected, rtol=1e-8, atol=1e-300)
    up = model.coef_[:, 0] > 0
    far = np.abs(X[:, 0] - 4.0 / 3.0) > 0.3
    assert np.mean((model.responsibilities(X, y)[:, up].ravel() > 0.5)[far] == first[far]) > 0.99


@pytest.mark.spec("MIX-03", "MIX-05")
@pytest.mark.parametrize("options", [{}, {"fit_intercept": False}, {"alpha": 3.0}, {"noise": "separate"}])
def test_a_step_is_weighted_least_squares(options, rng):
    """w_k = (ΦᵀR_kΦ)⁻¹ΦᵀR_k y; every plane is the (ridge) regression of its shares of the rows."""
    X, y, _ = crossing(rng)
    X = np.column_stack([X, rng.standard_normal(len(X))])
    model = fitted(X, y, **options)
    shares = model.responsibilities(X, y)
    located, alpha = options.get("fit_intercept", True), options.get("alpha", 0.0)
    stepped = model.from_statistic(model.summarize(X, y))
    for k in range(2):
        plane = Ridge(alpha, fit_intercept=located).fit(X, y, sample_weight=shares[:, k])
        np.testing.assert_allclose(stepped.coef_[k], plane.coef_, rtol=1e-9)
        np.testing.assert_allclose(stepped.intercept_[k], plane.intercept_, rtol=1e-9)
    np.testing.assert_allclose(stepped.weights_, shares.mean(axis=0), rtol=1e-9)


@pytest.mark.spec("MIX-03")
def test_ill_conditioned_columns_keep_their_digits(rng):
    """Columns that differ in the seventh digit: their squares would differ in the fourteenth."""
    x = rng.uniform(-1.0, 1.0, 400)
    X = np.column_stack([x, x + 1e-7 * rng.standard_normal(400)])
    first = rng.random(400) < 0.5
    y = np.where(first, 3.0 + X @ [1.0, 1.0], -3.0 + X @ [2.0, -1.0])
    model = MixtureOfRegressors(
        coef_init=[[1.0, 1.0], [2.0, -1.0]], intercept_init=[2.0, -2.0], noise_floor=1e-8
    )
    with pytest.warns(NoiseCollapsedWarning):
        model.fit(X, y)
    np.testing.assert_allclose(model.coef_, [[1.0, 1.0], [2.0, -1.0]], rtol=1e-6)


@pytest.mark.spec("MIX-06")
@pytest.mark.parametrize(
    "options", [{}, {"noise": "separate"}, {"alpha": 5.0}, {"n_components": 3, "n_init": 1, "tol": 1e-7}]
)
def test_the_log_likelihood_never_falls_and_is_a_maximum(options, rng):
    X, y, _ = crossing(rng)
    w = rng.uniform(0.5, 2.0, len(y))
    model = fitted(X, y, sample_weight=w, **{"tol": 1e-12, "max_iter": 5000, **options})
    trace = np.asarray(model.objective_trace_)
    assert np.all(np.diff(trace) >= -1e-9 * np.abs(trace[:-1]))
    np.testing.assert_allclose(model.log_likelihood_, w @ plug_in(model, X).log_prob(y), rtol=1e-10)
    np.testing.assert_allclose(model.log_likelihood(X, y, w), model.log_likelihood_, rtol=1e-10)
    squares = np.sum(model.coef_**2, axis=1) / model.noise_variance_
    penalty = 0.5 * options.get("alpha", 0.0) * np.sum(squares)
    np.testing.assert_allclose(model.lower_bound_ * w.sum(), model.log_likelihood_ - penalty, rtol=1e-10)


@pytest.mark.spec("MIX-06")
def test_no_climber_finds_better_nearby(rng):
    """BFGS on the log-likelihood, from where EM stopped, stays there."""
    X, y, _ = crossing(rng, noise_variance=0.3)
    model = fitted(X, y, tol=1e-14, max_iter=20_000)

    def loss(theta):
        planes, share, spread = theta[:4].reshape(2, 2), 1.0 / (1.0 + np.exp(-theta[4])), np.exp(theta[5])
        density = norm.pdf(y[:, None], planes[:, 0] + X * planes[:, 1], spread)
        return -np.sum(np.log(density @ [share, 1.0 - share]))

    here = np.r_[
        np.column_stack([model.intercept_, model.coef_]).ravel(),
        np.log(model.weights_[0] / model.weights_[1]),
        0.5 * np.log(model.noise_variance_[0]),
    ]
    np.testing.assert_allclose(-loss(here), model.log_likelihood_, rtol=1e-10)
    best = minimize(loss, here, tol=1e-9)
    assert loss(here) <= best.fun + 1e-8
    np.testing.assert_allclose(here, best.x, atol=1e-4)


@pytest.mark.spec("E000-54", "MIX-06")
def test_the_expected_complete_likelihood_is_another_number(rng):
    """log p = Q + entropy; only their slopes agree, at the parameters the shares were made with."""
    X, y, _ = crossing(rng, noise_variance=0.3)
    model = fitted(X, y)
    shares = model.responsibilities(X, y)
    parts = decompose_evidence(shares, plug_in(model, X).log_joint(y))
    np.testing.assert_allclose(parts.evidence, model.log_likelihood_, rtol=1e-10)
    np.testing.assert_allclose(parts.expected_complete + parts.entropy, parts.evidence, rtol=1e-10)
    assert parts.evidence - parts.expected_complete > 10.0

    def both(slope):
        planes = model.predict_components(X) + slope * X * [1.0, 0.0]
        joint = np.log(model.weights_) + norm.logpdf(y[:, None], planes, np.sqrt(model.noise_variance_))
        moved = decompose_evidence(shares, joint)
        return np.array([moved.evidence, moved.expected_complete])

    step = 1e-5
    evidence, complete = (both(0.1 + step) - both(0.1 - step)) / (2.0 * step)
    assert abs(evidence - complete) > 1.0  # elsewhere they differ
    evidence, complete = (both(step) - both(-step)) / (2.0 * step)
    np.testing.assert_allclose(evidence, complete, atol=1e-5)


@pytest.mark.spec("MIX-07")
def test_predictions_have_a_mode_on_every_road(rng):
    X, y, _ = crossing(rng)
    model = fitted(X, y)
    dist = model.predict_dist([[0.0], [4.0 / 3.0], [3.0]])
    assert isinstance(dist, Mixture)
    assert hasattr(dist, "cdf")
    assert dist.batch_shape == (3,)
    np.testing.assert_allclose(np.sort(dist[0].modes()), [1.0, 5.0], atol=0.1)
    np.testing.assert_allclose(dist[2].modes(), [4.0, -1.0], atol=0.1)  # the more travelled first
    assert dist[1].modes().size == 1  # where they cross
    assert dist[2].prob(model.predict([[3.0]])[0]) < 1e-6  # nobody drives at the mean


@pytest.mark.slow
@pytest.mark.spec("MIX-07")
def test_optima_are_local_and_restarts_find_the_best(rng):
    x = rng.uniform(-2.0, 2.0, 300)[:, None]
    planes = np.array([[-1.0, 0.0], [0.0, 2.0], [4.0, -1.0]])
    which = rng.integers(3, size=300)
    y = planes[which, 0] + planes[which, 1] * x[:, 0] + 0.2 * rng.standard_normal(300)
    ends = [MixtureOfRegressors(3, n_init=1, random_state=seed).fit(x, y).lower_bound_ for seed in range(12)]
    best = MixtureOfRegressors(3, n_init=10, random_state=0).fit(x, y).lower_bound_
    assert max(ends) - min(ends) > 0.05
    np.testing.assert_allclose(best, max(ends), atol=1e-4)


def test_one_plane_is_least_squares(rng):
    X, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    model, plain = MixtureOfRegressors(1).fit(X, y), LinearRegression().fit(X, y)
    np.testing.assert_allclose(model.coef_[0], plain.coef_, rtol=1e-10)
    np.testing.assert_allclose(model.noise_variance_, plain.noise_variance_ml_, rtol=1e-10)
    np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-10, atol=1e-12)


def test_the_spread_of_planes_is_that_of_least_squares_where_rows_are_many(rng):
    X, y, first = crossing(rng, n=5000)
    model = fitted(X, y)
    up = int(np.argmax(model.coef_[:, 0]))
    said = model.predict_dist([[3.0]], include_noise=False).components.variance[0, up]
    known = LinearRegression().fit(X[first], y[first])
    np.testing.assert_allclose(said, known.leverage(np.array([[3.0]]))[0] * 0.0093, rtol=0.15)


@pytest.mark.parametrize("shift", [0.0, 1e8])
@pytest.mark.parametrize("scale", [1e-100, 1.0, 1e100])
def test_units_and_origin_make_no_difference(scale, shift, rng):
    X, y, _ = crossing(rng)
    plain = fitted(X, y)
    moved = fitted(X + shift, scale * y)
    np.testing.assert_allclose(moved.coef_ / scale, plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(moved.noise_variance_ / scale / scale, plain.noise_variance_, rtol=1e-5)
    np.testing.assert_allclose(moved.lower_bound_ + np.log(scale), plain.lower_bound_, rtol=1e-6, atol=1e-6)


def test_a_given_start_is_used(rng):
    X, y, _ = crossing(rng)
    model = MixtureOfRegressors(coef_init=[[1.0], [-2.0]], intercept_init=[1.0, 5.0]).fit(X, y)
    np.testing.assert_allclose(model.coef_.ravel(), [1.0, -2.0], atol=0.05)
    swapped = MixtureOfRegressors(coef_init=[[-2.0], [1.0]], intercept_init=[5.0, 1.0]).fit(X, y)
    np.testing.assert_allclose(swapped.coef_[::-1], model.coef_, rtol=1e-9)


def test_a_noise_that_vanishes_is_said(rng):
    """Three rows on a line, and the others nowhere near one: with noises apart, it is worth an own plane."""
    X, y = rng.uniform(-1.0, 1.0, (12, 1)), 5.0 * rng.standard_normal(12)
    with pytest.warns(NoiseCollapsedWarning, match="noise_floor"):
        model = MixtureOfRegressors(5, noise="separate", random_state=0).fit(X, y)
    assert model.collapsed_.any()
    assert np.all(model.noise_variance_[model.collapsed_] <= 1e-6 * np.var(y))


def test_a_collapsed_start_is_passed_over(rng):
    """Its likelihood is greater, and says only how small the floor is."""
    X, y, _ = crossing(rng, n=100, noise_variance=0.2)
    options = {"noise": "separate", "noise_floor": 1e-30, "max_iter": 2000}
    near = [[1.0], [(y[1] - y[0]) / (X[1, 0] - X[0, 0])]]
    through = [1.0, y[0] - near[1][0] * X[0, 0]]
    trapped = MixtureOfRegressors(coef_init=near, intercept_init=through, **options)
    free = MixtureOfRegressors(n_init=20, random_state=0, **options).fit(X, y)
    assert not free.collapsed_.any()
    assert np.all(free.noise_variance_ > 0.05)
    trapped.fit(X, y)  # settles on the roads as well: two rows do not hold a plane with this much noise


@pytest.mark.parametrize("targets", [np.full(20, 3.0), np.zeros(20)])
def test_constant_targets_are_predicted(targets, rng):
    with pytest.warns(NoiseCollapsedWarning):
        model = fitted(rng.standard_normal((20, 2)), targets)
    np.testing.assert_allclose(model.predict([[0.0, 9.0]]), targets[0], atol=1e-12)


def test_streams_of_batches_are_rows(rng, tmp_path):
    import pandas as pd

    X, y, _ = crossing(rng)
    w = rng.integers(1, 4, len(y)).astype(float)
    whole = fitted(X, y, sample_weight=w)
    batches = [(X[part], y[part], w[part]) for part in (slice(100), slice(100, None))]
    np.testing.assert_allclose(fitted(batches, None).coef_, whole.coef_, rtol=1e-7)
    pd.DataFrame({"x": X[:, 0], "y": y, "w": w}).to_parquet(tmp_path / "rows.parquet")
    source = tractable.scan(tmp_path / "rows.parquet", features=["x"], target="y", weight="w")
    model = fitted(source, None)
    np.testing.assert_allclose(model.coef_, whole.coef_, rtol=1e-7)
    assert list(model.feature_names_in_) == ["x"]


@pytest.mark.slow
def test_pipelines_and_searches(rng):
    """Basis functions before it make curves; its likelihood chooses among numbers of components."""
    x = rng.uniform(-3.0, 3.0, 300)[:, None]
    y = np.where(rng.random(300) < 0.5, np.sin(x[:, 0]), 2.0 + 0.2 * x[:, 0] ** 2)
    y += 0.1 * rng.standard_normal(300)
    basis = tractable.PolynomialBasis(5)
    curves = make_pipeline(basis, MixtureOfRegressors(random_state=0)).fit(x, y)
    found = curves[-1].predict_components(curves[0].transform([[1.0]]))
    np.testing.assert_allclose(np.sort(found[0]), [np.sin(1.0), 2.2], atol=0.15)
    held = {"mixtureofregressors__n_components": [1, 2]}
    search = GridSearchCV(
        curves, held, scoring=lambda m, X, y: m[-1].log_likelihood(m[0].transform(X), y), cv=3
    )
    assert search.fit(x, y).best_params_ == {"mixtureofregressors__n_components": 2}
    rows = basis.fit_transform(x)
    criteria = [fitted(rows, y, k).bic(rows, y) for k in (1, 2, 3)]
    assert int(np.argmin(criteria)) == 1


def test_parameters_are_counted(rng):
    X, y, _ = crossing(rng)
    assert fitted(X, y).n_parameters_ == 2 + 2 + 1 + 1
    assert fitted(X, y, noise="separate", fit_intercept=False, n_components=3).n_parameters_ == 3 + 3 + 2


def test_interruption_keeps_the_best_so_far(rng, monkeypatch):
    X, y, _ = crossing(rng)
    calls = iter(range(100))

    def interrupted(self, expected, honest=RegressionProblem.maximize):
        if next(calls) == 6:
            raise KeyboardInterrupt
        return honest(self, expected)

    monkeypatch.setattr(RegressionProblem, "maximize", interrupted)
    model = MixtureOfRegressors(tol=0.0, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert (model.n_iter_, model.converged_) == (6, False)
    assert np.all(np.isfinite(model.predict(X)))


def test_a_killed_fit_goes_on_where_it_was(rng, monkeypatch, tmp_path):
    X, y, _ = crossing(rng)
    whole, path = fitted(X, y), tmp_path / "fit.checkpoint"
    calls, honest = iter(range(100)), RegressionProblem.maximize

    def killed(self, expected):
        if next(calls) == 20:
            raise MemoryError("killed")
        return honest(self, expected)

    monkeypatch.setattr(RegressionProblem, "maximize", killed)
    with pytest.raises(MemoryError), tractable.checkpoint(path, every=0.0):
        fitted(X, y)
    monkeypatch.setattr(RegressionProblem, "maximize", honest)
    with tractable.checkpoint(path, every=0.0):
        resumed = fitted(X, y)
    np.testing.assert_array_equal(resumed.coef_, whole.coef_)


def test_a_search_cut_short_says_so(rng):
    X, y, _ = crossing(rng)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        assert not fitted(X, y, max_iter=1).converged_


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"n_components": 0}, "n_components"),
        ({"noise": "tied"}, "noise"),
        ({"alpha": -1.0}, "alpha"),
        ({"noise_floor": 0.0}, "noise_floor"),
        ({"n_init": 0}, "n_init"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"random_state": -1}, "random_state"),
        ({"coef_init": [[1.0]]}, "coef_init"),
        ({"coef_init": [["a"], ["b"]]}, "coef_init"),
        ({"coef_init": [[1.0], [2.0]], "intercept_init": [np.nan, 1.0]}, "intercept_init"),
        ({"intercept_init": [0.0, 1.0]}, "coef_init"),
        ({"coef_init": [[1.0], [2.0]], "intercept_init": [1, 1], "fit_intercept": False}, "intercept_init"),
    ],
)
def test_bad_parameters_are_refused(options, named, rng):
    X, y, _ = crossing(rng, n=20)
    with pytest.raises(ValueError, match=named):
        MixtureOfRegressors(**options).fit(X, y)


def test_bad_targets_are_refused(rng):
    X, y, _ = crossing(rng, n=20)
    two = np.column_stack([y, y])
    for bad in ((X, two), ([(X, two)], None), ([X], None), (X, None), (X, y * np.nan), (X, y * 1e300)):
        with pytest.raises(ValueError, match="y"):
            MixtureOfRegressors().fit(*bad)
    with pytest.raises(ValueError, match="n_samples=2"):
        MixtureOfRegressors(3).fit(X, y, sample_weight=np.r_[1.0, 1.0, np.zeros(18)])
    with pytest.warns(DataConversionWarning):
        MixtureOfRegressors(random_state=0).fit(X, y[:, None])
    with pytest.raises(ValueError, match="statistic"):
        MixtureOfRegressors(random_state=0).fit(X, y).from_statistic(3.0)


@pytest.mark.parametrize("noise", ["separate", "shared"])
@pytest.mark.parametrize("size", [0.3, 0.01])
def test_little_noise_about_steep_planes_is_found(noise, size):
    rng = np.random.default_rng(0)
    x = rng.uniform(-2.0, 2.0, 400)
    y = np.where(rng.random(400) < 0.5, 1000.0, -500.0) * x + size * rng.standard_normal(400)
    model = tractable.MixtureOfRegressors(noise=noise, random_state=0)
    model.fit(x[:, None], y)
    np.testing.assert_allclose(np.sort(model.coef_[:, 0]), [-500.0, 1000.0], rtol=1e-3)
    np.testing.assert_allclose(model.noise_variance_, size**2, rtol=0.4)
    assert not model.collapsed_.any()


def test_planes_without_error_win_over_worse_ones_and_it_is_said():
    rng = np.random.default_rng(0)
    x = rng.uniform(-2.0, 2.0, 400)
    y = np.where(rng.random(400) < 0.5, 10.0, -5.0) * x
    for noise in ("separate", "shared"):
        with pytest.warns(NoiseCollapsedWarning, match="without error"):
            model = tractable.MixtureOfRegressors(noise=noise, random_state=0).fit(x[:, None], y)
        np.testing.assert_allclose(np.sort(model.coef_[:, 0]), [-5.0, 10.0], rtol=1e-6)


def test_criteria_weigh_parameters_against_fit():
    rng = np.random.default_rng(0)
    x = rng.standard_normal((80, 1))
    y = x[:, 0] + rng.standard_normal(80)
    model = tractable.MixtureOfRegressors(1).fit(x, y)
    likelihood = model.log_likelihood(x, y)
    assert model.aic(x, y) == pytest.approx(2.0 * 3 - 2.0 * likelihood)
    assert model.bic(x, y) == pytest.approx(3 * np.log(80) - 2.0 * likelihood)


@pytest.mark.parametrize("kind", [MixtureOfRegressors, MixtureOfExperts])
def test_rows_whose_predictor_is_not_determined_are_refused_unless_there_is_a_penalty(rng, kind):
    """The second column is twice the first in the rows of the fit, and not in a new row."""
    X, y, _ = crossing(rng)
    twice, apart = np.column_stack([X, 2.0 * X]), [[1.0, 2.0], [1.0, -2.0]]
    exact = kind(random_state=0).fit(twice, y)
    assert np.isfinite(exact.predict_dist(twice).log_prob(y)).all()
    with pytest.raises(ValueError, match=r"the first is row 1, outside of the span .* Fit with alpha > 0"):
        exact.predict_dist(apart)
    shrunk = kind(alpha=1.0, random_state=0).fit(twice, y)
    inside, outside = shrunk.predict_dist(apart).stddev
    assert np.isfinite(outside)
    assert outside > inside
