"""Variational mixtures: the peer from the same start, components that vanish, and what no peer answers."""

import warnings
from itertools import permutations

import numpy as np
import pytest
from sklearn.mixture import BayesianGaussianMixture as Peer

import tractable
from quick import some
from rows.bayesian_gaussian_mixture import DIRICHLET, PROCESS, SHAPES, clusters
from tractable import datasets
from tractable.base import Rows
from tractable.mixture import BayesianGaussianMixture
from tractable.mixture.bayesian_gaussian.steps import BayesianGaussianProblem
from tractable.value import replace


def numbers(table):
    X = datasets.load(table).frame.select_dtypes("number").to_numpy(dtype=float)
    return X[~np.isnan(X).any(axis=1)]


def quiet_fit(model, X, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return model.fit(X, **options)


@pytest.mark.parametrize("table", some(["old_faithful", "penguins", "wine"]))
@pytest.mark.parametrize("kind", [PROCESS, DIRICHLET], ids=["process", "dirichlet"])
def test_the_peer_from_the_same_start(table, kind):
    same_as_peer(numbers(table), n_components=2 if table == "old_faithful" else 3, **kind)


@pytest.mark.parametrize("shape", ["full", "diag", "spherical"])
@pytest.mark.parametrize("kind", [PROCESS, DIRICHLET], ids=["process", "dirichlet"])
def test_the_peer_where_a_column_is_alone(shape, kind):
    """With one column a diagonal is a matrix, and the peer's expectations are right for every shape."""
    same_as_peer(numbers("old_faithful")[:, :1], n_components=2, covariance_type=shape, **kind)


def same_as_peer(X, n_components, **options):
    options = {"reg_covar": 0.0, "tol": 0.0, "random_state": 0, **options}
    ours = quiet_fit(BayesianGaussianMixture(n_components, max_iter=5, **options), X)
    theirs = quiet_fit(Peer(n_components=n_components, max_iter=1, **options), X)
    priors = ("weight_concentration", "mean_precision", "mean", "degrees_of_freedom", "covariance")
    for name in priors:
        np.testing.assert_allclose(getattr(ours, f"{name}_prior_"), getattr(theirs, f"{name}_prior_"))
    names = (
        "weight_concentration_", "mean_precision_", "means_", "degrees_of_freedom_", "covariances_",
        "precisions_cholesky_",
    )  # fmt: skip
    theirs._set_parameters(tuple(getattr(ours, name) for name in names))
    for model in (ours, theirs):
        quiet_fit(model.set_params(warm_start=True, max_iter=30), X)
    for name in (*names, "weights_", "precisions_"):
        np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), rtol=1e-6, atol=1e-8)
    assert (ours.predict(X) == theirs.predict(X)).mean() > 0.98


def test_no_order_of_the_sticks_is_better(rng):
    X = clusters(rng)
    model = quiet_fit(BayesianGaussianMixture(4, max_iter=4, tol=0.0, random_state=0), X)
    assert np.all(np.diff(model.mean_precision_) <= 0)
    problem, params = model._em_problem(Rows(data=X), fitted=True), model._params_
    best = problem.data.reduce(problem.expect(params)).objective
    n = params.strength - 1.0
    for order in map(list, permutations(range(4))):
        later = np.append(np.cumsum(n[order][:0:-1])[::-1], 0.0)
        other = replace(
            params,
            concentration=np.stack([1.0 + n[order], model.weight_concentration_prior_ + later]),
            strength=params.strength[order],
            means=params.means[order],
            dof=params.dof[order],
            structure=params.structure[order],
        )
        found = problem.data.reduce(problem.expect(other)).objective
        assert found <= best + 1e-9 * abs(best)


@pytest.mark.parametrize("kind", [PROCESS, DIRICHLET], ids=["process", "dirichlet"])
def test_components_that_are_not_needed_vanish(kind):
    X = numbers("old_faithful")
    model = BayesianGaussianMixture(6, random_state=0, **kind).fit(X)
    two = BayesianGaussianMixture(2, random_state=0, **kind).fit(X)
    assert model.converged_
    assert (model.n_active_, two.n_active_) == (2, 2)
    assert np.sort(model.weights_)[:4].max() < 2e-3
    order = np.argsort(-model.weights_)[:2]
    np.testing.assert_allclose(model.means_[order], two.means_[np.argsort(-two.weights_)], rtol=5e-3)
    # What is empty has the prior's belief.
    empty = np.argmin(model.weights_)
    np.testing.assert_allclose(model.degrees_of_freedom_[empty], model.degrees_of_freedom_prior_, rtol=0.1)


