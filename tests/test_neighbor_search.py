"""The search behind models of neighbours: which index, how rows are numbered, how often they are listed."""

import tracemalloc
from functools import partial

import numpy as np
import pytest

import tractable
from tractable.spatial import (
    Brute,
    Index,
    KDTree,
    RandomizedForest,
    SpillTree,
    TSVQTree,
    as_index,
    choose_index,
    neighbor_graph,
)

MODELS = [tractable.KNeighborsClassifier, tractable.KNeighborsRegressor, tractable.NearestNeighbors]
NAMED = {made.name: made for made in (Brute, KDTree, SpillTree, TSVQTree, RandomizedForest)}


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("name", NAMED)
def test_every_index_has_a_name_and_a_seed(rng, model, name, tmp_path):
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    first, second = (model(n_neighbors=3, index=name, random_state=7).fit(X, y) for _ in range(2))
    assert type(first.index_) is NAMED[name]
    for ours, same in zip(first.kneighbors(X), second.kneighbors(X), strict=True):
        np.testing.assert_array_equal(ours, same)
    if not first.index_.exact:
        assert first.index_.random_state == second.index_.random_state == 7
    tractable.save(first, tmp_path / "model")
    loaded = tractable.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.kneighbors(X)[1], first.kneighbors(X)[1])


@pytest.mark.parametrize("model", MODELS)
def test_an_index_may_be_configured(rng, model):
    X, y = rng.normal(size=(400, 3)), rng.integers(0, 2, 400)
    made = model(n_neighbors=3, index=partial(RandomizedForest, n_trees=8), random_state=7).fit(X, y)
    assert (made.index_.n_trees, made.index_.random_state) == (8, 7)
    own = model(n_neighbors=3, index=partial(RandomizedForest, random_state=3)).fit(X, y)
    assert own.index_.random_state == 3
    made = model(n_neighbors=3, index=lambda points, metric: KDTree(points, metric, leaf_size=5)).fit(X, y)
    assert made.index_.leaf_size == 5
    for state in (np.random.default_rng(0), np.random.RandomState(0)):
        assert model(n_neighbors=3, index="spill_tree", random_state=state).fit(X, y).index_.random_state > 0
    for bad in ("ball_tree", 3, None, dict):
        with pytest.raises(ValueError, match="index must be one of auto, brute"):
            model(n_neighbors=3, index=bad).fit(X, y)


def test_what_makes_no_index_is_refused(rng):
    X = rng.normal(size=(40, 3))
    with pytest.raises(ValueError, match="index must make an Index, got tuple"):
        as_index(X, index=lambda points, metric: (points, metric))
    with pytest.raises(ValueError, match="random_state"):
        as_index(X, index="brute", random_state=-1)


