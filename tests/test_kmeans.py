"""K-means: the courses' example step by step, and what the estimator promises."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.cluster import KMeans as Peer
from sklearn.exceptions import ConvergenceWarning

import tractable
from conftest import BACKENDS
from quick import some
from tractable import KMeans
from tractable.arrays import devices, to_numpy
from tractable.engines import kmeans as kmeans_steps
from tractable.mixture import best_partition
from tractable.primitives.kmeans import agnostic, assign, device, kmeans_plus_plus, seeding_probabilities

EIGHT = np.array([[2, 10], [2, 5], [8, 4], [5, 8], [7, 5], [6, 4], [1, 2], [4, 9]], dtype=float)
START = EIGHT[[4, 5, 7]]


def objective(X, centers, labels):
    return float(np.sum((X - centers[labels]) ** 2))


def clouds(rng, n=600, d=3, k=5, spread=4.0):
    return rng.standard_normal((n, d)) + spread * rng.standard_normal((k, d))[rng.integers(k, size=n)]


@pytest.mark.spec("W-02", "CLU-04", "CLU-05", "CLU-06", "CLU-07", "CLU-15")
@pytest.mark.filterwarnings("ignore:k-means did not converge")
def test_eight_points_step_by_step():
    """Labels, J after the assignment, centres, J after the update; the third update changes nothing."""
    steps = [
        ([3, 2, 1, 3, 1, 2, 2, 3], 55.0, [[7.5, 4.5], [3, 11 / 3], [11 / 3, 9]], 79 / 3),
        ([3, 2, 1, 3, 1, 1, 2, 3], 355 / 18, [[7, 13 / 3], [1.5, 3.5], [11 / 3, 9]], 43 / 3),
        ([3, 2, 1, 3, 1, 1, 2, 3], 43 / 3, [[7, 13 / 3], [1.5, 3.5], [11 / 3, 9]], 43 / 3),
    ]
    before = START
    for number, (named, assigned, centers, updated) in enumerate(steps, start=1):
        labels = np.array(named) - 1
        model = KMeans(3, init=START, tol=0.0, max_iter=number).fit(EIGHT)
        np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-15)
        np.testing.assert_allclose(objective(EIGHT, before, labels), assigned)
        np.testing.assert_allclose(objective(EIGHT, model.cluster_centers_, labels), updated)
        np.testing.assert_allclose(-model.objective_trace_[number - 1], assigned)
        before = model.cluster_centers_
    assert model.converged_
    assert model.n_iter_ == 3
    np.testing.assert_array_equal(model.labels_, labels)
    np.testing.assert_allclose(model.inertia_, 43 / 3)


@pytest.mark.spec("CLU-10", "W-02")
def test_46_of_56_starts_reach_the_best():
    found = [KMeans(3, init=EIGHT[[*rows]], tol=0.0).fit(EIGHT) for rows in combinations(range(8), 3)]
    reached, times = np.unique([round(model.inertia_, 4) for model in found], return_counts=True)
    assert dict(zip(reached.tolist(), times.tolist(), strict=True)) == {
        14.3333: 46,
        45.25: 1,
        45.8: 4,
        47.0833: 3,
        47.3: 1,
        56.4167: 1,
    }
    best = KMeans(3, init="random", n_init=20, random_state=0).fit(EIGHT)
    np.testing.assert_allclose(best.inertia_, best_partition(EIGHT, 3).inertia)


@pytest.mark.spec("CLU-12", "W-02", "E001-23")
def test_seeds_follow_squared_distances():
    """Given X1, the others are drawn as 25, 72, 13, 50, 52, 65 and 5 in 282: one uniform each, counted."""
    expected = [0, 25, 72, 13, 50, 52, 65, 5]
    found = seeding_probabilities(EIGHT, None, EIGHT[:1])
    np.testing.assert_allclose(found, np.array(expected) / 282, rtol=1e-15)
    levels = (np.arange(282) + 0.5) / 282
    drawn = [kmeans_plus_plus(EIGHT, None, 2, np.array([[0.0], [u]]))[1] for u in levels]
    assert np.bincount(drawn, minlength=8).tolist() == expected


@pytest.mark.spec("CLU-08")
@pytest.mark.parametrize("algorithm", ["hamerly", "lloyd"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_objective_never_rises(algorithm, weighted, rng):
    X = clouds(rng)
    w = rng.uniform(0.0, 3.0, len(X)) if weighted else None
    start = rng.uniform(-20.0, 20.0, (12, 3))  # some hold no rows
    model = KMeans(12, init=start, tol=0.0, algorithm=algorithm).fit(X, sample_weight=w)
    assert len(model.objective_trace_) == model.n_iter_ + 1
    assert np.all(np.diff(model.objective_trace_) >= 0.0)
    weights = np.ones(len(X)) if w is None else w
    J = np.sum(weights * np.sum((X - model.cluster_centers_[model.labels_]) ** 2, axis=1))
    np.testing.assert_allclose([model.inertia_, -model.objective_trace_[-1]], J, rtol=1e-12)
    for k in range(12):
        mine = model.labels_ == k
        mean = np.average(X[mine], axis=0, weights=weights[mine])
        np.testing.assert_allclose(model.cluster_centers_[k], mean, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("algorithm", ["lloyd", "elkan"])
@pytest.mark.parametrize(("n", "d", "k"), some([(300, 2, 4), (3000, 7, 20), (20_000, 16, 30)], several=True))
@pytest.mark.parametrize("weighted", [False, True])
def test_labels_are_those_of_scikit_learn(algorithm, n, d, k, weighted, rng):
    X, w = clouds(rng, n, d, k, spread=1.0), rng.uniform(0.5, 2.0, n) if weighted else None
    start = X[rng.choice(n, k, replace=False)]
    ours = KMeans(k, init=start, tol=0.0, max_iter=1000).fit(X, sample_weight=w)
    peer = Peer(k, init=start, n_init=1, tol=0.0, max_iter=1000, algorithm=algorithm).fit(X, sample_weight=w)
    np.testing.assert_array_equal(ours.labels_, peer.labels_)
    np.testing.assert_allclose(ours.cluster_centers_, peer.cluster_centers_, atol=1e-12)
    np.testing.assert_allclose(ours.inertia_, peer.inertia_, rtol=1e-12)
    assert ours.n_iter_ == peer.n_iter_


@pytest.mark.slow
@pytest.mark.parametrize("options", some([{}, {"algorithm": "lloyd"}, {"batch_size": 20_000}]))
def test_the_number_of_threads_changes_no_bit(options, monkeypatch, rng):
    X = clouds(rng, 70_000, 4, 6, spread=1.0)
    fits = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("TRACTABLE_NUM_THREADS", threads)
        fits.append(KMeans(6, random_state=3, **options).fit(X))
    for other in fits[1:]:
        np.testing.assert_array_equal(other.labels_, fits[0].labels_)
        np.testing.assert_array_equal(other.cluster_centers_, fits[0].cluster_centers_)
        assert other.inertia_ == fits[0].inertia_


@pytest.mark.parametrize("shift", [1e4, 1e8, -1e11])
def test_data_far_from_the_origin_keep_their_clusters(shift, rng):
    X = np.round(clouds(rng) * 2**10) / 2**10  # exact after the shift
    near = KMeans(5, random_state=0).fit(X)
    far = KMeans(5, random_state=0).fit(X + shift)
    np.testing.assert_array_equal(far.labels_, near.labels_)
    np.testing.assert_array_equal(far.predict(X + shift), near.predict(X))
    np.testing.assert_allclose(far.inertia_, near.inertia_, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-100, 1e100])
def test_units_do_not_matter(scale, rng):
    X = clouds(rng)
    plain, scaled = (KMeans(5, random_state=0).fit(X * s) for s in (1.0, scale))
    np.testing.assert_array_equal(scaled.labels_, plain.labels_)
    np.testing.assert_allclose(scaled.inertia_, plain.inertia_ * scale**2, rtol=1e-12)


@pytest.mark.spec("CLU-06")
def test_a_cluster_without_rows_begins_anew_at_the_farthest_row():
    X = np.array([[0.0], [1.0], [2.0], [10.0]])
    model = KMeans(2, init=[[1.0], [1e6]], tol=0.0).fit(X)
    np.testing.assert_allclose(model.cluster_centers_, [[1.0], [10.0]])
    np.testing.assert_allclose(-model.objective_trace_, [83.0, 17.1875, 2.0, 2.0])
    assert np.all(model.counts_ > 0)


def test_fewer_different_rows_than_clusters():
    X = np.repeat([[0.0, 1.0], [5.0, 2.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="only 2 of the 4"):
        model = KMeans(4, random_state=0).fit(X)
    assert model.inertia_ == 0.0
    assert np.all(np.isfinite(model.cluster_centers_))
    assert sorted(model.counts_.tolist()) == [0.0, 0.0, 10.0, 10.0]
    with pytest.warns(ConvergenceWarning, match="only 1 of the 2"):
        KMeans(2, init="random", random_state=0).fit(X, sample_weight=[1.0] * 10 + [0.0] * 10)


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"n_clusters": 9}, "n_clusters=9"),
        ({"n_clusters": 0}, "n_clusters"),
        ({"n_clusters": 2.0}, "n_clusters"),
        ({"init": "best"}, "init"),
        ({"init": None}, "init"),
        ({"init": EIGHT[:2]}, "init"),
        ({"init": START * np.nan}, "init"),
        ({"init": "k-means++", "n_init": 0}, "n_init"),
        ({"n_init": "many"}, "n_init"),
        ({"tol": -1.0}, "tol"),
        ({"max_iter": 0}, "max_iter"),
        ({"batch_size": 0}, "batch_size"),
        ({"algorithm": "quick"}, "algorithm"),
        ({"init": lambda X, k, random_state: X[:1]}, "init"),
    ],
)
def test_refusals(options, named):
    with pytest.raises(ValueError, match=named):
        KMeans(**{"n_clusters": 3, **options}).fit(EIGHT)


def test_missing_values_are_refused_in_memory_and_in_streams():
    X = EIGHT.copy()
    X[3, 1] = np.nan
    for rows in (X, [X[:4], X[4:]]):
        with pytest.raises(ValueError, match="NaN"):
            KMeans(3).fit(rows)


def test_rows_of_another_library_are_not_taken_by_a_model_of_the_host():
    import array_api_strict

    model = KMeans(3, random_state=0).fit(EIGHT)
    with pytest.raises(ValueError, match="X must be an array of NumPy"):
        model.predict(array_api_strict.asarray(np.asarray(EIGHT, dtype=float)))


@pytest.mark.parametrize("init", ["k-means++", "random", START])
def test_streams_are_fitted_exactly(init, rng):
    X = clouds(rng, 900, 2, 3)
    w = rng.uniform(0.0, 2.0, 900)
    held = KMeans(3, init=init, n_init=2, random_state=0, tol=0.0).fit(X, sample_weight=w)
    batches = [(X[a : a + 250], None, w[a : a + 250]) for a in range(0, 900, 250)]
    streamed = KMeans(3, init=init, n_init=2, random_state=0, tol=0.0).fit(batches)
    np.testing.assert_allclose(streamed.cluster_centers_, held.cluster_centers_, rtol=1e-12)
    np.testing.assert_allclose(streamed.objective_trace_, held.objective_trace_, rtol=1e-12)
    np.testing.assert_allclose(streamed.score(X, sample_weight=w), -held.inertia_, rtol=1e-12)
    assert not hasattr(streamed, "labels_")
    np.testing.assert_array_equal(streamed.predict(X), held.labels_)


def test_batches_come_close(rng):
    X = clouds(rng, 5000, 2, 4, spread=8.0)
    whole = KMeans(4, n_init=5, random_state=0).fit(X)
    few = KMeans(4, batch_size=200, random_state=0).fit(X)
    assert few.inertia_ <= 1.02 * whole.inertia_
    assert few.n_steps_ >= 25
    np.testing.assert_allclose(few.inertia_, objective(X, few.cluster_centers_, few.labels_), rtol=1e-12)
    streamed = KMeans(4, batch_size=200, random_state=0).fit([X[:2500], X[2500:]])
    assert -streamed.score(X) <= 1.02 * whole.inertia_


def test_partial_fit_is_a_running_mean(rng):
    X = clouds(rng, 400, 2, 2, spread=9.0)
    model = KMeans(2, random_state=0).partial_fit(X[:100])
    labels = [model.predict(X[:100])]
    for part in (X[100:150], X[150:]):
        labels.append(model.predict(part))
        model.partial_fit(part)
    labels = np.concatenate(labels)
    for k in range(2):
        np.testing.assert_allclose(model.cluster_centers_[k], X[labels == k].mean(axis=0), rtol=1e-10)
    np.testing.assert_array_equal(model.counts_, np.bincount(labels))
    assert model.n_steps_ == 3
    with pytest.raises(ValueError, match="n_clusters=2"):
        KMeans(2).partial_fit(X[:1])


def test_one_step_at_a_time():
    """`summarize` is the assignment and `from_statistic` the update; halves add."""
    model = KMeans(3, init=START, tol=0.0).fit(EIGHT)
    model.cluster_centers_ = START
    halves = [model.summarize(part) for part in (EIGHT[:5], EIGHT[5:])]
    stepped = model.from_statistic(halves[0] + halves[1])
    np.testing.assert_allclose(stepped.cluster_centers_, [[7.5, 4.5], [3, 11 / 3], [11 / 3, 9]])
    with pytest.raises(ValueError, match="different centres"):
        halves[0] + stepped.summarize(EIGHT)
    with pytest.raises(ValueError, match="statistic"):
        model.from_statistic(3)


def test_distances_and_their_names():
    model = KMeans(3, init=START, tol=0.0).fit(EIGHT)
    distances = model.set_output(transform="pandas").transform(EIGHT)
    assert list(distances.columns) == ["kmeans0", "kmeans1", "kmeans2"]
    np.testing.assert_array_equal(np.argmin(distances.to_numpy(), axis=1), model.labels_)
    np.testing.assert_allclose(np.sum(distances.to_numpy().min(axis=1) ** 2), -model.score(EIGHT))
    np.testing.assert_array_equal(KMeans(3, init=START).fit_predict(EIGHT), model.labels_)


def test_ctrl_c_keeps_the_best_so_far(monkeypatch, rng):
    X = clouds(rng, spread=0.0)
    calls = iter(range(4))

    def stops(self, clusters, go_on=kmeans_steps.KMeansProblem.maximize):
        if next(calls, None) is None:
            raise KeyboardInterrupt
        return go_on(self, clusters)

    monkeypatch.setattr(kmeans_steps.KMeansProblem, "maximize", stops)
    model = KMeans(5, random_state=0, tol=0.0, algorithm="lloyd")  # of few rows, bounds are one call
    with pytest.raises(KeyboardInterrupt):
        model.fit(X)
    assert model.n_iter_ == 4
    assert not model.converged_
    np.testing.assert_array_equal(model.labels_, model.predict(X))


def test_a_killed_search_goes_on_where_it_was(monkeypatch, tmp_path, rng):
    X = clouds(rng, spread=0.0)
    whole = KMeans(5, random_state=0, tol=0.0).fit(X)
    calls = iter(range(4))
    go_on = kmeans_steps.KMeansProblem.maximize

    def killed(self, clusters):
        if next(calls, None) is None:
            raise MemoryError
        return go_on(self, clusters)

    monkeypatch.setattr(kmeans_steps.KMeansProblem, "maximize", killed)
    with pytest.raises(MemoryError), tractable.checkpoint(tmp_path / "kmeans", every=0.0):
        KMeans(5, random_state=0, tol=0.0).fit(X)
    monkeypatch.setattr(kmeans_steps.KMeansProblem, "maximize", go_on)
    with tractable.checkpoint(tmp_path / "kmeans", every=0.0):
        resumed = KMeans(5, random_state=0, tol=0.0).fit(X)
    np.testing.assert_array_equal(resumed.labels_, whole.labels_)
    np.testing.assert_array_equal(resumed.objective_trace_, whole.objective_trace_)


@pytest.mark.spec("CLU-11")
def test_where_k_means_fails(rng):
    """Long, unequal and nested clusters: the true ones have a larger J than those found."""
    long = rng.standard_normal((400, 2)) * [8.0, 0.5]
    long[200:, 1] += 5.0
    unequal = np.concatenate([4.0 * rng.standard_normal((380, 2)), 0.2 * rng.standard_normal((20, 2)) + 9.0])
    angle = rng.uniform(0.0, 2 * np.pi, 400)
    radius = np.repeat([1.0, 6.0], 200) + 0.1 * rng.standard_normal(400)
    nested = radius[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    for X, size in ((long, 200), (unequal, 380), (nested, 200)):
        true = (np.arange(400) >= size).astype(int)
        found = KMeans(2, n_init=5, random_state=0).fit(X)
        means = np.stack([X[true == k].mean(axis=0) for k in range(2)])
        assert found.inertia_ < 0.95 * objective(X, means, true)
        right = np.mean(found.labels_ == true)
        assert max(right, 1.0 - right) < 0.9


def test_pictures_of_more_columns_show_two(rng):
    with pytest.raises(ValueError, match="dims"):
        tractable.plot(KMeans(2, random_state=0).fit(rng.standard_normal((20, 3))), dims=[0])


def test_pictures_know_column_names(rng):
    import pandas as pd
    from matplotlib import pyplot as plt

    frame = pd.DataFrame(rng.standard_normal((30, 3)), columns=["a", "b", "c"])
    ax = tractable.plot(KMeans(2, random_state=0).fit(frame), data=frame, dims=["c", "a"])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("c", "a")
    plt.close("all")


@pytest.mark.parametrize("away", [1e3, 1e9, 1e16])
def test_an_outlier_has_a_cluster_of_its_own(away, rng):
    X = np.concatenate([rng.standard_normal((300, 2)), [[away, away]]])
    model = KMeans(3, init=X[[0, 1, 2]], tol=0.0).fit(X)
    assert np.sum(model.labels_ == model.labels_[-1]) == 1
    np.testing.assert_allclose(model.cluster_centers_[model.labels_[-1]], away)
    assert np.all(np.diff(model.objective_trace_) >= 0.0)


def test_clusters_far_smaller_than_their_distances(rng):
    X = np.repeat(rng.standard_normal((6, 4)), 50, axis=0) + 1e-9 * rng.standard_normal((300, 4))
    model = KMeans(6, random_state=0, tol=0.0).fit(X)
    np.testing.assert_array_equal(model.counts_, 50.0)
    within = [X[k : k + 50] - X[k : k + 50].mean(axis=0) for k in range(0, 300, 50)]
    np.testing.assert_allclose(model.inertia_, np.sum(np.square(within)), rtol=1e-6)


def test_as_many_clusters_as_rows():
    model = KMeans(8, random_state=0).fit(EIGHT)
    assert model.inertia_ == 0.0
    assert sorted(model.labels_) == list(range(8))


@pytest.mark.parametrize("scale", [1e-150, 1e160])
def test_numbers_whose_squares_are_none_are_refused(scale):
    with pytest.raises(ValueError, match="squares"):
        KMeans(2).fit(EIGHT * scale)


def test_a_stream_with_too_few_rows_is_refused():
    with pytest.raises(ValueError, match="fewer than n_clusters=9"):
        KMeans(9).fit([EIGHT[:4], EIGHT[4:]])


def test_a_start_may_be_a_function():
    def first_rows(X, n_clusters, random_state):
        return X[:n_clusters]

    model = KMeans(3, init=first_rows).fit(EIGHT)
    np.testing.assert_array_equal(model.labels_, KMeans(3, init=EIGHT[:3]).fit(EIGHT).labels_)


def test_rows_that_are_as_far_away_as_numbers_may_be():
    """The nearest centre is that of the largest c·x, and its distance a number."""
    model = KMeans(2, init=[[0.0, 0.0], [5.0, 5.0]]).fit([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0], [6.0, 6.0]])
    far = np.array([[1e149, 1e149], [-1e149, 3.0], [1e148, 0.0], [6.0, 5.0], [-2e149, 1e149]])
    assert model.predict(far).tolist() == [1, 0, 1, 1, 0]
    np.testing.assert_allclose(
        model.transform(far).T, [np.hypot(*(far - c).T) for c in model.cluster_centers_]
    )
    np.testing.assert_allclose(-model.score(far), np.sum(model.transform(far).min(axis=1) ** 2))


def test_the_size_of_the_weights_does_not_matter(rng):
    X = clouds(rng)
    once = KMeans(5, random_state=0).fit(X)
    for size in (1e-140, 1e140):
        found = KMeans(5, random_state=0).fit(X, sample_weight=np.full(len(X), size))
        np.testing.assert_array_equal(found.labels_, once.labels_)
        np.testing.assert_allclose(found.inertia_, size * once.inertia_)
    source = tractable.data.as_source(X, weights=np.full(len(X), 1e-306))
    with pytest.raises(ValueError, match="sample_weight is so small"):
        KMeans(5, random_state=0).fit(source)


def test_partial_fit_goes_on_with_as_many_clusters(rng):
    model = KMeans(2, random_state=0).partial_fit(clouds(rng))
    with pytest.raises(ValueError, match="n_clusters is 3, but the model has learned 2"):
        model.set_params(n_clusters=3).partial_fit(clouds(rng))


@pytest.mark.parametrize("model", [KMeans(2), tractable.GaussianMixture(2)])
def test_weights_are_called_by_the_name_they_were_given_by(model, rng):
    X = rng.standard_normal((20, 2))
    for rows in (X, [X[:9], X[9:]], tractable.data.as_source(X)):
        with pytest.raises(ValueError, match="sample_weight"):
            model.fit(rows, sample_weight="w")


@pytest.mark.parametrize("weight", [1.0, 1e6, 1e140])
def test_the_number_of_batches_is_bounded_whatever_the_weights(rng, weight):
    X = np.concatenate([rng.normal(size=(50, 2)), 20.0 + rng.normal(size=(50, 2))])
    model = KMeans(2, batch_size=10, max_iter=5, tol=0.0, random_state=0)
    with pytest.warns(ConvergenceWarning):  # all five passes are gone through
        model.fit(X, sample_weight=np.full(100, weight))
    assert model.n_steps_ == (50 if weight == 1.0 else 500)
    np.testing.assert_allclose(np.sort(model.cluster_centers_[:, 0]), [0.0, 20.0], atol=1.0)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("away", [0.0, 2.0, 1e4])  # the last where products would lose digits
@pytest.mark.parametrize("spread", [1.0, 1e-4])
@pytest.mark.parametrize("library", [b for b in BACKENDS if b.name.startswith("torch")], ids=lambda b: b.name)
def test_many_rows_of_a_device_are_assigned_block_by_block(rng, monkeypatch, away, spread, weighted, library):
    monkeypatch.setattr(agnostic, "MOST_DOUBTED", 0)
    monkeypatch.setattr(device, "DEVICE_ROWS", 70)
    centers = rng.normal(size=(5, 3)) + away
    X = centers[rng.integers(5, size=200)] + spread * rng.normal(size=(200, 3))
    weights, shift = rng.uniform(0.5, 2.0, 200) if weighted else None, np.full(3, away)
    given = X, weights, shift, 0.5, 0.5 * (centers - shift)
    found = assign(*(library.asarray(x) if isinstance(x, np.ndarray) else x for x in given))
    squares = 0.25 * np.sum((X[:, None, :] - centers) ** 2, axis=2)
    own, w = squares.argmin(axis=1), np.ones(200) if weights is None else weights
    np.testing.assert_array_equal(to_numpy(found.labels), own)
    np.testing.assert_allclose(float(found.cost), w @ squares.min(axis=1), rtol=1e-10)
    np.testing.assert_allclose(to_numpy(found.counts), np.bincount(own, w, minlength=5))
    sums = np.stack([(w * (own == k)) @ (0.5 * (X - shift)) for k in range(5)])
    np.testing.assert_allclose(to_numpy(found.sums), sums, atol=1e-11)


TORCH = [b for b in BACKENDS if b.name.startswith("torch")]


@pytest.mark.parametrize("library", TORCH, ids=lambda b: b.name)
@pytest.mark.parametrize(("kind", "size"), [(np.float32, 1e19), (np.float32, 1e-24)])
def test_squares_of_rows_on_a_device_neither_overflow_nor_vanish(rng, monkeypatch, library, kind, size):
    monkeypatch.setattr(agnostic, "MOST_DOUBTED", 0)
    X = (clouds(rng) * size).astype(kind)
    start = X[[0, -1]].astype(float)
    with tractable.precision("single"):
        found = KMeans(2, init=start).fit(library.asarray(X))
    host = KMeans(2, init=start).fit(X)
    np.testing.assert_array_equal(to_numpy(found.labels_), host.labels_)
    np.testing.assert_allclose(to_numpy(found.cluster_centers_), host.cluster_centers_, rtol=1e-4)


@pytest.mark.parametrize("library", TORCH, ids=lambda b: b.name)
def test_weights_of_many_rows_in_single_precision_are_added_in_double(monkeypatch, library):
    monkeypatch.setattr(agnostic, "MOST_DOUBTED", 0)
    monkeypatch.setattr(device, "DEVICE_ROWS", 50)
    X, w = np.full((200, 1), 1.0, np.float32), np.ones(200)
    X[0], w[0] = -1.0, 2.0**25  # to which one is not added in single precision
    with tractable.precision("single"):
        model = KMeans(1).fit(library.asarray(X), sample_weight=library.asarray(w))
    assert to_numpy(model.counts_).tolist() == [w.sum()]


@pytest.mark.parametrize("library", TORCH, ids=lambda b: b.name)
def test_labels_stay_on_their_device_while_a_model_is_fitted_again(rng, monkeypatch, library):
    X, moved = library.asarray(clouds(rng)), []
    model = KMeans(2, random_state=0).fit(X)
    monkeypatch.setattr(devices, "to_numpy", lambda x: moved.append(len(x.shape) and len(x)) or to_numpy(x))
    model.fit(X)
    model.partial_fit(X)
    assert moved
    assert max(moved) < len(X)
    assert not hasattr(model, "labels_")
