"""What the Gaussian density promises beyond the laws of all estimators."""

import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import stats
from scipy.optimize import minimize
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import tractable
from tractable import GaussianDensity, MultivariateNormal
from tractable.arrays import to_numpy
from tractable.density import DegenerateCovarianceWarning
from tractable.statistics import IncompleteMoments, Moments
from tractable.testing.statistic_laws import assert_same_statistic


@pytest.fixture
def X(rng):
    return rng.standard_normal((80, 3)) @ rng.standard_normal((3, 3)) + [1.0, -2.0, 5.0]


@pytest.fixture
def holes(X, rng):
    return np.where(rng.random(X.shape) < 0.25, np.nan, X)


@pytest.mark.spec("DIST-30")
def test_maximum_likelihood_is_the_mean_and_covariance(X):
    model = GaussianDensity().fit(X)
    np.testing.assert_allclose(model.location_, X.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(model.covariance_, np.cov(X.T, ddof=0), rtol=1e-12)
    np.testing.assert_allclose(model.precision_ @ model.covariance_, np.eye(3), atol=1e-11)
    assert np.all(model.jitter_ == 0)


def test_no_other_gaussian_is_likelier(X, rng):
    model = GaussianDensity().fit(X)
    for _ in range(20):
        nudge = 0.05 * rng.standard_normal((3, 3))
        other = MultivariateNormal(
            mean=model.location_ + 0.05 * rng.standard_normal(3),
            covariance=(np.eye(3) + nudge) @ model.covariance_ @ (np.eye(3) + nudge).T,
        )
        assert other.log_prob(X).sum() < model.score_samples(X).sum()


@pytest.mark.spec("DIST-24")
@pytest.mark.parametrize("kind", ["diag", "spherical"])
def test_restricted_covariances_are_their_maximum_likelihood(kind, X):
    model = GaussianDensity(covariance_type=kind).fit(X)
    variances = X.var(axis=0) if kind == "diag" else np.full(3, X.var(axis=0).mean())
    np.testing.assert_allclose(model.covariance_, np.diag(variances), rtol=1e-12)


@pytest.fixture(scope="module")
def draws():
    """1,600 samples of five draws from N(0, 4), a column each."""
    return 2.0 * np.random.default_rng(25).standard_normal((5, 1_600))


@pytest.fixture(scope="module")
def estimates(draws):
    """Means and variances of largest likelihood."""
    model = GaussianDensity(covariance_type="diag").fit(draws)
    return model.location_, model.distribution_.variance


def standard_error(x):
    return x.std() / np.sqrt(len(x))


def spread_error(x):
    """Standard error of a sample variance."""
    return np.std((x - x.mean()) ** 2) / np.sqrt(len(x))


@pytest.mark.spec("DIST-32", "EST-12", "EST-13", "E001-31", "W-25")
def test_the_variance_is_biased_by_minus_variance_over_n(estimates, draws):
    ml = estimates[1]
    unbiased = GaussianDensity(covariance_type="diag", ddof=1).fit(draws).distribution_.variance
    assert abs(ml.mean() - (4.0 - 0.8)) < 5 * standard_error(ml)
    assert abs(ml.mean() - (4.0 + 0.8)) > 20 * standard_error(ml)  # the printed sign
    assert abs(unbiased.mean() - 4.0) < 5 * standard_error(unbiased)
    assert abs(ml.var() - 5.12) < 5 * spread_error(ml)
    assert abs(unbiased.var() - 8.0) < 5 * spread_error(unbiased)


@pytest.mark.spec("EST-11", "E001-30", "W-25")
def test_the_variance_of_the_mean_is_variance_over_n(estimates):
    means = estimates[0]
    assert abs(means.mean()) < 5 * standard_error(means)
    assert abs(means.var() - 0.8) < 5 * spread_error(means)
    assert abs(means.var() - 0.16) > 20 * spread_error(means)  # the printed formula


class TestMissingValues:
    def test_the_fit_maximises_the_observed_likelihood(self, holes):
        model = GaussianDensity(tol=1e-15).fit(holes)

        def loss(theta):
            lower = np.zeros((3, 3))
            lower[np.tril_indices(3)] = theta[3:]
            candidate = MultivariateNormal(mean=theta[:3], covariance=lower @ lower.T)
            return -candidate.log_prob(holes).sum()

        start = np.concatenate([model.location_, np.linalg.cholesky(model.covariance_)[np.tril_indices(3)]])
        best = minimize(loss, start, method="BFGS")
        assert loss(start) <= best.fun + 1e-7
        np.testing.assert_allclose(best.x, start, atol=2e-4)

    def test_columns_missing_at_random_keep_their_truth(self, rng):
        truth = MultivariateNormal(mean=np.array([0.0, 10.0]), covariance=np.array([[1.0, 0.9], [0.9, 1.0]]))
        x = truth.sample(20_000, rng=rng)
        x[x[:, 0] > 0, 1] = np.nan  # missing depends on what is seen, so dropping rows is biased
        model = GaussianDensity().fit(x)
        assert abs(model.location_[1] - 10.0) < 5 * np.sqrt(2.0 / 20_000) * 2
        assert abs(np.nanmean(x[:, 1]) - 10.0) > 0.5

    def test_streams_and_merges_are_exact(self, holes):
        whole = GaussianDensity().fit(holes)
        parts = [GaussianDensity().partial_fit(piece) for piece in np.array_split(holes, 4)]
        merged = parts[0].merge(parts[1]).merge(parts[2]).merge(parts[3])
        np.testing.assert_allclose(merged.covariance_, whole.covariance_, rtol=1e-7)
        np.testing.assert_allclose(merged.location_, whole.location_, rtol=1e-7)

    def test_no_holes_is_the_closed_form(self, X):
        assert GaussianDensity().fit(X).n_iter_ == 0

    def test_rows_that_say_nothing_are_counted_and_change_nothing(self, holes):
        empty = np.full((4, 3), np.nan)
        model, more = GaussianDensity().fit(holes), GaussianDensity().fit(np.vstack([holes, empty]))
        np.testing.assert_allclose(more.covariance_, model.covariance_, rtol=1e-9)
        assert more.n_unseen_ - model.n_unseen_ == 4
        assert np.all(model.score_samples(empty) == 0)
        assert np.all(model.tail_probability(empty) == 1)

    @pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
    def test_a_column_never_seen_is_said(self, holes, kind):
        holes[:, 1] = np.nan
        with pytest.raises(ValueError, match=r"column.*1"):
            GaussianDensity(covariance_type=kind).fit(holes)

    @pytest.mark.parametrize("kind", ["diag", "spherical"])
    def test_independent_columns_use_what_each_has(self, holes, kind):
        model = GaussianDensity(covariance_type=kind).fit(holes)
        np.testing.assert_allclose(model.location_, np.nanmean(holes, axis=0), rtol=1e-12)
        if kind == "diag":
            np.testing.assert_allclose(np.diag(model.covariance_), np.nanvar(holes, axis=0), rtol=1e-12)

    def test_weights_count_rows_with_holes(self, holes, rng):
        times = rng.integers(0, 3, len(holes))
        weighted = GaussianDensity().fit(holes, sample_weight=times)
        repeated = GaussianDensity().fit(np.repeat(holes, times, axis=0))
        np.testing.assert_allclose(weighted.covariance_, repeated.covariance_, rtol=1e-8)

    def test_units_do_not_matter(self, holes):
        model = GaussianDensity().fit(holes)
        scale, shift = np.array([1e-100, 1.0, 1e80]), np.array([0.0, 1e4, 0.0])
        moved = GaussianDensity().fit(holes * scale + shift)
        np.testing.assert_allclose(moved.location_, model.location_ * scale + shift, rtol=1e-6)
        np.testing.assert_allclose(moved.covariance_, model.covariance_ * np.outer(scale, scale), rtol=1e-5)

    def test_too_few_iterations_are_said(self, holes):
        with pytest.warns(ConvergenceWarning, match="max_iter"):
            GaussianDensity(max_iter=1).fit(holes)


@pytest.mark.spec("SEQ-02", "DIST-31")
def test_a_stream_of_single_rows_is_the_batch(X):
    streamed = GaussianDensity()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegenerateCovarianceWarning)
        for row in X:
            streamed.partial_fit(row[None])
    batch = GaussianDensity().fit(X)
    np.testing.assert_allclose(streamed.location_, batch.location_, rtol=1e-13)
    np.testing.assert_allclose(streamed.covariance_, batch.covariance_, rtol=1e-11)