@pytest.mark.slow
def test_the_bound_chooses_how_many(rng):
    """A bound with all its terms compares models of different size; more components than needed lose."""
    X = np.concatenate([rng.normal(m, 0.5, (60, 2)) for m in (0.0, 4.0, 8.0)])
    bounds = [
        BayesianGaussianMixture(
            k, n_init=5, random_state=0, weight_concentration_prior=1.0, **DIRICHLET
        ).fit(X).lower_bound_
        for k in range(1, 7)
    ]  # fmt: skip
    assert np.argmax(bounds) == 2


@pytest.mark.slow
def test_concentration_says_how_many_components_there_may_be(rng):
    X = rng.standard_normal((400, 2))
    active = [
        BayesianGaussianMixture(8, weight_concentration_prior=a, random_state=0, **DIRICHLET).fit(X).n_active_
        for a in (1e-3, 1e3)
    ]
    assert active[0] < active[1] == 8


@pytest.mark.parametrize("shape", some(SHAPES, 2))
def test_units_and_origin_change_nothing_but_the_density(shape, rng):
    X = clusters(rng)
    scale = np.array([1e3, 1e3]) if shape == "spherical" else np.array([1e-6, 1e9])
    near, far = (
        BayesianGaussianMixture(4, covariance_type=shape, random_state=0).fit(x)
        for x in (X, X * scale + 1e8 * scale)
    )
    np.testing.assert_allclose(far.weights_, near.weights_, atol=1e-6)
    np.testing.assert_allclose(far.means_ / scale - 1e8, near.means_, atol=1e-4)
    assert far.lower_bound_ + np.log(scale).sum() == pytest.approx(near.lower_bound_, rel=1e-6)


@pytest.mark.slow
def test_missing_entries_are_integrated_out(rng):
    X = np.concatenate([clusters(rng, n=300), np.full((2, 2), np.nan)])
    X[::5, 1] = np.nan
    model = BayesianGaussianMixture(5, random_state=0).fit(X)
    whole = BayesianGaussianMixture(5, random_state=0).fit(clusters(np.random.default_rng(1), n=300))
    assert model.n_unseen_ == 2.0
    assert model.n_active_ in (2, 3)
    np.testing.assert_allclose(model.means_[:2], whole.means_[:2], atol=0.3)
    assert np.all(np.diff(model.objective_trace_) >= -1e-9 * abs(model.lower_bound_))


def test_warm_starts_go_on(rng):
    X = clusters(rng)
    whole = quiet_fit(BayesianGaussianMixture(4, random_state=0, max_iter=20, tol=0.0), X)
    half = BayesianGaussianMixture(4, random_state=0, max_iter=10, tol=0.0, warm_start=True)
    quiet_fit(quiet_fit(half, X), X)
    np.testing.assert_allclose(half.lower_bound_, whole.lower_bound_, rtol=1e-12)
    for changed in ({"n_components": 3}, DIRICHLET, {"covariance_type": "diag"}, {"covariance_type": "tied"}):
        before = half.get_params()
        with pytest.raises(ValueError, match="warm_start"):
            half.set_params(**changed).fit(X)
        half.set_params(**before)
    with pytest.raises(ValueError, match="warm_start"):
        half.fit(X[:, :1])


def test_an_interruption_keeps_the_best_so_far(monkeypatch, rng):
    X, honest, calls = clusters(rng), BayesianGaussianProblem.expect, iter(range(100))

    def expect(self, params):
        if next(calls) == 4:
            raise KeyboardInterrupt
        return honest(self, params)

    monkeypatch.setattr(BayesianGaussianProblem, "expect", expect)
    model = BayesianGaussianMixture(4, tol=0.0, random_state=0)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert (model.n_iter_, model.converged_) == (3, False)
    assert np.all(np.isfinite(model.predictive_.log_prob(X)))


@pytest.mark.parametrize("shape", some(SHAPES))
def test_fits_condition_by_name(shape):
    frame = datasets.load("old_faithful").frame / [1.0, 12.0]  # round components need columns of one width
    model = BayesianGaussianMixture(6, covariance_type=shape, random_state=0, n_init=2).fit(frame)
    for density in (model.distribution_, model.predictive_):
        low, high = (density.condition({"eruptions": t}) for t in (1.8, 4.5))
        waiting = np.array([[55.0], [80.0]]) / 12.0
        assert np.all(np.diff(low.log_prob(waiting)) < 0)
        assert np.all(np.diff(high.log_prob(waiting)) > 0)


