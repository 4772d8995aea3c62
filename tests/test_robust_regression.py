"""Planes in heavy-tailed noise: optimal, monotone, unmoved by outliers, and least squares in the limit."""

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import minimize
from scipy.stats import t as student
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

import tractable
from least_absolute_errors import least_absolute_errors
from quick import some
from tractable import LinearRegression, RobustRegression
from tractable.distributions import Laplace, StudentT
from tractable.linear_model.robust import steps


def problem(rng, n=60, d=3, tails=2.0):
    X = rng.normal(size=(n, d))
    return X, 2.0 + X @ np.arange(1.0, d + 1) + rng.standard_t(tails, size=n)


@pytest.mark.spec("LIN-23")
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize(("n", "d"), [(25, 1), (60, 3), (41, 8)])
def test_laplace_noise_is_least_absolute_errors(n, d, fit_intercept, rng):
    X, y = problem(rng, n, d)
    w = rng.uniform(0.5, 2.0, n)
    beta, cost = least_absolute_errors(X, y, w, fit_intercept=fit_intercept)
    model = RobustRegression("laplace", fit_intercept=fit_intercept).fit(X, y, sample_weight=w)
    found = np.r_[[model.intercept_] * fit_intercept, model.coef_]
    np.testing.assert_allclose(found, beta, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(w @ np.abs(y - model.predict(X)), cost, rtol=1e-10)
    np.testing.assert_allclose(model.scale_, cost / w.sum(), rtol=1e-10)


@pytest.mark.spec("LIN-14", "LIN-23")
def test_outliers_a_thousand_million_times_the_noise(rng):
    """The least sum of absolute errors to all its digits, though five rows make up nearly all of it."""
    X = rng.normal(size=(60, 2))
    y = 1.0 + X @ [2.0, -1.0] + 1e-3 * rng.normal(size=60)
    y[:5] += 1e6
    beta, _ = least_absolute_errors(X, y, np.ones(60))
    model = RobustRegression("laplace", tol=0.0).fit(X, y)
    errors = [np.sum(np.abs(y - fitted) - 1e6 * (np.arange(60) < 5)) for fitted in
              (beta[0] + X @ beta[1:], model.predict(X))]  # fmt: skip
    assert errors[1] <= errors[0] + 1e-8
    np.testing.assert_allclose([model.intercept_, *model.coef_], [1.0, 2.0, -1.0], atol=2e-3)


@pytest.mark.spec("LIN-23")
def test_a_constant_alone_is_the_median(rng):
    y = rng.standard_cauchy(31)
    model = RobustRegression("laplace").fit(np.zeros((31, 1)), y)
    np.testing.assert_allclose(model.intercept_, np.median(y), rtol=1e-12)


@pytest.mark.spec("LIN-23")
@pytest.mark.parametrize("dof", [1.0, 3.0, None])
def test_student_noise_is_its_maximum_likelihood(dof, rng):
    X, y = problem(rng)
    model = RobustRegression("student", dof=dof).fit(X, y)

    def loss(theta):
        nu = np.exp(theta[-1]) if dof is None else dof
        r = (y - theta[0] - X @ theta[1:4]) / np.exp(theta[4])
        return -np.sum(student.logpdf(r, nu) - theta[4])

    here = np.r_[model.intercept_, model.coef_, np.log(model.scale_), [np.log(model.dof_)] * (dof is None)]
    best = minimize(loss, here, tol=1e-10)
    assert loss(here) <= best.fun + 1e-9
    np.testing.assert_allclose(here, best.x, atol=1e-4)
    np.testing.assert_allclose(len(y) * model.objective_trace_[-1], -loss(here), rtol=1e-10)


@pytest.mark.spec("LIN-23")
def test_many_degrees_of_freedom_are_least_squares(rng):
    X, y = problem(rng, tails=30.0)
    exact = LinearRegression().fit(X, y)
    for model in (RobustRegression("student", dof=1e12), RobustRegression("gaussian")):
        model.fit(X, y)
        np.testing.assert_allclose(model.coef_, exact.coef_, rtol=1e-9)
        np.testing.assert_allclose(model.scale_**2, exact.noise_variance_ml_, rtol=1e-9)
        np.testing.assert_allclose(model.row_weights_, 1.0, atol=1e-9)


@pytest.mark.parametrize(
    "options", [{"noise": "laplace"}, {"noise": "student"}, {"noise": "student", "dof": 2.0}]
)
def test_the_likelihood_never_falls(options, rng):
    X, y = problem(rng)
    model = RobustRegression(**options).fit(X, y)
    assert model.converged_
    assert model.n_iter_ == len(model.objective_trace_) - 1
    assert np.all(np.diff(model.objective_trace_) >= -1e-12)


@pytest.mark.spec("LIN-14", "LIN-23")
@pytest.mark.parametrize("noise", ["laplace", "student"])
def test_outliers_hardly_count(noise, rng):
    X = rng.normal(size=(80, 2))
    y = 1.0 + X @ [2.0, -3.0] + 0.1 * rng.normal(size=80)
    y[:8] += 500.0
    bent, robust = LinearRegression().fit(X, y), RobustRegression(noise).fit(X, y)
    np.testing.assert_allclose([robust.intercept_, *robust.coef_], [1.0, 2.0, -3.0], atol=0.15)
    assert abs(bent.intercept_ - 1.0) > 10.0
    assert np.max(robust.row_weights_[:8]) < 0.2 * np.min(robust.row_weights_[8:])


@pytest.mark.parametrize(
    ("options", "family"),
    [({"noise": "laplace"}, Laplace), ({"noise": "student", "dof": 5.0}, StudentT)],
)
def test_predictions_are_the_noise_about_draws_of_the_plane(options, family, rng):
    X, y = problem(rng)
    model = RobustRegression(**options).fit(X, y)
    dist = model.predict_dist(X[:4])
    assert isinstance(dist.components, family)
    np.testing.assert_allclose(dist.icdf(0.5), model.predict(X[:4]), rtol=1e-9, atol=1e-12)
    plane = model.predict_dist(X[:4], include_noise=False)
    leverage = LinearRegression().fit(X, y).leverage(X[:4])
    np.testing.assert_allclose(plane.variance / leverage, np.mean(plane.variance / leverage), rtol=0.3)


def test_gaussian_noise_predicts_as_least_squares(rng):
    X, y = problem(rng)
    model, plain = RobustRegression("gaussian").fit(X, y), LinearRegression().fit(X, y)
    for noise in (True, False):
        expected = plain.predict_interval(X, include_noise=noise)
        np.testing.assert_allclose(model.predict_interval(X, include_noise=noise), expected, rtol=1e-9)


def test_draws_are_those_of_least_squares_where_the_noise_is_gaussian(rng):
    """Student's t of very many degrees of freedom is Gaussian noise: the sampler against the closed form."""
    X, y = rng.standard_normal((12, 4)), rng.standard_normal(12)
    drawn, exact = RobustRegression("student", dof=1e6).fit(X, y), LinearRegression().fit(X, y)
    for noise in (True, False):
        a, b = (m.predict_interval(X, include_noise=noise) for m in (drawn, exact))
        np.testing.assert_allclose(a[:, 1] - a[:, 0], b[:, 1] - b[:, 0], rtol=0.15)


def test_rows_that_the_fit_does_not_determine_are_refused(rng):
    X, y = problem(rng)
    model = RobustRegression().fit(np.column_stack([X, X[:, 0]]), y)
    assert np.isfinite(model.predict_interval(np.column_stack([X, X[:, 0]]))).all()
    with pytest.raises(ValueError, match="not determined"):
        model.predict_interval(np.column_stack([X, -X[:, 0]]))


@pytest.mark.slow
@pytest.mark.parametrize(
    "options", some([{"noise": "laplace"}, {"noise": "student", "dof": 4.0}, {"noise": "gaussian"}])
)
def test_the_spread_of_the_plane_is_the_spread_of_refits(options, rng):
    """The large-sample variance of the plane against 200 fits to new noise, whose error is √(2/200)."""
    x = rng.uniform(-1.0, 1.0, size=(120, 1))
    draws = {
        "laplace": rng.laplace(size=(200, 120)),
        "student": rng.standard_t(4.0, size=(200, 120)),
        "gaussian": rng.normal(size=(200, 120)),
    }[options["noise"]]
    options = {**options, "tol": 1e-6}
    at = [np.r_[m.predict([[0.5]]), m.predict_var([[0.5]], include_noise=False)] for m in
          (RobustRegression(**options).fit(x, e) for e in draws)]  # fmt: skip
    spread, said = np.var([a for a, _ in at]), np.mean([v for _, v in at])
    assert abs(spread / said - 1.0) < 5.0 * np.sqrt(2.0 / 200.0)


def test_rows_in_a_plane_leave_no_noise():
    x = np.arange(6.0)[:, None]
    for noise in ("laplace", "student", "gaussian"):
        model = RobustRegression(noise).fit(x, 1.0 + 2.0 * x[:, 0])
        np.testing.assert_allclose(model.predict([[10.0]]), 21.0)
        assert model.scale_ == 0.0
        with pytest.raises(ValueError, match="without error"):
            model.predict_dist(x)


def test_most_rows_in_a_plane():
    """More than half of the rows in one plane: absolute errors go through them, whatever the others say."""
    x = np.arange(9.0)[:, None]
    y = 1.0 + 2.0 * x[:, 0]
    y[[1, 4]] += [30.0, -50.0]
    model = RobustRegression("laplace").fit(x, y)
    np.testing.assert_allclose([model.intercept_, *model.coef_], [1.0, 2.0], rtol=1e-9)


@pytest.mark.parametrize("dof", [None, 2.0])
def test_a_scale_that_collapses_is_said_to(dof, rng):
    """Student's likelihood has no bound where most rows lie in a plane: more iterations do not help."""
    X = rng.normal(size=(200, 3))
    y = 1.0 + X @ [1.0, 2.0, 3.0]
    y[:40] += rng.normal(size=40)
    with pytest.warns(ConvergenceWarning, match="the scale of the noise collapsed"):
        model = RobustRegression("student", dof=dof).fit(X, y)
    np.testing.assert_allclose(model.coef_, [1.0, 2.0, 3.0], rtol=1e-9)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"noise": "student"}, "raise max_iter or tol, or give dof$"),
        ({"noise": "student", "dof": 2.0}, "raise max_iter or tol$"),
        ({"noise": "laplace"}, "raise max_iter$"),
    ],
)
def test_a_search_cut_short_says_so(options, words, rng):
    X, y = problem(rng)
    with pytest.warns(ConvergenceWarning, match=words):
        assert not RobustRegression(**options, max_iter=2).fit(X, y).converged_