def test_far_from_the_origin_is_as_good_as_near(X):
    near, far = GaussianDensity().fit(X), GaussianDensity().fit(X + 2.0**27)
    np.testing.assert_allclose(far.covariance_, near.covariance_, rtol=1e-6)


class TestDegenerateData:
    def test_a_constant_column_is_reported(self, X):
        X[:, 1] = 0.1
        with pytest.warns(DegenerateCovarianceWarning, match="jitter_"):
            model = GaussianDensity().fit(X)
        assert model.jitter_[1] > 0
        assert model.jitter_[0] == model.jitter_[2] == 0
        assert np.all(np.isfinite(model.score_samples(X)))

    def test_collinear_columns_are_reported(self, X):
        X[:, 2] = X[:, 0] - X[:, 1]
        with pytest.warns(DegenerateCovarianceWarning):
            model = GaussianDensity().fit(X)
        assert np.all(model.jitter_ > 0)
        assert np.all(model.jitter_ < 1e-7 * np.diag(model.covariance_))

    def test_one_row_is_too_few(self):
        with pytest.raises(ValueError, match="minimum of 2"):
            GaussianDensity().fit([[1.0, 2.0]])

    def test_overflow_is_said(self, X):
        with pytest.raises(ValueError, match="overflow"):
            GaussianDensity().fit(X * 1e200)