def test_sources_are_walked(rng, tmp_path):
    X = clusters(rng)
    np.save(tmp_path / "rows.npy", X)
    model = BayesianGaussianMixture(4, random_state=0)
    streamed = model.fit(tractable.scan(tmp_path / "rows.npy")).means_
    np.testing.assert_allclose(streamed, model.fit(X).means_, rtol=1e-9)


def test_starts_from_some_of_the_rows_count_all(rng):
    """A search begins at a sample of many rows: its posterior has the strength of all."""
    X = np.tile(clusters(rng), (300, 1))
    model = BayesianGaussianMixture(3, random_state=0)
    model.n_features_in_ = 2
    start = model._em_problem(Rows(data=X), fitted=False).initial(rng)
    assert start.strength.sum() == pytest.approx(3.0 + len(X))


@pytest.mark.parametrize("shape", SHAPES)
def test_constant_columns_and_few_distinct_points(shape, rng):
    model = BayesianGaussianMixture(3, covariance_type=shape, random_state=0)
    X = np.column_stack([rng.standard_normal(40), np.full(40, 7.0)])
    quiet_fit(model, X)
    np.testing.assert_allclose(model.means_[:, 1], 7.0)
    assert np.all(np.isfinite(model.score_samples(X)))
    assert np.isfinite(model.lower_bound_)
    model.posterior_.components.entropy()
    few = np.repeat([[0.0, 1.0], [2.0, 3.0]], 10, axis=0)
    quiet_fit(model, few)
    assert np.all(np.isfinite(model.score_samples(few)))
    for scale in (1e-100, 1e100):
        quiet_fit(model, clusters(rng) * scale)
        assert np.all(np.isfinite(model.predictive_.log_prob(clusters(rng) * scale)))
        assert np.all(np.isfinite(model.posterior_.components.location))


@pytest.mark.parametrize(
    ("parameters", "named"),
    [
        ({"n_components": 0}, "n_components"),
        ({"n_components": 99}, "n_components"),
        ({"covariance_type": "low_rank"}, "covariance_type"),
        ({"init_params": "magic"}, "init_params"),
        ({"weight_concentration_prior_type": "pitman_yor"}, "weight_concentration_prior_type"),
        ({"weight_concentration_prior": 0.0}, "weight_concentration_prior"),
        ({"mean_precision_prior": -1.0}, "mean_precision_prior"),
        ({"mean_prior": [0.0]}, "mean_prior"),
        ({"mean_prior": [0.0, np.nan]}, "mean_prior"),
        ({"degrees_of_freedom_prior": 1.0}, "degrees_of_freedom_prior"),
        ({"degrees_of_freedom_prior": 0.0, "covariance_type": "diag"}, "degrees_of_freedom_prior"),
        ({"covariance_prior": np.eye(3)}, "covariance_prior"),
        ({"covariance_prior": -np.eye(2)}, "covariance_prior"),
        ({"covariance_prior": [1.0, 0.0], "covariance_type": "diag"}, "covariance_prior"),
        ({"covariance_prior": -1.0, "covariance_type": "spherical"}, "covariance_prior"),
        ({"reg_covar": -1.0}, "reg_covar"),
        ({"tol": np.nan}, "tol"),
    ],
)
def test_bad_parameters_are_named(parameters, named, rng):
    model = BayesianGaussianMixture(**parameters)
    with pytest.raises(ValueError, match=named):
        model.fit(rng.standard_normal((20, 2)))
    assert not hasattr(model, "weights_")


def test_columns_that_repeat_others_are_refused_without_a_floor(rng):
    X = rng.standard_normal((20, 1)) @ [[1.0, 2.0]]
    with pytest.raises(ValueError, match="covariance_prior"):
        BayesianGaussianMixture(reg_covar=0.0).fit(X)


def test_weights_that_are_less_than_a_row_need_a_prior(rng):
    X, few = rng.standard_normal((20, 2)), np.full(20, 0.01)
    with pytest.raises(ValueError, match="sample_weight"):
        BayesianGaussianMixture(2).fit(X, sample_weight=few)
    model = BayesianGaussianMixture(2, covariance_prior=np.eye(2)).fit(X, sample_weight=few)
    assert model.mean_precision_.sum() == pytest.approx(2.2)