@pytest.mark.parametrize("noise", ["laplace", "student", "gaussian"])
def test_the_level_of_the_targets_costs_no_digits(noise, rng):
    X, y = problem(rng)
    far = y + 1e12
    a, b = (RobustRegression(noise).fit(X, targets) for targets in (far, far - 1e12))
    np.testing.assert_allclose(a.coef_, b.coef_, rtol=1e-9)
    np.testing.assert_allclose(a.scale_, b.scale_, rtol=1e-9)
    np.testing.assert_allclose(a.row_weights_, b.row_weights_, rtol=1e-3 if noise == "laplace" else 1e-6)
    np.testing.assert_allclose(a.predict(X) - 1e12, b.predict(X), atol=1e-3)


def test_an_interruption_keeps_the_best_so_far(rng, monkeypatch):
    X, y = problem(rng)
    calls, least_squares = iter(range(100)), steps.least_squares

    def interrupted(*args, **options):
        if next(calls) == 4:
            raise KeyboardInterrupt
        return least_squares(*args, **options)

    monkeypatch.setattr(steps, "least_squares", interrupted)
    model = RobustRegression("student")
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert (model.n_iter_, model.converged_) == (3, False)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"noise": "cauchy"}, "noise"),
        ({"noise": "student", "dof": 0.0}, "dof"),
        ({"noise": "laplace", "dof": 3.0}, "dof"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
    ],
)
def test_bad_parameters_are_refused(options, named):
    with pytest.raises(ValueError, match=named):
        RobustRegression(**options).fit([[0.0], [1.0]], [0.0, 1.0])


