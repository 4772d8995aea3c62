"""Neighbours: worked examples, ties, identities, oracles, edges."""

import numpy as np
import pandas as pd
import pytest
from sklearn import neighbors as peers
from sklearn.datasets import load_iris

import tractable
from tractable.neighbors import NeighborTargets
from tractable.spatial import Mahalanobis, Minkowski, RandomizedForest, SpillTree
from tractable.testing import check_distribution

POINTS = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)
CLUSTERS = np.array([1, 3, 2, 1, 2, 2, 3, 1])  # X1, X4, X8; X3, X5, X6; X2, X7


@pytest.mark.spec("CLS-32", "CLS-33", "W-19")
def test_the_course_example_is_a_tie_that_the_nearest_of_the_smaller_label_settles():
    model = tractable.KNeighborsClassifier(3).fit(POINTS, CLUSTERS)
    distances, indices = model.kneighbors([[4.0, 6.0]])
    np.testing.assert_allclose(distances**2, [[5, 5, 8]])
    assert indices.tolist() == [[1, 3, 5]]  # X2, X4, X6: one of each class
    np.testing.assert_allclose(model.predict_proba([[4.0, 6.0]]), 1.0 / 3.0)
    assert model.predict([[4.0, 6.0]]).tolist() == [1]  # X2 (3) and X4 (1) are equally near
    whole = tractable.NearestNeighbors(n_neighbors=8).fit(POINTS).kneighbors([[4.0, 6.0]])
    squared = np.empty(8)
    squared[whole[1][0]] = whole[0][0] ** 2
    np.testing.assert_allclose(squared, [20, 5, 20, 5, 10, 8, 25, 9])


@pytest.mark.parametrize(
    ("X", "y", "at", "expected"),
    [
        ([[0.0], [1.0], [-2.0], [2.5]], ["b", "a", "a", "b"], 0.1, "b"),  # two votes each: b is nearer
        ([[1.0], [-1.0], [1.0], [-1.0]], ["b", "a", "b", "a"], 0.0, "a"),  # equally near: the smaller label
        ([[0.0], [1.0], [3.0], [2.0]], ["b", "a", "a", "b"], 0.4, "b"),
    ],
)
@pytest.mark.spec("CLS-32")
def test_ties(X, y, at, expected):
    model = tractable.KNeighborsClassifier(4).fit(X, y)
    assert model.predict([[at]]).tolist() == [expected]
    proba = model.predict_proba([[at]])
    np.testing.assert_allclose(proba, [[0.5, 0.5]], rtol=1e-15)
    assert model.classes_[proba.argmax()] == expected


@pytest.mark.parametrize("n_classes", [2, 4, 8, 9])
def test_decisions_settle_ties_as_predictions_do(n_classes):
    X = np.arange(float(n_classes))[::-1, None]
    model = tractable.KNeighborsClassifier(n_classes).fit(X, np.arange(n_classes))
    at = [[-1.0]]  # nearest to the last class
    assert model.predict(at).tolist() == [n_classes - 1]
    assert model.decide(at).tolist() == [n_classes - 1]
    assert model.predict_dist(at).mode.tolist() == [n_classes - 1]
    np.testing.assert_allclose(model.predict_proba(at), 1.0 / n_classes, rtol=1e-14)


def test_neighbours_at_equal_distance_come_in_the_order_of_rows():
    X, y = [[1.0], [-1.0], [1.0], [-1.0]], ["b", "a", "a", "a"]
    assert tractable.KNeighborsClassifier(1).fit(X, y).predict([[0.0]]).tolist() == ["b"]
    assert tractable.NearestNeighbors(n_neighbors=4).fit(X).kneighbors([[0.0]])[1].tolist() == [[0, 1, 2, 3]]