def test_it_answers_by_column_name():
    table = tractable.datasets.load("old_faithful")
    for frame in (table.frame, pl.from_pandas(table.frame)):
        model = GaussianDensity().fit(frame)
        assert list(model.feature_names_in_) == list(table.feature_names)
        wait = model.condition({"eruptions": 3.0})
        assert wait.names == ("waiting",)
        slope, intercept = np.polyfit(table.X[:, 0], table.X[:, 1], 1)
        np.testing.assert_allclose(wait.mean, [intercept + 3.0 * slope])
        assert model.marginal(["waiting"]).names == ("waiting",)
        with pytest.raises(ValueError, match="eruptions"):
            model.condition({"eruption": 3.0})


def test_column_names_name_weights_too(X):
    frame = pd.DataFrame(X, columns=list("abc")).assign(w=np.arange(80.0))
    named = GaussianDensity().fit(frame, sample_weight="w")
    given = GaussianDensity().fit(frame[list("abc")], sample_weight=np.arange(80.0))
    np.testing.assert_allclose(named.covariance_, given.covariance_, rtol=1e-12)
    assert list(named.feature_names_in_) == list("abc")


def test_files_are_rows(X, tmp_path):
    path = tmp_path / "rows.parquet"
    pd.DataFrame(X, columns=list("abc")).to_parquet(path)
    model = GaussianDensity().fit(tractable.scan(path))
    np.testing.assert_allclose(model.covariance_, GaussianDensity().fit(X).covariance_, rtol=1e-12)
    assert model.distribution_.names == ("a", "b", "c")
    with pytest.raises(ValueError, match="columns"):
        model.partial_fit(tractable.scan(path, features=["b", "a", "c"]))


def test_tail_probabilities_are_uniform_under_the_model(rng):
    truth = MultivariateNormal(mean=np.zeros(4), covariance=np.eye(4) + 0.5)
    model = GaussianDensity().fit(truth.sample(50_000, rng=rng))
    fresh = truth.sample(4_000, rng=rng)
    fresh[::3, 1] = np.nan
    assert stats.kstest(model.tail_probability(fresh), "uniform").pvalue > 1e-4
    assert model.tail_probability([[30.0, 0.0, 0.0, 0.0]])[0] < 1e-12


def test_it_lives_in_scikit_learns_world(X):
    pipe = make_pipeline(StandardScaler(), GaussianDensity())
    search = GridSearchCV(pipe, {"gaussiandensity__covariance_type": ["full", "diag"]}, cv=3).fit(X)
    assert search.best_params_ == {"gaussiandensity__covariance_type": "full"}
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_allclose(again.score(X), search.best_estimator_.score(X))