def streams(X, y, w, folder):
    """The same rows as batches, as a frame with named columns, and in a file."""
    frame = pd.DataFrame({**{f"x{j}": column for j, column in enumerate(X.T)}, "y": y, "w": w})
    frame.to_parquet(folder / "rows.parquet")
    yield {"X": [(X[:7], y[:7], w[:7]), (X[7:], y[7:], w[7:])]}
    yield {"X": frame, "y": "y", "sample_weight": "w"}
    yield {"X": tractable.scan(folder / "rows.parquet", target="y", weight="w")}


@pytest.mark.parametrize("options", [("student",), ("student", 3.0), ("gaussian",)], ids=str)
@pytest.mark.parametrize("n", some([40, 400]))
def test_a_stream_is_fitted_as_rows_in_memory_are(n, options, rng, tmp_path):
    """With few rows, whose posterior is drawn row by row, and with many; intervals included."""
    X, y = problem(rng, n)
    w = rng.integers(0, 3, n).astype(float)
    model = RobustRegression(options[0], dof=dict(enumerate(options)).get(1))
    here = clone(model).fit(X, y, sample_weight=w)
    for rows in streams(X, y, w, tmp_path):
        there = clone(model).fit(**rows)
        for name in ("coef_", "intercept_", "scale_", "dof_", "lower_bound_", "noise_variance_"):
            np.testing.assert_allclose(getattr(there, name), getattr(here, name), rtol=1e-6, err_msg=name)
        if options != ("student",) or n == 400:  # of fewer rows the tails cannot be predicted
            for noise in (True, False):
                expected = here.predict_interval(X[:5], include_noise=noise)
                names = getattr(there, "feature_names_in_", None)
                new = X[:5] if names is None else pd.DataFrame(X[:5], columns=names)
                found = there.predict_interval(new, include_noise=noise)
                np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-6)