@pytest.mark.spec("CLS-34")
def test_votes_are_bayes_rule_over_class_conditional_densities(rng):
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 3, 60)
    k, at = 7, rng.normal(size=(9, 2))
    model = tractable.KNeighborsClassifier(k).fit(X, y)
    radius = model.kneighbors(at)[0][:, -1]
    volume = np.pi * radius**2
    within = np.linalg.norm(at[:, None] - X, axis=-1) <= radius[:, None] * (1 + 1e-12)
    sizes = np.bincount(y)
    counts = np.stack([(within & (y == c)).sum(1) for c in range(3)], axis=1)
    conditional = counts / (sizes * volume[:, None])  # p(x | C_i) = K_i / (N_i V)
    prior, evidence = sizes / len(X), k / (len(X) * volume)  # p(C_i) = N_i / N, p(x) = K / (N V)
    np.testing.assert_allclose(
        model.predict_proba(at), conditional * prior / evidence[:, None], rtol=1e-12, atol=1e-12
    )
    density = tractable.NearestNeighborDensity(k).fit(X)
    np.testing.assert_allclose(np.exp(density.score_samples(at)), evidence, rtol=1e-12)
    np.testing.assert_allclose((conditional * prior).sum(1), evidence, rtol=1e-12)


@pytest.mark.parametrize("weights", ["uniform", "distance", lambda d: np.exp(-d)])
@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "chebyshev", "cosine"])
def test_scikit_learn_says_the_same(rng, weights, metric):
    X, Y, at = rng.normal(size=(200, 3)), rng.normal(size=(200, 2)), rng.normal(size=(50, 3))
    y = np.array(["x", "y", "z"])[rng.integers(0, 3, 200)]
    ours = tractable.KNeighborsClassifier(6, weights=weights, metric=metric).fit(X, y)
    theirs = peers.KNeighborsClassifier(6, weights=weights, metric=metric).fit(X, y)
    np.testing.assert_allclose(ours.predict_proba(at), theirs.predict_proba(at), rtol=1e-9, atol=1e-12)
    ours = tractable.KNeighborsRegressor(6, weights=weights, metric=metric).fit(X, Y)
    theirs = peers.KNeighborsRegressor(6, weights=weights, metric=metric).fit(X, Y)
    np.testing.assert_allclose(ours.predict(at), theirs.predict(at), rtol=1e-9, atol=1e-12)
    ours = tractable.NearestNeighbors(n_neighbors=4, radius=1.0, metric=metric).fit(X)
    theirs = peers.NearestNeighbors(n_neighbors=4, radius=1.0, metric=metric).fit(X)
    for name in ("kneighbors_graph", "radius_neighbors_graph"):
        for asked in (None, at):
            found, wanted = (getattr(m, name)(asked, mode="distance").toarray() for m in (ours, theirs))
            np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-12)
    for a, b in zip(ours.radius_neighbors(at)[1], theirs.radius_neighbors(at)[1], strict=True):
        assert sorted(a) == sorted(b)


@pytest.mark.parametrize("metric", [Minkowski(m=3), Mahalanobis(covariance=[[2.0, 0.5], [0.5, 1.0]])])
def test_metrics_are_values(rng, metric):
    X, at = rng.normal(size=(50, 2)), rng.normal(size=(5, 2))
    distances, indices = tractable.NearestNeighbors(n_neighbors=50, metric=metric).fit(X).kneighbors(at)
    np.testing.assert_allclose(distances, np.take_along_axis(metric(at, X), indices, axis=1))


@pytest.mark.parametrize("index", [SpillTree, RandomizedForest])
@pytest.mark.parametrize("weighted", [False, True])
def test_approximate_searches_serve_too(rng, index, weighted):
    X, w = rng.normal(size=(2000, 4)), rng.uniform(0.5, 2.0, 2000) if weighted else None
    y = (X[:, 0] + 0.5 * rng.normal(size=2000) > 0).astype(int)
    exact = tractable.KNeighborsClassifier("loo").fit(X, y, sample_weight=w)
    model = tractable.KNeighborsClassifier("loo", index=index, random_state=0).fit(X, y, sample_weight=w)
    assert not model.index_.exact
    assert np.mean(model.predict(X) == exact.predict(X)) > 0.9
    found, wanted = model.loo_curve_, exact.loo_curve_
    assert abs(found.best_score - wanted.best_score) < 4.0 * wanted.standard_errors.max()
    assert model.loo_scores_.min() > 0.7
    found = tractable.NearestNeighbors(n_neighbors=50, index=index, random_state=0).fit(X)
    assert found.kneighbors_graph().shape == (2000, 2000)
    density = tractable.NearestNeighborDensity(10, index=index).fit(X)
    assert np.isfinite(density.score_samples(X)).all()