@pytest.mark.parametrize(
    ("dim", "inner", "k", "name"),
    [(16, 16, 10, "brute"), (16, 2, 10, "kd_tree"), (32, 2, 10, "kd_tree"), (7, 7, 1500, "brute")],
)
@pytest.mark.spec("TREE-06")
def test_the_index_suits_the_dimensions_the_data_fill(rng, dim, inner, k, name):
    points = rng.normal(size=(5000, inner)) @ rng.normal(size=(inner, dim))
    index = choose_index(points, k=k)
    assert index.name == name
    assert index.name == choose_index(points, k=k).name
    some = np.arange(0, 5000, 100)
    distances, indices = Brute(points).query(points[some], 10, exclude=some)
    for found, wanted in zip(index.query(points[some], 10, exclude=some), (distances, indices), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_the_number_of_neighbours_matters_for_the_choice(rng):
    X, y = rng.normal(size=(4000, 6)), rng.integers(0, 2, 4000)
    few = tractable.KNeighborsClassifier(1).fit(X, y)
    many = tractable.KNeighborsClassifier(2000).fit(X, y)
    assert (few.index_.name, many.index_.name) == ("kd_tree", "brute")


def test_one_point_is_an_index():
    assert len(choose_index(np.zeros((1, 6)))) == 1
    assert choose_index(np.zeros((9, 6))).query(np.zeros((1, 6)), 2)[1].tolist() == [[0, 1]]


@pytest.mark.parametrize(
    ("inner", "name", "built"), [(20, "brute", [513, 2500]), (2, "kd_tree", [513, 20_000])]
)
def test_a_tree_of_a_part_of_many_points_shows_that_none_pays(monkeypatch, rng, inner, name, built):
    """One of every eighth point measures more than one of all may; it is not built where one of few pays."""

    class Counted(KDTree):
        def __init__(self, points, *given):
            sizes.append(len(points))
            super().__init__(points, *given)

    sizes, points = [], rng.normal(size=(20_000, inner)) @ rng.normal(size=(inner, 20))
    monkeypatch.setattr("tractable.spatial.choose.KDTree", Counted)
    assert choose_index(points).name == name
    assert sizes == built


def test_a_tree_that_was_tried_makes_room_for_the_scan(rng):
    """Points, and either the tree's copy of them or one in single precision; never all three at once."""
    points = rng.normal(size=(12_000, 32))  # so few that a part of them cannot decide
    choose_index(points[:600])  # compiled
    tracemalloc.start()
    try:
        assert choose_index(points).name == "brute"
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 2.5 * points.nbytes


@pytest.mark.parametrize("model", MODELS)
def test_the_fast_graph_is_reached(rng, model, monkeypatch):
    X, y = rng.normal(size=(600, 5)), rng.integers(0, 2, 600)
    fitted = model(n_neighbors=4, index="randomized_forest", random_state=0).fit(X, y)
    wanted = neighbor_graph(RandomizedForest(X, random_state=0), 4)
    asked = []
    monkeypatch.setattr(Index, "query", lambda *_, **__: asked.append("query"))
    distances, indices = fitted.kneighbors()
    graph = fitted.kneighbors_graph(mode="distance")
    assert not asked
    np.testing.assert_array_equal(distances, wanted[0])
    np.testing.assert_array_equal(indices, wanted[1])
    assert graph.shape == (600, 600)
    np.testing.assert_allclose(graph.sum(), distances.sum())


@pytest.mark.parametrize("model", MODELS)
def test_rows_are_numbered_as_they_were_given(rng, model):
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    w = np.where(np.arange(30) % 3 == 0, 0.0, 1.0)
    fitted = model(n_neighbors=3).fit(X, y, sample_weight=w)
    some = np.flatnonzero(w)
    near = np.argsort(np.linalg.norm(X[:, None] - X[some], axis=-1), axis=1)
    np.testing.assert_array_equal(fitted.kneighbors(X, return_distance=False), some[near[:, :3]])
    own = np.argsort(np.linalg.norm(X[some, None] - X[some], axis=-1), axis=1)
    np.testing.assert_array_equal(fitted.kneighbors(return_distance=False), some[own[:, 1:4]])
    np.testing.assert_array_equal(fitted.row_indices_, some)
    assert fitted.kneighbors_graph(X).shape == (30, 30)


@pytest.mark.parametrize("model", MODELS)
def test_numbers_of_neighbours_that_cannot_be_had(rng, model):
    X, y = rng.normal(size=(5, 2)), [0, 1, 0, 1, 0]
    fitted = model(n_neighbors=4).fit(X, y)
    assert fitted.kneighbors()[1].shape == (5, 4)
    for asked, k in ((None, 5), (X, 6), (X, 0), (X, 1.5), (X, "loo")):
        with pytest.raises(ValueError, match="n_neighbors must be"):
            fitted.kneighbors(asked, k)


def test_a_radius_needs_no_number_of_neighbours():
    X = [[0.0], [1.0], [5.0]]
    model = tractable.NearestNeighbors(radius=1.0).fit(X)  # five neighbours are the default
    assert [found.tolist() for found in model.radius_neighbors(return_distance=False)] == [[1], [0], []]
    assert model.kneighbors([[0.2]], 3)[1].tolist() == [[0, 1, 2]]
    with pytest.raises(ValueError, match="n_neighbors must be at most the 3 rows"):
        model.kneighbors([[0.2]])
    with pytest.raises(ValueError, match="n_neighbors"):
        tractable.NearestNeighbors(n_neighbors=0).fit(X)


def test_rows_count_as_often_as_they_weigh_without_being_copied(rng):
    X = rng.normal(size=(20, 2))
    w = rng.integers(0, 4, 20)
    weighted = tractable.NearestNeighbors(n_neighbors=6, radius=0.7).fit(X, sample_weight=w)
    numbers = np.repeat(np.arange(20), w)
    repeated = tractable.NearestNeighbors(n_neighbors=6, radius=0.7).fit(X[numbers])
    for asked in (X, None):
        rows = slice(None) if asked is X else np.searchsorted(numbers, np.flatnonzero(w))
        distances, indices = repeated.kneighbors(asked)
        np.testing.assert_array_equal(weighted.kneighbors(asked)[0], distances[rows])
        np.testing.assert_array_equal(weighted.kneighbors(asked)[1], numbers[indices[rows]])
        ours, theirs = weighted.radius_neighbors(asked)[1], repeated.radius_neighbors(asked)[1][rows]
        assert [one.tolist() for one in ours] == [numbers[one].tolist() for one in theirs]
    assert weighted.n_samples_fit_ == np.sum(w > 0)


def test_rows_may_weigh_as_much_as_they_like(rng):
    X = rng.normal(size=(6, 2))
    model = tractable.NearestNeighbors(n_neighbors=3).fit(X, sample_weight=np.full(6, 1e10))
    assert model.kneighbors(X)[1].tolist() == np.repeat(np.arange(6), 3).reshape(6, 3).tolist()
    with pytest.raises(ValueError, match="sample_weight counts"):
        model.radius_neighbors(X)


@pytest.mark.parametrize("model", MODELS[:2])
def test_parameters_set_after_a_fit_are_looked_at(rng, model):
    X, y = rng.normal(size=(30, 2)), rng.integers(0, 2, 30)
    fitted = model(3).fit(X, y)
    with pytest.raises(ValueError, match="weights must be one of"):
        fitted.set_params(weights="foo").predict(X)