def test_row_weights_are_of_rows_in_memory(rng):
    X, y = problem(rng)
    model = RobustRegression("student").fit(X, y)
    assert model.row_weights_.shape == y.shape
    assert not hasattr(model.fit([(X, y)]), "row_weights_")


def test_laplace_noise_refuses_streams_by_name(rng, tmp_path):
    X, y = problem(rng)
    batches, frame, file = streams(X, y, np.ones(len(y)), tmp_path)
    for rows in (batches, file):
        with pytest.raises(ValueError, match='X must be rows in memory for noise="laplace"'):
            RobustRegression().fit(**rows)
    np.testing.assert_allclose(RobustRegression().fit(**frame).coef_, RobustRegression().fit(X, y).coef_)
    assert tractable.tags(RobustRegression()).streaming == "no"
    assert tractable.tags(RobustRegression("student")).streaming == "exact over several passes"


def test_a_step_from_a_statistic_has_no_posterior_until_rows_are_seen(rng):
    """`summarize` and `from_statistic` are the two steps; of the rows the statistic has no leverages."""
    X, y = problem(rng)
    model = RobustRegression("student", max_iter=2)
    with pytest.warns(ConvergenceWarning):
        model.fit(X, y)
    before = model.lower_bound_
    for _ in range(3):
        model.from_statistic(model.summarize(X[:20], y[:20]) + model.summarize(X[20:], y[20:]))
    assert model.summarize(X, y).objective / len(y) > before
    assert np.isfinite(model.predict(X)).all()
    with pytest.raises(ValueError, match="from_statistic"):
        model.predict_interval(X)


@pytest.mark.parametrize("options", [{"noise": "student"}, {"noise": "laplace"}])
def test_an_interrupted_search_is_resumed(options, rng, tmp_path, monkeypatch):
    X, y = problem(rng)
    whole = RobustRegression(**options).fit(X, y)
    calls, solve = iter(range(100)), steps.least_squares

    def interrupted(*args, **given):
        if next(calls) == 3:
            raise KeyboardInterrupt
        return solve(*args, **given)

    monkeypatch.setattr(steps, "least_squares", interrupted)
    with pytest.raises(KeyboardInterrupt), tractable.checkpoint(tmp_path / "search"):
        RobustRegression(**options).fit(X, y)
    monkeypatch.setattr(steps, "least_squares", solve)
    with tractable.checkpoint(tmp_path / "search"):
        resumed = RobustRegression(**options).fit(X, y)
    np.testing.assert_array_equal(resumed.objective_trace_, whole.objective_trace_)
    np.testing.assert_array_equal(resumed.coef_, whole.coef_)