@pytest.mark.spec("CLS-36")
def test_fitting_keeps_rows_and_nothing_else(rng):
    X, y = rng.normal(size=(20, 2)), rng.integers(0, 2, 20)
    model = tractable.KNeighborsClassifier(2).fit(X, y)
    np.testing.assert_array_equal(model.index_.points, X)
    np.testing.assert_array_equal(model.classes_[model.codes_], y)
    assert not np.may_share_memory(model.index_.points, X)
    learned = {name for name in vars(model) if name.endswith("_")}
    assert learned == {
        *(
            "_library_",
            "index_",
            "classes_",
            "codes_",
            "sample_weight_",
            "n_neighbors_",
            "outputs_2d_",
            "n_samples_fit_",
            "n_samples_given_",
            "row_indices_",
            "n_features_in_",
        )
    }


def test_labels_may_be_words_in_a_frame():
    iris = load_iris(as_frame=True)
    words = iris.target_names[iris.target]
    frame = iris.data.assign(species=words)
    model = tractable.KNeighborsClassifier("loo").fit(iris.data, words)
    assert model.score(iris.data, words) > 0.95
    assert set(model.classes_) == {"setosa", "versicolor", "virginica"}
    assert list(model.predict(frame.drop(columns="species"))[:2]) == ["setosa", "setosa"]


@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_regression_gives_the_distribution_of_a_new_target(weights, rng):
    """The neighbours' targets, moved to the prediction, with the variance s² (1 + Σ p²) about it."""
    X, y = rng.normal(size=(50, 2)), rng.normal(size=50)
    model = tractable.KNeighborsRegressor(7, weights=weights).fit(X, y)
    at = np.concatenate([rng.normal(size=(3, 2)), X[:1]])  # the last has all its weight on one neighbour
    dist, (apart, near) = model.predict_dist(at), model.kneighbors(at)
    for i in range(len(at)):
        with np.errstate(divide="ignore"):
            p = np.ones(7) if weights == "uniform" else 1.0 / apart[i]
        p = np.isinf(p) if np.isinf(p).any() else p
        p = p / p.sum()
        s2 = np.var(y[near[i]], ddof=1)
        np.testing.assert_allclose(dist[i].mean, p @ y[near[i]], rtol=1e-12)
        np.testing.assert_allclose(dist[i].variance, s2 * (1.0 + p @ p), rtol=1e-12)
        np.testing.assert_allclose(model.predict_var(at, include_noise=False)[i], s2 * (p @ p), rtol=1e-12)
        same = tractable.Empirical(values=dist[i].values)
        levels = np.linspace(0.01, 0.99, 23)
        np.testing.assert_array_equal(dist[i].icdf(levels), same.icdf(levels))
        np.testing.assert_allclose(dist[i].cdf(y), same.cdf(y), atol=1e-15)
        np.testing.assert_allclose(dist[i].entropy(), same.entropy())
    np.testing.assert_allclose(model.predict(at, return_std=True)[1] ** 2, model.predict_var(at), rtol=1e-12)
    assert model.predict_interval(at, 0.75).shape == (4, 2)


@pytest.mark.parametrize("K", [2, 3, 7])
@pytest.mark.parametrize("weights", ["uniform", "distance"])
def test_variances_are_the_expected_squared_errors(K, weights, rng):
    """E (t - ȳ)² of a new target is the mean predicted variance, and E (ȳ - μ)² that without noise."""
    y = rng.exponential(size=(K + 1, 20_000))
    model = tractable.KNeighborsRegressor(K, weights=weights).fit(1.0 + np.arange(K)[:, None], y[:K])
    mean = model.predict([[0.0]])[0]
    for noise, truth in ((True, y[K]), (False, 1.0)):
        gap = (truth - mean) ** 2 - model.predict_var([[0.0]], include_noise=noise)[0]
        assert abs(gap.mean()) <= 4.0 * gap.std(ddof=1) / np.sqrt(gap.size)


