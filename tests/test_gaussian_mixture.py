"""Gaussian mixtures: the worked example, the peer from the same start, collapse, and what no peer answers."""

import warnings

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.mixture import GaussianMixture as Peer

import tractable
from quick import some
from tractable import datasets
from tractable.base import DegenerateCovarianceWarning
from tractable.mixture import CollapsedComponentWarning, GaussianMixture
from tractable.mixture.gaussian import steps

TEN = np.array([8.2075, 9.8171, 0.1442, 8.8333, 9.4084, 9.0987, 0.7269, 1.0454, -0.1108, 9.4905])[:, None]
SHAPES = ["full", "tied", "diag", "spherical"]


def three_clusters(rng, n=400):
    parts = [
        rng.standard_normal((n, 3)) @ np.array([[1.0, 0.5, 0.0], [0.0, 0.7, 0.2], [0.0, 0.0, 1.3]]),
        rng.normal([4.0, 1.0, 0.0], 1.0, (n // 2, 3)),
        rng.normal([-3.0, 4.0, 1.0], 0.5, (n // 4, 3)),
    ]
    return np.concatenate(parts)


def numbers(table):
    """The complete rows of the numeric columns of a bundled table."""
    X = datasets.load(table).frame.select_dtypes("number").to_numpy(dtype=float)
    return X[~np.isnan(X).any(axis=1)]


def start(K, d, shape, X):
    precisions = {"full": np.tile(np.eye(d), (K, 1, 1)), "tied": np.eye(d), "diag": np.ones((K, d))}
    return {
        "weights_init": np.full(K, 1.0 / K),
        "means_init": X[np.linspace(0, len(X) - 1, K).astype(int)],
        "precisions_init": precisions.get(shape, np.ones(K)),
    }


def quiet_fit(model, X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, **options)


@pytest.mark.spec("W-03", "GMM-15", "GMM-05", "GMM-06", "GMM-07", "GMM-08", "E001-27")
def test_the_worked_example_step_by_step():
    model = GaussianMixture(
        2,
        weights_init=[0.5, 0.5],
        means_init=[[4.0], [6.0]],
        precisions_init=[[[1.0]], [[1.0]]],
        reg_covar=0.0,
        max_iter=1,
        tol=0.0,
    )
    quiet_fit(model, TEN)
    np.testing.assert_allclose(model.means_[:, 0], [0.456878, 9.141928], atol=1e-6)
    np.testing.assert_allclose(model.covariances_[:, 0, 0], [0.254512, 0.277255], atol=1e-6)
    np.testing.assert_allclose(model.weights_, [0.400206, 0.599794], atol=1e-6)
    np.testing.assert_allclose(10 * model.score(TEN), -13.902119, atol=1e-6)
    quiet_fit(model.set_params(max_iter=6), TEN)
    np.testing.assert_allclose(model.means_[:, 0], [0.451425, 9.142583], atol=1e-6)
    np.testing.assert_allclose(model.covariances_[:, 0, 0], [0.209794, 0.269773], atol=1e-6)
    np.testing.assert_allclose(model.weights_, [0.4, 0.6], atol=1e-6)
    np.testing.assert_allclose(10 * model.lower_bound_, -13.865726, atol=1e-6)


@pytest.mark.spec("E001-27", "GMM-11")
def test_a_variance_taken_for_a_deviation_is_caught(rng):
    """The printed E-step gives the density a variance where it wants a deviation: its likelihood falls."""
    x = np.concatenate([rng.normal(1.0, 2.0, 300), rng.normal(4.0, 2.0, 300)])
    mean, variance, share, printed = np.array([0.0, 5.0]), np.full(2, 4.0), np.full(2, 0.5), []
    for _ in range(30):
        joint = share * norm.pdf(x[:, None], mean, variance)
        r = joint / joint.sum(1, keepdims=True)
        mean = r.T @ x / r.sum(0)
        variance = (r * (x[:, None] - mean) ** 2).sum(0) / r.sum(0)
        share = r.mean(0)
        printed.append(np.log((share * norm.pdf(x[:, None], mean, np.sqrt(variance))).sum(1)).sum())
    assert np.diff(printed).min() < 0
    ours = GaussianMixture(2, means_init=[[0.0], [5.0]], tol=1e-5, random_state=0).fit(x[:, None])
    assert np.diff(ours.objective_trace_).min() >= 0
    assert 600 * ours.score(x[:, None]) > printed[-1]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("table", some(["iris", "old_faithful", "penguins", "wine"]))
@pytest.mark.spec("GMM-14", "GMM-04", "GMM-11")
def test_the_peer_from_the_same_start(shape, table):
    X = numbers(table)
    given = start(3, X.shape[1], shape, X)
    options = {"covariance_type": shape, "reg_covar": 1e-6, "tol": 1e-10, "max_iter": 5000, **given}
    ours, theirs = (quiet_fit(kind(3, **options), X) for kind in (GaussianMixture, Peer))
    assert ours.score(X) == pytest.approx(theirs.score(X), rel=1e-6)
    assert ours.covariances_.shape == theirs.covariances_.shape
    np.testing.assert_allclose(ours.weights_, theirs.weights_, atol=1e-3)
    np.testing.assert_allclose(ours.bic(X), theirs.bic(X), rtol=1e-6)
    np.testing.assert_allclose(ours.aic(X), theirs.aic(X), rtol=1e-6)
    assert np.diff(ours.objective_trace_).min() >= -1e-9 * abs(ours.lower_bound_)


@pytest.mark.parametrize("shape", [*SHAPES, "low_rank"])
def test_far_from_the_origin_the_fit_is_the_same(shape, rng):
    X = three_clusters(rng)
    near, far = (
        GaussianMixture(3, covariance_type=shape, random_state=0, tol=1e-5).fit(X + shift)
        for shift in (0.0, 1e8)
    )
    np.testing.assert_allclose(near.means_, far.means_ - 1e8, atol=1e-5)
    np.testing.assert_allclose(near.covariances_, far.covariances_, atol=1e-5)
    np.testing.assert_allclose(near.predict_proba(X), far.predict_proba(X + 1e8), atol=1e-5)


@pytest.mark.spec("GMM-01", "GMM-02", "GMM-03", "GMM-13")
def test_densities_and_responsibilities_are_the_formula(rng):
    X = three_clusters(rng)
    model = GaussianMixture(3, random_state=0).fit(X)
    joint = np.stack(
        [
            w * multivariate_normal(m, c).pdf(X)
            for w, m, c in zip(model.weights_, model.means_, model.covariances_, strict=True)
        ],
        axis=1,
    )
    np.testing.assert_allclose(model.score_samples(X), np.log(joint.sum(1)), rtol=1e-10)
    np.testing.assert_allclose(model.predict_proba(X), joint / joint.sum(1, keepdims=True), atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), joint.argmax(1))
    np.testing.assert_allclose(model.precisions_[0] @ model.covariances_[0], np.eye(3), atol=1e-9)
    upper = model.precisions_cholesky_
    np.testing.assert_allclose(upper @ np.swapaxes(upper, 1, 2), model.precisions_, rtol=1e-8)


@pytest.mark.spec("GMM-12")
def test_draws_come_from_their_components(rng):
    X = three_clusters(rng)
    model = GaussianMixture(3, random_state=0).fit(X)
    drawn, labels = model.sample(60_000, random_state=1)
    share = np.bincount(labels, minlength=3) / 60_000
    assert np.all(np.abs(share - model.weights_) < 5 * np.sqrt(model.weights_ / 60_000))
    for k in range(3):
        mine = drawn[labels == k]
        error = np.sqrt(np.diag(model.covariances_[k]) / len(mine))
        assert np.all(np.abs(mine.mean(0) - model.means_[k]) < 5 * error)


@pytest.mark.slow
@pytest.mark.spec("GMM-09")
def test_starts_lead_to_the_same_optimum(rng):
    X = three_clusters(rng)
    best = [
        GaussianMixture(3, init_params=how, n_init=10, random_state=3, tol=1e-8).fit(X).lower_bound_
        for how in ("kmeans", "k-means++", "random_from_data", "random")
    ]
    np.testing.assert_allclose(best, best[0], atol=1e-5)


@pytest.mark.spec("GMM-10")
def test_collapse_is_said_and_a_prior_prevents_it(rng):
    X = np.concatenate([rng.standard_normal((50, 2)), np.full((5, 2), 3.0)])
    given = {"means_init": [[0.0, 0.0], [3.0, 3.0]], "weights_init": [0.9, 0.1], "random_state": 0}
    with pytest.warns(CollapsedComponentWarning, match=r"components \[1\]"):
        model = GaussianMixture(2, **given).fit(X)
    assert model.collapsed_.tolist() == [False, True]
    assert np.all(np.isfinite(model.score_samples(X)))
    held = GaussianMixture(2, covariance_prior="data", **given).fit(X)
    assert not held.collapsed_.any()
    assert np.linalg.eigvalsh(held.covariances_).min() > 1e-3


@pytest.mark.spec("GMM-10")
def test_the_prior_is_an_inverse_wishart(rng):
    """At the maximum the gradient of log p(X) + Σ log IW(Σ_k) vanishes."""
    X, dof = three_clusters(rng), 7.0
    scale = np.diag([2.0, 1.0, 0.5])
    options = {"covariance_prior": scale, "degrees_of_freedom_prior": dof, "reg_covar": 0.0}
    model = GaussianMixture(3, tol=1e-14, max_iter=5000, random_state=0, **options).fit(X)

    def objective(covariances):
        likelihood = np.log(
            sum(
                w * multivariate_normal(m, c).pdf(X)
                for w, m, c in zip(model.weights_, model.means_, covariances, strict=True)
            )
        ).sum()
        prior = sum(tractable.InverseWishart(dof=dof, scale=scale).log_prob(c) for c in covariances)
        return likelihood + float(prior)

    best = objective(model.covariances_)
    for _ in range(20):
        step = rng.standard_normal((3, 3, 3))
        step = 1e-4 * (step + np.swapaxes(step, 1, 2))
        up, down = (objective(model.covariances_ + s * step) for s in (1.0, -1.0))
        assert abs(up - down) < 2e-2 * abs(up + down - 2 * best) + 1e-7
        assert max(up, down) < best


def test_a_component_that_loses_its_points_stays_with_weight_zero():
    X = np.concatenate([np.random.default_rng(0).normal(0.0, 1.0, (50, 2))])
    given = {"means_init": [[0.0, 0.0], [1e4, 1e4]], "weights_init": [0.5, 0.5]}
    with pytest.warns(CollapsedComponentWarning):
        model = GaussianMixture(2, precisions_init=np.tile(np.eye(2), (2, 1, 1)), **given).fit(X)
    assert model.weights_.tolist() == [1.0, 0.0]
    np.testing.assert_allclose(model.means_[1], [1e4, 1e4])
    assert np.all(np.isfinite(model.score_samples(X)))


@pytest.mark.spec("GMM-23", "GMM-22")
def test_one_gaussian_is_worse_and_the_criteria_say_so():
    X = numbers("old_faithful")
    one, two, six = (quiet_fit(GaussianMixture(k, random_state=0, n_init=3), X) for k in (1, 2, 6))
    for criterion in ("aic", "bic", "icl"):
        assert getattr(two, criterion)(X) < getattr(one, criterion)(X)
    assert two.bic(X) < six.bic(X)
    assert two.icl(X) >= two.bic(X)
    assert two.n_parameters_ == 11
    assert one.n_parameters_ == one.set_params().n_parameters_ == 5


def test_criteria_weigh_rows(rng):
    X = three_clusters(rng)
    times = rng.integers(0, 3, len(X))
    model = GaussianMixture(3, random_state=0).fit(X)
    for criterion in (model.aic, model.bic, model.icl):
        assert criterion(X, sample_weight=times) == pytest.approx(criterion(np.repeat(X, times, axis=0)))


def test_mixtures_condition_by_name():
    import pandas as pd

    frame = pd.DataFrame(numbers("old_faithful"), columns=["eruptions", "waiting"])
    model = GaussianMixture(2, random_state=0).fit(frame)
    given = model.condition({"eruptions": 2.0})
    assert 50.0 < float(given.mean[0]) < 60.0
    low, high = (model.condition({"eruptions": t}).weights for t in (2.0, 4.5))
    assert low.argmax() != high.argmax()


def test_warm_starts_go_on(rng):
    X = three_clusters(rng)
    whole = quiet_fit(GaussianMixture(3, random_state=0, max_iter=20, tol=0.0), X)
    half = quiet_fit(GaussianMixture(3, random_state=0, max_iter=10, tol=0.0, warm_start=True), X)
    quiet_fit(half, X)
    np.testing.assert_allclose(half.objective_trace_[-1], whole.objective_trace_[-1], rtol=1e-12)


def test_stepwise_em_comes_near_the_whole(rng):
    X = three_clusters(rng, n=4000)[rng.permutation(7000)]
    whole = GaussianMixture(3, random_state=0).fit(X)
    streamed = GaussianMixture(3, random_state=0)
    for batch in np.array_split(X, 20):
        streamed.partial_fit(batch)
    assert streamed.n_batches_ == 20
    assert streamed.score(X) > whole.score(X) - 0.01
    # A model that was fitted goes on from there, and does not jump.
    whole_score = whole.score(X)
    assert whole.partial_fit(X[:500]).score(X) > whole_score - 0.02


def test_sources_are_walked_once_an_iteration(rng, tmp_path):
    X = three_clusters(rng)
    np.save(tmp_path / "rows.npy", X)
    model = GaussianMixture(3, random_state=0)
    source = model.fit(tractable.scan(tmp_path / "rows.npy")).means_
    np.testing.assert_allclose(source, model.fit(X).means_, rtol=1e-9)


def test_separated_clusters_keep_their_digits(rng):
    """Where natural parameters would lose digits, the whitened form gives the moments of each cluster."""
    centres = np.array([[0.0, 0.0], [1e7, 0.0], [0.0, 1e7]])
    labels = np.repeat([0, 1, 2], 200)
    noise = rng.standard_normal((600, 2))
    model = GaussianMixture(3, means_init=centres, reg_covar=0.0, random_state=0).fit(centres[labels] + noise)
    X = centres[labels] + noise
    for k in range(3):
        np.testing.assert_allclose(model.means_[k], X[labels == k].mean(0), rtol=1e-12, atol=1e-6)
        exact = np.cov((X[labels == k] - centres[k]).T, bias=True)
        np.testing.assert_allclose(model.covariances_[k], exact, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": 2.5}, "n_components"),
        ({"n_components": 99}, "n_components"),
        ({"covariance_type": "round"}, "covariance_type"),
        ({"init_params": "magic"}, "init_params"),
        ({"reg_covar": -1.0}, "reg_covar"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"n_init": 0}, "n_init"),
        ({"rank": 0, "covariance_type": "low_rank"}, "rank"),
        ({"covariance_prior": "magic"}, "covariance_prior"),
        ({"covariance_prior": np.eye(3)}, "covariance_prior"),
        ({"covariance_prior": -np.eye(2)}, "covariance_prior"),
        ({"degrees_of_freedom_prior": 5.0}, "degrees_of_freedom_prior"),
        ({"covariance_prior": "data", "degrees_of_freedom_prior": 0.5}, "degrees_of_freedom_prior"),
        ({"weights_init": [0.5, 0.6], "n_components": 2}, "weights_init"),
        ({"weights_init": [1.0]}, "weights_init"),
        ({"means_init": [[0.0]]}, "means_init"),
        ({"means_init": "here"}, "means_init"),
        ({"precisions_init": [[1.0, 0.0]]}, "precisions_init"),
        ({"precisions_init": -np.eye(2)[None]}, "precisions_init"),
        ({"random_state": "lucky"}, "random_state"),
    ],
)
def test_bad_parameters_are_named(parameters, named, rng):
    X = rng.standard_normal((20, 2))
    given = {"n_components": 2 if "weights_init" in parameters else 1} | parameters
    if "n_components" not in parameters and "weights_init" not in parameters:
        given["n_components"] = 1
    model = GaussianMixture(**given)
    with pytest.raises(ValueError, match=named):
        model.fit(X)
    assert not hasattr(model, "weights_")


def test_constant_columns_and_few_distinct_points(rng):
    X = np.column_stack([rng.standard_normal(40), np.full(40, 7.0)])
    model = quiet_fit(GaussianMixture(2, random_state=0), X)
    np.testing.assert_allclose(model.means_[:, 1], 7.0)
    assert np.all(np.isfinite(model.score_samples(X)))
    few = np.repeat([[0.0, 1.0], [2.0, 3.0]], 10, axis=0)
    model = quiet_fit(GaussianMixture(4, random_state=0), few)
    assert np.all(np.isfinite(model.score_samples(few)))


@pytest.mark.slow
def test_a_collapsed_search_wins_only_where_all_collapse(rng):
    """Equal points make one component's likelihood as large as `reg_covar` lets it be."""
    X = np.concatenate([rng.standard_normal((60, 2)), np.full((4, 2), 2.0)])
    fits = [quiet_fit(GaussianMixture(2, random_state=s), X) for s in range(20)]
    collapsed = [bool(fit.collapsed_.any()) for fit in fits]
    assert any(collapsed)
    assert not all(collapsed)
    best = quiet_fit(GaussianMixture(2, random_state=0, n_init=20), X)
    assert not best.collapsed_.any()
    assert best.lower_bound_ < max(fit.lower_bound_ for fit in fits)


def test_a_constant_column_of_a_round_mixture_is_in_the_unit_of_the_others(rng):
    X = np.column_stack([rng.standard_normal(200), np.full(200, 7.0)])
    ours, theirs = (quiet_fit(kind(1, covariance_type="spherical"), X) for kind in (GaussianMixture, Peer))
    np.testing.assert_allclose(ours.covariances_, theirs.covariances_, rtol=1e-4)


def test_factors_are_those_of_factor_analysis(rng):
    from sklearn.decomposition import FactorAnalysis

    X = rng.standard_normal((600, 2)) @ rng.standard_normal((2, 6)) + 0.5 * rng.standard_normal((600, 6))
    model = GaussianMixture(1, covariance_type="low_rank", rank=2, reg_covar=0.0, tol=1e-10).fit(X)
    peer = FactorAnalysis(2, tol=1e-10, max_iter=10_000).fit(X)
    assert model.score(X) == pytest.approx(peer.score(X), abs=1e-7)
    assert np.abs(model.distribution_.components.structure.factor).max() > 0.5
    diagonal = GaussianMixture(1, covariance_type="diag").fit(X)
    assert model.score(X) > diagonal.score(X) + 1.0
    assert model.n_parameters_ == 6 + 2 * 6 - 1 + 6


def test_factors_count_no_more_numbers_than_a_full_matrix(rng):
    X = rng.standard_normal((100, 3))
    counts = [GaussianMixture(1, covariance_type="low_rank", rank=r).fit(X).n_parameters_ for r in (1, 2, 3)]
    assert counts == [9, 9, 9]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("shift", [1e4, 1e8])
def test_other_rows_may_lie_elsewhere(shape, shift, rng):
    """An E-step over rows far from those of the fit keeps their digits."""
    X = rng.standard_normal((300, 3))
    model = GaussianMixture(1, covariance_type=shape).fit(X)
    before = model.covariances_
    model.from_statistic(model.summarize(X + shift))
    np.testing.assert_allclose(model.covariances_, before, rtol=1e-5, atol=1e-7)
    np.testing.assert_allclose(model.means_[0], X.mean(0) + shift, rtol=1e-12)


def test_holes_may_come_later(rng):
    A = rng.standard_normal((2000, 4))
    B = A[500:] + 1.0
    B[3, 1] = np.nan
    model = GaussianMixture(1).partial_fit(A[:500]).partial_fit(B)
    assert model.weight_seen_ == 2000.0
    assert np.isfinite(model.summarize(B).objective)
    assert np.all(model.means_ > 0.3)


def test_an_m_step_ends_what_a_stream_had_gathered(rng):
    X = three_clusters(rng)
    model = GaussianMixture(2, random_state=0).partial_fit(X).partial_fit(X + 1.0)
    model.from_statistic(model.summarize(X + 50.0))
    after = model.means_.copy()
    assert not hasattr(model, "objective_trace_")
    np.testing.assert_allclose(model.partial_fit(X + 50.0).means_, after, atol=3.0)


@pytest.mark.parametrize(
    "change",
    [{"n_components": 3}, {"covariance_type": "low_rank"}, {"covariance_type": "tied"}],
)
def test_a_fit_of_another_kind_is_not_gone_on_from(change, rng):
    X = rng.standard_normal((40, 3))
    model = GaussianMixture(2, random_state=0, warm_start=True, covariance_type="diag").fit(X)
    statistic = model.summarize(X)
    model.set_params(**change)
    for call in (lambda: model.fit(X), lambda: model.partial_fit(X), lambda: model.from_statistic(statistic)):
        with pytest.raises(ValueError, match=r"components|statistic"):
            call()
    with pytest.raises(ValueError, match="columns"):
        model.set_params(n_components=2, covariance_type="diag").fit(X[:, :2])


def test_rows_without_entries_do_not_count_in_criteria(rng):
    X = three_clusters(rng)
    model = GaussianMixture(2, random_state=0).fit(X)
    more = np.vstack([X, np.full((100, 3), np.nan)])
    for criterion in (model.aic, model.bic, model.icl):
        assert criterion(more) == pytest.approx(criterion(X))


@pytest.mark.parametrize("shape", SHAPES)
def test_without_a_floor_collapse_is_said(shape, rng):
    X = rng.standard_normal((5, 3))
    with pytest.warns(CollapsedComponentWarning):
        model = GaussianMixture(5, covariance_type=shape, reg_covar=0.0, random_state=0).fit(X)
    if shape != "tied":
        assert model.collapsed_.all()
    assert np.all(np.isfinite(model.score_samples(X)))


def test_constant_columns_are_no_collapse(rng):
    X = np.column_stack([rng.standard_normal((100, 2)), np.full(100, 7.0)])
    with pytest.warns(DegenerateCovarianceWarning, match=r"columns \[2\] of X are constant"):
        model = GaussianMixture(2, random_state=0).fit(X)
    assert not model.collapsed_.any()


@pytest.mark.parametrize("how", some(["kmeans", "k-means++", "random_from_data", "random"], 2))
def test_one_component_is_found_at_once(how, rng):
    """Whatever the start, all rows are of the one component, which has their mean and covariance."""
    X = rng.standard_normal((200, 3)) @ rng.standard_normal((3, 3)) + 5.0
    model = GaussianMixture(1, init_params=how, reg_covar=0.0, random_state=0).fit(X)
    np.testing.assert_allclose(model.means_[0], X.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(model.covariances_[0], np.cov(X.T, ddof=0), rtol=1e-10)
    assert model.converged_
    assert model.n_iter_ == 1
    np.testing.assert_allclose(model.objective_trace_, model.score(X), rtol=1e-12)


@pytest.mark.parametrize("shape", some(SHAPES, 2))
def test_wide_rows_in_blocks_are_the_rows_at_once(shape, rng, monkeypatch):
    X = rng.standard_normal((300, 60)) + 8.0 * rng.integers(0, 2, (300, 1))
    model = GaussianMixture(2, covariance_type=shape, random_state=0)
    whole = model.fit(X).score(X)
    means, bound = model.means_, model.lower_bound_
    for name in ("BLOCK", "PRODUCTS_A_BLOCK"):
        monkeypatch.setattr(steps, name, 64)
    assert model.fit(X).score(X) == pytest.approx(whole, rel=1e-12)
    np.testing.assert_allclose(model.means_, means, rtol=1e-10)
    assert model.lower_bound_ == pytest.approx(bound, rel=1e-12)