@pytest.mark.parametrize("model", [RobustRegression("student"), LinearRegression(), tractable.Ridge()])
def test_a_source_without_a_target_is_refused_by_name(model, rng):
    X, y = problem(rng)
    for rows in ([X[:9], X[9:]], [(X, np.column_stack([y, y]))])[: 1 + isinstance(model, RobustRegression)]:
        with pytest.raises(ValueError, match=r"y (must be|is missing)"):
            model.fit(rows)


@pytest.mark.parametrize("noise", ["laplace", "student", "gaussian"])
def test_the_variance_of_the_noise_is_that_of_predictions(noise, rng):
    X, y = problem(rng, n=400, tails=5.0)
    model = RobustRegression(noise).fit(X, y)
    np.testing.assert_allclose(model.predict_var(X[:3]), model.noise_variance_, rtol=0.1)
    assert np.all(model.predict_var(X[:3]) > model.noise_variance_)
    assert RobustRegression("student", dof=2.0).fit(X, y).noise_variance_ == np.inf
    assert np.isnan(RobustRegression("student", dof=1.0).fit(X, y).noise_variance_)


@pytest.mark.parametrize("noise", ["laplace", "student", "gaussian"])
def test_extreme_units_are_refused_by_name(noise, rng):
    X, y = problem(rng)
    with pytest.raises(ValueError, match="y has values so large"):
        RobustRegression(noise).fit(X, 1e200 * y)
    for size in (1e-310, [1.0, 1e-310, 1.0]):
        with pytest.raises(ValueError, match="X has columns so small"):
            RobustRegression(noise).fit(size * X, y)


class TestLosses:
    """Huber's and Tukey's M-estimates are statsmodels' RLM."""

    @pytest.mark.parametrize("kind", ["huber", "tukey"])
    def test_against_statsmodels(self, kind):
        import statsmodels.api as sm

        table = sm.datasets.stackloss.load_pandas()
        X, y = table.exog.to_numpy(float), table.endog.to_numpy(float)
        norm = sm.robust.norms.HuberT() if kind == "huber" else sm.robust.norms.TukeyBiweight()
        theirs = sm.RLM(y, sm.add_constant(X), M=norm).fit(tol=1e-13, maxiter=500)
        model = RobustRegression(kind).fit(X, y)
        assert model.converged_
        np.testing.assert_allclose([model.intercept_, *model.coef_], theirs.params, rtol=1e-8)
        np.testing.assert_allclose(
            [model.intercept_std_error_, *model.coef_std_errors_], theirs.bse, rtol=1e-8
        )
        np.testing.assert_allclose(model.scale_, theirs.scale, rtol=1e-8)
        np.testing.assert_allclose(model.row_weights_, theirs.weights, atol=1e-8)

    def test_tuning_and_bad_input(self, rng):
        X, y = problem(rng)
        wide = RobustRegression("huber", tuning=1e6).fit(X, y)
        np.testing.assert_allclose(wide.coef_, LinearRegression().fit(X, y).coef_, rtol=1e-9)
        for options, named in (({"tuning": -1.0}, "tuning"), ({"dof": 3.0}, "dof")):
            with pytest.raises(ValueError, match=named):
                RobustRegression("huber", **options).fit(X, y)
        with pytest.raises(ValueError, match="tuning is for the losses"):
            RobustRegression("laplace", tuning=1.0).fit(X, y)
        with pytest.raises(ValueError, match="rows in memory"):
            RobustRegression("tukey").fit(lambda: iter([(X, y)]))
        assert not hasattr(wide, "predict_dist")
        assert not hasattr(wide, "predict_interval")
        with pytest.raises(ValueError, match="return_std"):
            wide.predict(X, return_std=True)

    def test_intervals_of_gaussian_noise_are_least_squares(self, rng):
        X, y = problem(rng)
        exact, model = LinearRegression().fit(X, y), RobustRegression("gaussian").fit(X, y)
        np.testing.assert_allclose(model.coef_interval(0.9), exact.coef_interval(0.9), rtol=1e-9)
        np.testing.assert_allclose(model.intercept_interval(0.9), exact.intercept_interval(0.9), rtol=1e-9)