def test_variances_count_rows_by_their_weights(rng):
    X, y, times = rng.standard_normal((30, 2)), rng.standard_normal(30), rng.integers(0, 4, 30)
    weighted = tractable.KNeighborsRegressor(9, weights="distance").fit(X, y, times)
    repeated = tractable.KNeighborsRegressor(9, weights="distance").fit(
        np.repeat(X, times, axis=0), np.repeat(y, times)
    )
    at = rng.standard_normal((5, 2))
    for noise in (True, False):
        found, same = (m.predict_var(at, include_noise=noise) for m in (weighted, repeated))
        np.testing.assert_allclose(found, same, rtol=1e-12)


def test_several_targets(rng):
    X, Y = rng.normal(size=(50, 2)), rng.normal(size=(50, 3))
    both = tractable.KNeighborsRegressor("loo").fit(X, Y)
    assert both.predict(X).shape == (50, 3)
    assert both.predict_interval(X, 0.5).shape == (50, 3, 2)
    each = tractable.KNeighborsRegressor(both.n_neighbors_).fit(X, Y[:, 1])
    for noise in (True, False):
        options = {"alpha": [0.3, 0.5, 0.8], "include_noise": noise}
        found = both.predict_quantiles(X, **options)[:, 1]
        np.testing.assert_allclose(found, each.predict_quantiles(X, **options), rtol=1e-12)
    np.testing.assert_allclose(
        both.predict_var(X, include_noise=False)[:, 1], each.predict_var(X, include_noise=False)
    )


def test_targets_of_neighbours_are_a_distribution():
    check_distribution(NeighborTargets(values=[[1.0, 2.0, 2.0], [5.0, 5.5, 8.0]], weights=[1.0, 2.0, 0.5]))
    with pytest.raises(ValueError, match="weights"):
        NeighborTargets(values=[1.0, 2.0], weights=[0.0, 0.0])
    with pytest.raises(ValueError, match="weights"):
        NeighborTargets(values=[1.0, 2.0], weights=[1.0, 1.0, 1.0])


def test_targets_of_any_size(rng):
    X, y = rng.normal(size=(40, 2)), rng.normal(size=40)
    plain = tractable.KNeighborsRegressor("loo").fit(X, y)
    for unit in (1e-100, 1e100):
        scaled = tractable.KNeighborsRegressor("loo").fit(X, y * unit)
        np.testing.assert_allclose(scaled.loo_scores_, plain.loo_scores_)
        np.testing.assert_allclose(scaled.predict(X) / unit, plain.predict(X))
    constant = tractable.KNeighborsRegressor("loo").fit(X, np.full(40, 7.0))
    assert np.all(constant.loo_scores_ == 1.0)


BAD = np.array([[np.nan, 1.0]])


@pytest.mark.parametrize("model", [tractable.KNeighborsClassifier, tractable.KNeighborsRegressor])
@pytest.mark.parametrize(
    ("options", "fit", "named"),
    [
        ({"n_neighbors": 9}, {}, "n_neighbors.*X.*n_samples = 8"),
        ({"n_neighbors": 0}, {}, "n_neighbors"),
        ({"n_neighbors": "cv"}, {}, "n_neighbors"),
        ({"n_neighbors": 2.5}, {}, "n_neighbors"),
        ({"n_neighbors": "loo", "max_neighbors": 8}, {}, "max_neighbors must be at most 7.*left out"),
        ({"n_neighbors": 3, "max_neighbors": "junk"}, {}, "max_neighbors"),
        ({"n_neighbors": "loo"}, {"X": np.ones((8, 2))}, "n_neighbors.*X.*n_samples = 8"),
        ({"n_neighbors": "loo"}, {"sample_weight": np.full(8, 0.125)}, "n_neighbors.*total weight = 1"),
        ({"random_state": "dice"}, {}, "random_state"),
        ({"n_neighbors": "loo", "max_neighbors": 0}, {}, "max_neighbors"),
        ({"weights": "near"}, {}, "weights"),
        ({"metric": "taxi"}, {}, "metric"),
        ({"index": "tree"}, {}, "index"),
        ({}, {"y": None}, "y"),
        ({}, {"y": np.full(8, np.nan)}, "y"),
        ({}, {"y": np.arange(7)}, "y"),
        ({}, {"X": np.concatenate([POINTS[:7], BAD])}, "X"),
        ({}, {"sample_weight": np.full(8, 0.5)}, "n_neighbors.*total weight of the rows = 4"),
    ],
)
def test_bad_input_is_one_clear_error(model, options, fit, named):
    given = {"X": POINTS, "y": np.arange(8) % 2, **fit}
    with pytest.raises(ValueError, match=named):
        model(**options).fit(**given)