@pytest.mark.parametrize(
    "bad", [{"covariance_type": "round"}, {"ddof": -1}, {"ddof": np.nan}, {"tol": 0}, {"max_iter": 0}]
)
def test_bad_parameters_are_named(bad, X):
    with pytest.raises(ValueError, match=next(iter(bad))):
        GaussianDensity(**bad).fit(X)


def test_ddof_needs_enough_weight(X):
    with pytest.raises(ValueError, match="ddof"):
        GaussianDensity(ddof=100).fit(X)


def test_the_wrong_statistic_is_refused(X):
    with pytest.raises(ValueError, match="statistic must be DiagonalMoments"):
        GaussianDensity(covariance_type="diag").from_statistic(GaussianDensity().fit(X).statistic_)


def test_asking_before_fitting_is_said(X):
    for ask in (lambda m: m.score_samples(X), lambda m: m.sample(2), lambda m: m.condition([0], [1.0])):
        with pytest.raises(NotFittedError):
            ask(GaussianDensity())


def test_other_array_libraries_keep_their_arrays(backend, X):
    model = GaussianDensity().fit(backend.asarray(X))
    assert backend.owns(model.location_)
    assert backend.owns(model.score_samples(backend.asarray(X)))
    np.testing.assert_allclose(to_numpy(model.covariance_), np.cov(X.T, ddof=0), rtol=1e-11)


def test_interruption_keeps_the_best_so_far(X, holes, monkeypatch):
    from tractable.engines import incomplete_gaussian

    calls = []

    def interrupted(expected, maximize=incomplete_gaussian.maximize):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return maximize(expected)

    monkeypatch.setattr(incomplete_gaussian, "maximize", interrupted)
    model = GaussianDensity()
    with pytest.raises(KeyboardInterrupt):
        model.fit(holes)
    assert model.n_iter_ == 2
    assert np.all(np.isfinite(model.score_samples(X)))


def test_interruption_before_anything_was_learned_changes_nothing(X):
    model = GaussianDensity().fit(X)
    before = dict(vars(model))

    def interrupted():
        yield X[:10]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        model.fit(interrupted)
    assert vars(model) == before
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(interrupted)
    assert vars(model) == before


