"""How many neighbours: leave-one-out against leaving rows out, weights, places, approximate searches."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_moons

import tractable
from quick import some
from tractable.neighbors.leave_one_out import steps_to
from tractable.spatial import SpillTree, TSVQTree

BOTH = [tractable.KNeighborsClassifier, tractable.KNeighborsRegressor]


def inverse(distances):
    return 1.0 / distances


def left_out(make, X, y, w):
    """The slow way: a model without each row in turn, and without those that coincide with it."""
    keep = [np.any(x != X, axis=1) for x in X]
    models = [make().fit(X[some], y[some], sample_weight=w[some]) for some in keep]
    return np.array([model.predict(x[None])[0] for model, x in zip(models, X, strict=True)])


@pytest.mark.parametrize("sample_weight", ["none", "whole", "fractions"])
@pytest.mark.parametrize("weights", ["uniform", "distance", inverse])
@pytest.mark.spec("CLS-35")
def test_leave_one_out_in_one_search_is_leaving_out_each_row(rng, weights, sample_weight):
    X = np.concatenate([rng.integers(0, 4, (14, 2)), rng.normal(size=(10, 2)).round(1)])  # some coincide
    y, numbers = rng.integers(0, 3, 24), rng.normal(size=24)
    w = {"none": np.ones(24), "whole": rng.integers(1, 4, 24), "fractions": rng.uniform(0.3, 2.5, 24)}
    w = w[sample_weight]
    model = tractable.KNeighborsClassifier("loo", weights=weights).fit(X, y, sample_weight=w)
    assert len(model.loo_scores_) == np.ceil(2 * np.sqrt(w.sum()))
    for k in (1, 4, len(model.loo_scores_)):
        said = left_out(lambda k=k: tractable.KNeighborsClassifier(k, weights=weights), X, y, w)
        assert model.loo_scores_[k - 1] == pytest.approx(np.average(said == y, weights=w))
    model = tractable.KNeighborsRegressor("loo", weights=weights, max_neighbors=3)
    model.fit(X, numbers, sample_weight=w)
    for k, score in enumerate(model.loo_scores_, start=1):
        said = left_out(lambda k=k: tractable.KNeighborsRegressor(k, weights=weights), X, numbers, w)
        assert tractable.r2_score(numbers, said, sample_weight=w) == pytest.approx(score)
    assert model.n_neighbors_ == np.argmax(model.loo_scores_) + 1


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("weights", ["uniform", "distance", inverse])
def test_fractional_weights_lie_between_whole_ones(rng, model, weights):
    X, y, w = rng.normal(size=(30, 2)), rng.integers(0, 2, 30), rng.integers(1, 4, 30)
    at = X + 0.1
    whole = model(6, weights=weights).fit(X, y, sample_weight=w)
    halves = model(3, weights=weights).fit(X, y, sample_weight=0.5 * w)
    ask = "predict_proba" if hasattr(whole, "predict_proba") else "predict"
    np.testing.assert_allclose(getattr(halves, ask)(at), getattr(whole, ask)(at))
    fitted = model("loo", weights=weights, max_neighbors=4).fit(X, y, sample_weight=w)
    repeated = model("loo", weights=weights, max_neighbors=4).fit(np.repeat(X, w, axis=0), np.repeat(y, w))
    np.testing.assert_allclose(fitted.loo_scores_, repeated.loo_scores_)
    np.testing.assert_allclose(fitted.loo_curve_.standard_errors, repeated.loo_curve_.standard_errors)
    assert fitted.n_neighbors_ == repeated.n_neighbors_


@pytest.mark.parametrize("weight", [1.5, 2.0])
def test_a_row_is_not_judged_by_itself(rng, weight):
    X, y = rng.normal(size=(400, 2)), rng.integers(0, 2, 400)
    model = tractable.KNeighborsClassifier("loo").fit(X, y, sample_weight=np.full(400, weight))
    assert np.all(np.abs(model.loo_scores_ - 0.5) < 5 * np.sqrt(0.25 / 400))
    model = tractable.KNeighborsRegressor("loo").fit(X, rng.normal(size=400), np.full(400, weight))
    assert model.loo_scores_[0] < -0.5  # two independent numbers differ by twice their variance


@pytest.mark.spec("CLS-35")
def test_moons_want_neither_few_neighbours_nor_all():
    X, y = make_moons(400, noise=0.35, random_state=0)
    model = tractable.KNeighborsClassifier("loo", max_neighbors=390).fit(X, y)
    assert 5 < model.n_neighbors_ < 100
    assert model.loo_scores_[0] < model.loo_curve_.best_score - 0.03
    assert model.loo_scores_[-1] < model.loo_curve_.best_score - 0.03


@pytest.mark.parametrize("model", BOTH)
def test_weights_that_silence_all_neighbours_of_a_row_are_refused(rng, model):
    X, y = rng.normal(size=(50, 2)), rng.integers(0, 2, 50)
    with pytest.raises(ValueError, match=r"weights must be positive for a neighbour .*n_neighbors = 1"):
        model("loo", weights=lambda d: (d > d[:, :1]).astype(float)).fit(X, y)


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("weights", some(["uniform", "distance"]))
def test_rows_without_neighbours_in_an_approximate_search_are_searched_for_exactly(rng, model, weights):
    X, y = rng.normal(size=(500, 2)), rng.integers(0, 2, 500)
    X[0] = 1e4  # alone in its leaf
    fitted = model("loo", index=TSVQTree, weights=weights, random_state=0).fit(X, y)
    assert fitted.index_.query(X[:1], 1, exclude=[0])[1].tolist() == [[-1]]
    assert np.all(np.isfinite(fitted.loo_scores_))
    alone = model(3, index="tsvq_tree", weights=weights, random_state=0).fit(X, y)
    same = model(3, weights=weights).fit(X, y)
    np.testing.assert_array_equal(alone.predict(X[:1]), same.predict(X[:1]))


@pytest.mark.parametrize("weighted", [False, True])
def test_a_curve_ends_where_an_approximate_search_does(rng, weighted):
    X = rng.normal(size=(3000, 3))
    y, w = (X[:, 0] > 0).astype(int), np.full(3000, 2.0) if weighted else None
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = tractable.KNeighborsClassifier("loo", index=SpillTree, random_state=0).fit(X, y, w)
    # Leaves of at most 64 points; more is asked for than they hold.
    assert 20 < len(model.loo_scores_) < (128 if weighted else 64)
    np.testing.assert_array_equal(model.loo_curve_.n_neighbors, 1 + np.arange(len(model.loo_scores_)))
    asked = tractable.KNeighborsClassifier("loo", index=SpillTree, max_neighbors=150, random_state=0)
    with pytest.warns(UserWarning, match="max_neighbors=150 is more than spill_tree finds"):
        asked.fit(X, y, w)
    np.testing.assert_array_equal(asked.loo_scores_, model.loo_scores_)


def test_more_neighbours_than_a_leaf_has_are_searched_for_exactly(rng):
    X, y = rng.normal(size=(1000, 3)), rng.normal(size=1000)
    with pytest.warns(UserWarning, match="n_neighbors=100 is more than spill_tree finds"):
        model = tractable.KNeighborsRegressor(100, index="spill_tree", random_state=0).fit(X, y)
    exact = tractable.KNeighborsRegressor(100).fit(X, y)
    np.testing.assert_array_equal(model.predict(X[:50]), exact.predict(X[:50]))
    distances, indices = model.kneighbors(X[:50])
    short = indices[:, -1] < 0
    assert np.all(short)  # a search says what the index finds
    assert np.all(np.isinf(distances[:, -1]))


def test_many_rows_at_one_place_are_searched_for_once(rng):
    X = np.concatenate([np.zeros((3000, 2)), rng.normal(size=(100, 2))])
    y = np.concatenate([np.arange(3000) // 1500, np.ones(100, dtype=int)])
    model = tractable.KNeighborsClassifier("loo").fit(X, y)
    assert len(model.loo_scores_) == 100  # what is left beside that place
    weighted = tractable.KNeighborsClassifier("loo").fit(
        np.concatenate([np.zeros((2, 2)), X[3000:]]),
        np.concatenate([[0, 1], y[3000:]]),
        sample_weight=np.concatenate([[1500, 1500], np.ones(100)]),
    )
    np.testing.assert_allclose(weighted.loo_scores_[:20], model.loo_scores_[:20])


@pytest.mark.parametrize("model", BOTH)
@pytest.mark.parametrize("weight", [10.0, 1e9, 1e140])
def test_the_cost_does_not_grow_with_the_weights(rng, model, weight):
    """A number of neighbours in units of the weight scores as it does on rows that count once."""
    X, y = rng.normal(size=(60, 2)), rng.integers(0, 2, 60)
    heavy = model("loo").fit(X, y, sample_weight=np.full(60, weight))
    curve, once = heavy.loo_curve_, model("loo", max_neighbors=59).fit(X, y).loo_curve_
    assert len(curve.n_neighbors) <= 2048
    assert np.all(np.diff(curve.n_neighbors) > 0)
    whole = np.flatnonzero(curve.n_neighbors % weight == 0) if weight < 1e9 else np.array([], int)
    scores = once.scores[(curve.n_neighbors[whole] / weight).astype(int) - 1]
    np.testing.assert_allclose(curve.scores[whole], scores)
    nearest = curve.n_neighbors <= weight  # one row is that many neighbours
    np.testing.assert_allclose(curve.scores[nearest], once.scores[0])


def test_the_numbers_scored_are_walked_in_steps(rng):
    """Steps that leave numbers out reach the same sums."""
    counts = rng.uniform(0.2, 3.0, (5, 12))
    reached = np.zeros(5)
    numbers = np.array([1, 2, 5, 9])
    for number, step in zip(numbers, steps_to(counts, numbers), strict=False):
        for row, _, amount in step:
            reached[row] += amount
        np.testing.assert_allclose(reached, np.minimum(number, counts.sum(axis=1)))