@pytest.mark.parametrize("model", [tractable.KNeighborsClassifier, tractable.KNeighborsRegressor])
def test_bad_questions_are_one_clear_error(model):
    fitted = model(3).fit(POINTS, np.arange(8) % 2)
    for bad in (POINTS[:0], POINTS[:, :1], BAD):
        with pytest.raises(ValueError, match="X"):
            fitted.predict(bad)
    with pytest.raises(ValueError, match="n_neighbors"):
        fitted.kneighbors(POINTS, 9)
    for returns in (lambda d: -d - 1.0, lambda d: d[:, 0], lambda d: 0.0 * d):
        with pytest.raises(ValueError, match="weights must return"):
            model(3, weights=returns).fit(POINTS, np.arange(8) % 2).predict(POINTS + 0.5)


def test_one_class_is_certain_and_duplicates_vote_as_often_as_they_are():
    X = np.array([[0.0, 0.0]] * 4 + [[1.0, 0.0]])
    assert tractable.KNeighborsClassifier(5).fit(X, ["a"] * 5).predict_proba(X).tolist() == [[1.0]] * 5
    model = tractable.KNeighborsClassifier(3, weights="distance").fit(X, [0, 0, 1, 0, 1])
    np.testing.assert_allclose(model.predict_proba([[0.0, 0.0]]), [[2 / 3, 1 / 3]])
    constant = tractable.KNeighborsClassifier(1).fit(np.column_stack([X, np.full(5, 3.0)]), range(5))
    assert constant.predict([[0.9, 0.0, 3.0]]).tolist() == [4]


@pytest.mark.parametrize(
    "y",
    [
        ["a"] * 7 + [None],
        np.array(["a"] * 7 + [np.nan], dtype=object),
        ["a"] * 7 + [1.5, 2.0],
        np.array([1, "a"] * 4, dtype=object),
        np.linspace(0.1, 1.7, 8),
        np.zeros((8, 2, 2)),
        np.full((8, 2), 0.5),
        np.array([[1, None], *[[1, 2]] * 7], dtype=object),
    ],
)
def test_labels_that_are_none(y):
    with pytest.raises(ValueError, match="y "):
        tractable.KNeighborsClassifier(3).fit(POINTS, y)


def test_rows_that_do_not_count_are_no_neighbours():
    model = tractable.NearestNeighbors(n_neighbors=3).fit(POINTS, sample_weight=[0, 2, 1, 1, 1, 1, 1, 1])
    assert model.kneighbors([[2.0, 5.0]])[1].tolist() == [[1, 1, 6]]
    assert model.kneighbors_graph([[2.0, 5.0]]).shape == (1, 8)
    assert model.kneighbors(n_neighbors=1)[1][:2].tolist() == [[1], [4]]  # a copy is a neighbour
    assert model.kneighbors_graph(n_neighbors=1).shape == (7, 8)
    with pytest.raises(ValueError, match="whole"):
        tractable.NearestNeighbors(n_neighbors=3).fit(POINTS, sample_weight=np.full(8, 1.5))
    with pytest.raises(ValueError, match="n_neighbors"):
        model.kneighbors(n_neighbors=8)


def test_column_names_of_targets_and_weights():
    frame = pd.DataFrame({"a": POINTS[:, 0], "b": POINTS[:, 1], "kind": CLUSTERS, "n": np.arange(8) % 3})
    model = tractable.KNeighborsClassifier(3).fit(frame, y="kind", sample_weight="n")
    same = tractable.KNeighborsClassifier(3).fit(frame[["a", "b"]], CLUSTERS, sample_weight=np.arange(8) % 3)
    assert list(model.feature_names_in_) == ["a", "b"]
    at = frame[["a", "b"]] + 0.25
    np.testing.assert_array_equal(model.predict_proba(at), same.predict_proba(at))


def test_pictures_are_of_two_columns_at_most(rng):
    model = tractable.KNeighborsClassifier(1).fit(rng.normal(size=(9, 3)), np.arange(9) % 2)
    with pytest.raises(ValueError, match="dims must name one or two columns"):
        tractable.plot(model, dims=[0, 1, 2])