class TestFoundInReview:
    @pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
    def test_far_from_the_origin_is_not_constant(self, kind, rng):
        X = rng.integers(0, 4, (1000, 2)) + 5e14
        model = GaussianDensity(covariance_type=kind).fit(X)
        np.testing.assert_allclose(np.diag(model.covariance_), [1.25, 1.25], rtol=0.2)
        assert np.all(model.jitter_ == 0)

    @pytest.mark.parametrize("kind", ["full", "diag", "spherical"])
    def test_underflow_is_said(self, kind, X):
        with pytest.raises(ValueError, match="underflow"):
            GaussianDensity(covariance_type=kind).fit(X * 1e-200)

    def test_masks_are_missing_entries(self, X):
        masked = np.ma.masked_array(X, mask=np.zeros(X.shape, dtype=bool))
        masked[3, 1] = np.ma.masked
        holes = X.copy()
        holes[3, 1] = np.nan
        np.testing.assert_allclose(
            GaussianDensity().fit(masked).covariance_, GaussianDensity().fit(holes).covariance_
        )

    def test_zero_weights_are_refused_by_every_route(self, X, tmp_path):
        frame = pd.DataFrame(X, columns=list("abc")).assign(w=0.0)
        frame.to_parquet(tmp_path / "w.parquet")
        routes = [
            lambda m: m.fit(frame, sample_weight="w"),
            lambda m: m.fit(tractable.scan(tmp_path / "w.parquet", weight="w")),
        ]
        for fit in routes:
            with pytest.raises(ValueError, match="positive entry"):
                fit(GaussianDensity())

    def test_one_row_is_refused_by_every_route(self, X):
        for rows in (X[:1], [X[:1]], pd.DataFrame(X[:1])):
            with pytest.raises(ValueError, match="minimum of 2"):
                GaussianDensity().fit(rows)

    def test_text_columns_are_named(self):
        with pytest.raises(ValueError, match="species"):
            GaussianDensity().fit(tractable.datasets.load("penguins").frame)

    def test_what_is_no_number_is_a_value_error(self):
        for bad in (
            [[10**400, 1], [2, 3]],
            np.array([["2020-01-01"], ["2020-01-02"]], dtype="datetime64[D]"),
        ):
            with pytest.raises(ValueError, match="X"):
                GaussianDensity().fit(bad)

    def test_a_source_is_scored_in_batches(self, X, tmp_path):
        pd.DataFrame(X, columns=list("abc")).to_parquet(tmp_path / "rows.parquet")
        source = tractable.scan(tmp_path / "rows.parquet")
        model = GaussianDensity().fit(source)
        assert model.score(source) == pytest.approx(np.mean(model.distribution_.log_prob(X)))
        np.testing.assert_allclose(model.score_samples(source), model.distribution_.log_prob(X))

    def test_a_stream_may_begin_with_a_column_nobody_saw(self, X):
        first = X[:20].copy()
        first[:, 2] = np.nan
        model = GaussianDensity().partial_fit(first)
        with pytest.raises(ValueError, match="more rows are needed"):
            model.score_samples(X)
        model.partial_fit(X[20:])
        whole = GaussianDensity().fit(np.vstack([first, X[20:]]))
        np.testing.assert_allclose(model.covariance_, whole.covariance_, rtol=1e-9)

    def test_models_of_other_shapes_do_not_merge(self, X):
        full, diagonal = GaussianDensity().fit(X), GaussianDensity(covariance_type="diag").fit(X)
        for call in (lambda: full.merge(diagonal), lambda: full.from_statistic(None)):
            with pytest.raises(ValueError, match="statistic must be"):
                call()
        full.set_params(covariance_type="diag")
        with pytest.raises(ValueError, match="statistic must be"):
            full.partial_fit(X)

    @pytest.mark.parametrize(
        "bad", [{"ddof": "a"}, {"tol": None}, {"max_iter": 1.5}, {"covariance_type": ["full"]}]
    )
    def test_parameters_of_other_types_are_named(self, bad, X):
        with pytest.raises(ValueError, match=next(iter(bad))):
            GaussianDensity(**bad).fit(X)

    def test_pictures_match_columns_by_name(self, X):
        frame = pd.DataFrame(X[:, :2], columns=["a", "b"])
        model = GaussianDensity().fit(frame)
        drawn = [
            tractable.plot(model, data=rows).collections[0].get_offsets()
            for rows in (frame, frame[["b", "a"]])
        ]
        np.testing.assert_allclose(*drawn)
        for options in ({"coverages": [1.5]}, {"data": X[:, 0]}):
            with pytest.raises(ValueError, match=next(iter(options))):
                tractable.plot(model, **options)


def test_rows_of_weight_zero_do_not_say_how_far_columns_vary():
    """A constant column and another row that does not count: nothing underflows."""
    X = np.array([[1.0, 2.0], [1.0, 3.0], [1.0, 5.0], [9.0, 1.0]])
    from tractable.statistics import DiagonalMoments

    found = DiagonalMoments.of(X, weights=[1.0, 1.0, 1.0, 0.0])
    assert found.scatter[0] == 0.0


@pytest.mark.parametrize("n_columns", [1, 5, 64, 300, 1030])
@pytest.mark.parametrize("weighted", [False, True])
def test_moments_of_patterns_in_batches_are_those_of_each(n_columns, weighted, rng):
    x = rng.standard_normal((150, n_columns)) + 3.0
    x[:, : min(n_columns, 7)][rng.random((150, min(n_columns, 7))) < 0.3] = np.nan
    w = rng.uniform(0.5, 2.0, 150) if weighted else None
    parts = [
        IncompleteMoments.of(x[rows], None if w is None else w[rows]) for rows in np.split(np.arange(150), 2)
    ]
    found = (parts[0] + parts[1]).parts
    seen = ~np.isnan(x)
    for pattern in np.unique(seen, axis=0):
        rows, columns = np.flatnonzero((seen == pattern).all(axis=1)), np.flatnonzero(pattern)
        expected = Moments.of(x[np.ix_(rows, columns)], None if w is None else w[rows])
        assert_same_statistic(found[tuple(columns.tolist())], expected, rtol=1e-12, atol=1e-12)
    assert len(found) == len(np.unique(seen, axis=0))