@pytest.mark.parametrize("noise", ["huber", "tukey"])
def test_a_loss_of_no_residuals_is_least_squares(noise, rng):
    X = rng.standard_normal((30, 2))
    model = RobustRegression(noise).fit(X, X @ [1.0, 2.0] + 3.0)
    np.testing.assert_allclose([model.intercept_, *model.coef_], [3.0, 1.0, 2.0], rtol=1e-12)
    assert model.scale_ == model.noise_variance_ == 0.0
    with pytest.raises(ValueError, match=r"^y is fitted without error"):
        model.coef_interval()


def test_a_model_of_a_loss_is_saved_and_loaded(tmp_path, rng):
    X = rng.standard_normal((30, 2))
    model = RobustRegression("tukey").fit(X, X @ [1.0, 2.0] + rng.standard_normal(30))
    tractable.save(model, tmp_path / "model")
    np.testing.assert_array_equal(tractable.load(tmp_path / "model").predict(X), model.predict(X))


class TestTable:
    @pytest.fixture
    def stackloss(self):
        import statsmodels.api as sm

        loaded = sm.datasets.stackloss.load_pandas()
        return loaded.exog, loaded.endog

    @pytest.mark.parametrize("noise", ["huber", "tukey", "gaussian", "laplace", "student"])
    def test_its_intervals_are_those_of_the_coefficients(self, stackloss, noise):
        X, y = stackloss
        model = RobustRegression(noise, dof=4.0 if noise == "student" else None).fit(X, y)
        table = model.summary(coverage=0.8)
        errors = np.append(model.intercept_std_error_, model.coef_std_errors_)
        np.testing.assert_allclose(table.std_errors, errors, rtol=1e-12)
        np.testing.assert_allclose(table.intervals[1:], model.coef_interval(0.8), rtol=1e-12)
        np.testing.assert_allclose(table.intervals[0], model.intercept_interval(0.8), rtol=1e-12)
        least_squares = tractable.LinearRegression().fit(X, y).summary()
        np.testing.assert_allclose(table.inflation[1:], least_squares.inflation[1:], rtol=1e-8)
        if noise == "gaussian":
            np.testing.assert_allclose(table.covariance, least_squares.covariance, rtol=1e-8)
            np.testing.assert_allclose(table.p_values, least_squares.p_values, rtol=1e-8)
        if noise in ("laplace", "student"):
            assert table.covariance_type == "posterior"
            with pytest.raises(ValueError, match="no tests"):
                table.p_values  # noqa: B018
        assert f"RobustRegression('{noise}')" in table._repr_html_().replace("&#x27;", "'")
        assert list(table.to_frame().index) == ["intercept", *X.columns]

    @pytest.mark.parametrize("noise", ["huber", "tukey"])
    def test_m_estimates_have_statsmodels_covariance(self, stackloss, noise):
        import statsmodels.api as sm

        X, y = stackloss
        norm = {"huber": sm.robust.norms.HuberT(), "tukey": sm.robust.norms.TukeyBiweight()}[noise]
        theirs = sm.RLM(y, sm.add_constant(X), M=norm).fit(tol=1e-13, maxiter=500)
        ours = RobustRegression(noise).fit(X, y).summary()
        np.testing.assert_allclose(ours.coefficients, theirs.params, rtol=1e-8)
        np.testing.assert_allclose(ours.covariance, theirs.cov_params(), rtol=1e-8)
        np.testing.assert_allclose(ours.test_values, theirs.tvalues, rtol=1e-8)

    def test_dependent_columns_are_open_and_few_rows_refused(self, rng):
        X = rng.standard_normal((60, 2))
        X = np.column_stack([X, X[:, 0] + X[:, 1]])
        y = X[:, 0] + rng.standard_normal(60)
        with pytest.warns(tractable.regression_tables.CollinearityWarning):
            found = RobustRegression("huber").fit(X, y).summary()
        assert np.isinf(found.std_errors).tolist() == [False, True, True, True]
        with pytest.raises(ValueError, match="too few rows"):
            RobustRegression("huber").fit(X[:6, :2], y[:6]).summary()

    def test_a_statistic_alone_has_no_table(self, rng):
        X = rng.standard_normal((40, 2))
        y = X[:, 0] + rng.standard_normal(40)
        model = RobustRegression("gaussian").fit(X, y)
        model.from_statistic(model.summarize(X, y))
        for ask in (model.summary, model.coef_interval):
            with pytest.raises(ValueError, match="fit to rows"):
                ask()
