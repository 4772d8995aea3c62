"""Native seeds and nearest centres equal the obvious ones, whatever their blocks, weights and memory."""

import numpy as np
import pytest
from scipy import sparse

from tractable import KMeans
from tractable.arrays.namespace import to_numpy
from tractable.primitives import native
from tractable.primitives.kmeans import (
    assign,
    cluster_sums,
    distance_sums,
    kmeans_plus_plus,
    n_trials,
    reassign,
    seeding_probabilities,
)
from tractable.primitives.kmeans.agnostic import assign as obvious
from tractable.primitives.kmeans.agnostic import kmeans_plus_plus as obvious_seeds
from tractable.primitives.kmeans.agnostic import reassign as obvious_changes

SIZES = [(1, 1, 1), (5, 1, 5), (700, 3, 8), (1500, 16, 20), (900, 2, 300), (600, 64, 64)]


def assert_same(found, expected, scale=1.0):
    np.testing.assert_array_equal(found.labels, expected["labels"])
    np.testing.assert_allclose(found.sums, expected["sums"], rtol=1e-12, atol=1e-11 * scale)
    np.testing.assert_allclose(found.counts, expected["counts"], rtol=1e-13)
    np.testing.assert_allclose(found.cost, expected["cost"], rtol=1e-12)


@pytest.mark.parametrize(("n", "d", "k"), SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_nearest_centres(n, d, k, weighted, rng):
    x, w = rng.standard_normal((n, d)), rng.uniform(0, 2, n) if weighted else None
    shift, centers = rng.standard_normal(d), rng.standard_normal((k, d))
    found = assign(x, w, shift, 0.5, centers)
    assert_same(found, obvious(x, w, shift, 0.5, centers))
    held = cluster_sums(x, w, shift, 0.5, centers, found.labels)
    np.testing.assert_allclose(held.sums, found.sums, atol=1e-11)
    np.testing.assert_allclose(held.cost, found.cost)


@pytest.mark.parametrize("closeness", [1e-4, 1e-9, 1e-12, 0.0])
def test_centres_that_single_precision_cannot_tell_apart(closeness, rng):
    x = rng.standard_normal((700, 5))
    centers = np.repeat(rng.standard_normal((4, 5)), 3, axis=0)
    centers += closeness * rng.standard_normal(centers.shape)
    assert_same(assign(x, None, np.zeros(5), 1.0, centers), obvious(x, None, np.zeros(5), 1.0, centers))


def test_rows_that_overflow_single_precision_are_measured(rng):
    x = rng.standard_normal((300, 2)) * 10.0 ** rng.uniform(-60, 60, (300, 1))
    centers = np.array([[1e50, 0.0], [-1e50, 0.0], [0.0, 1e-50]])
    expected = obvious(x, None, np.zeros(2), 1.0, centers)
    assert_same(assign(x, None, np.zeros(2), 1.0, centers), expected, scale=1e61)


#: Rows at the edges of tiles: of lanes, of those that meet the centres at once, of blocks and partial sums.
EDGES = [0, 1, 15, 16, 17, 32, 33, 255, 256, 257, 4095, 4097, 20_011]


@pytest.mark.parametrize("n", EDGES)
@pytest.mark.parametrize(("d", "k"), [(1, 1), (3, 4), (8, 20), (9, 20), (60, 5), (3, 1100)])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_every_number_of_rows(n, d, k, dtype, rng):
    x, centers = (rng.standard_normal((n, d)) + 1.0).astype(dtype), rng.standard_normal((k, d)) + 1.0
    w = rng.integers(0, 3, n).astype(float)
    assert_same(
        assign(x, w, np.zeros(d), 1.0, centers), obvious(x.astype(float), w, np.zeros(d), 1.0, centers)
    )


def new_bounds(n):
    return np.full(n, -1, np.int32), (np.zeros(n, np.float32), np.zeros(n, np.float32))


@pytest.mark.parametrize(("d", "k"), [(1, 7), (1, 70), (2, 70), (16, 7), (16, 70)])
@pytest.mark.parametrize("step", [0.0, 0.01, 0.3, 3.0])
def test_bounds_change_nothing(d, k, step, rng):
    """Labels, sums and cost after moves of every size are those of a fresh look, and of the array API."""
    x, centers = rng.standard_normal((2000, d)), rng.standard_normal((k, d))
    (labels, bounds), total, before, cost = new_bounds(2000), np.zeros((k, d)), None, 0.0
    for _ in range(8):
        old, plain = labels.copy(), labels.copy()
        found = reassign(x, None, np.zeros(d), 1.0, centers, before, labels, bounds)
        for mine, theirs in zip(
            found, obvious_changes(x, None, np.zeros(d), 1.0, centers, plain), strict=True
        ):
            np.testing.assert_allclose(mine, theirs, rtol=1e-9, atol=1e-9)
        sums, _, more, gain, changed = found
        expected = obvious(x, None, np.zeros(d), 1.0, centers)
        np.testing.assert_array_equal(labels, expected["labels"])
        assert changed == np.sum(labels != old)
        total = total + sums
        np.testing.assert_allclose(total, expected["sums"], atol=1e-10)
        stayed = np.sum((x - centers[old]) ** 2) if old[0] >= 0 else more
        cost = stayed - gain
        np.testing.assert_allclose(cost, expected["cost"], rtol=1e-11)
        before, centers = centers, centers + step * rng.standard_normal(centers.shape)


def sums_of_everything(x, w, centers, uniforms):
    """Return whatever the family sums up over rows, dense and sparse, after one move of the centres."""
    d, found = x.shape[1], []
    for rows in (x, sparse.csr_array(np.where(x > 0.5, x, 0.0))):
        (labels, bounds), before = new_bounds(len(x)), None
        for at in (centers, centers + 0.1):
            found += reassign(rows, w, np.zeros(d), 1.0, at, before, labels, bounds)
            before = at
        held = cluster_sums(rows, w, np.zeros(d), 1.0, before, labels)
        found += [labels, *bounds, held.sums, held.counts, held.cost, held.away, held.row]
    found += [distance_sums(x, np.ascontiguousarray(x[:300].T), np.ones(300), [0, 100, 300])]
    return [*found, kmeans_plus_plus(x, w, len(uniforms), uniforms)]


@pytest.mark.parametrize("n", [400, 30_001])
@pytest.mark.parametrize(("d", "k"), [(3, 5), (3, 40), (20, 11), (120, 4)])
def test_the_number_of_threads_changes_no_bit(n, d, k, rng, monkeypatch):
    x, w = rng.standard_normal((n, d)), rng.random(n)
    given = x, w, rng.standard_normal((k, d)), rng.random((k, 3))
    found = []
    for threads in ("1", "2", "4"):
        monkeypatch.setenv("TRACTABLE_NUM_THREADS", threads)
        found.append(sums_of_everything(*given))
    for other in found[1:]:
        for mine, theirs in zip(found[0], other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_nan_and_infinity_stay_where_they_are(rng):
    """Such a row goes to the first centre; the labels of the others are what they were."""
    for d in (3, 12):
        x, centers = rng.standard_normal((1000, d)), rng.standard_normal((6, d))
        want = assign(x, None, np.zeros(d), 1.0, centers).labels
        x[7, 1], x[8, 1] = np.nan, np.inf
        found = assign(x, None, np.zeros(d), 1.0, centers)
        assert found.labels[7] == found.labels[8] == 0
        assert np.isnan(found.cost)
        rest = np.delete(np.arange(1000), [7, 8])
        np.testing.assert_array_equal(found.labels[rest], want[rest])
        assert np.isfinite(found.sums[1:]).all() or not native(x)  # indicators of the array API spread them


@pytest.mark.parametrize("rows", [np.zeros((4, 2)), sparse.csr_array(np.eye(4, 2))])
@pytest.mark.parametrize("wrong", [-1, 3, 2**31 - 1])
def test_labels_of_no_centre_are_refused(rows, wrong):
    labels = np.array([0, 1, wrong, 2], np.int32)
    with pytest.raises(ValueError, match="numbers of centres"):
        cluster_sums(rows, None, np.zeros(2), 1.0, np.zeros((3, 2)), labels)


def test_a_search_is_that_of_its_steps(rng):
    x = 3.0 * rng.standard_normal((7, 40))[rng.integers(7, size=4000)] + rng.standard_normal((4000, 40))
    for w in (None, rng.random(4000)):
        model = KMeans(7, init=x[:7], tol=0.0).fit(x, sample_weight=w)
        centers = x[:7]
        for objective in model.objective_trace_:
            found = assign(x, w, np.zeros(40), 1.0, centers)
            np.testing.assert_allclose(-objective, found.cost, rtol=1e-9)
            centers = found.sums / found.counts[:, None]
        np.testing.assert_allclose(model.cluster_centers_, centers, rtol=1e-9, atol=1e-12)
        np.testing.assert_array_equal(model.labels_, found.labels)


def test_a_search_leaves_no_cluster_empty(rng):
    x = rng.standard_normal((4000, 3))
    model = KMeans(6, init=np.concatenate([x[:5], np.full((1, 3), 99.0)])).fit(x)
    assert np.all(model.counts_ > 0.0)


def test_memory_order_precision_and_protection_do_not_matter(rng):
    x, centers = rng.standard_normal((300, 3)).astype(np.float32), rng.standard_normal((4, 3))
    expected = obvious(x.astype(float), None, np.zeros(3), 1.0, centers)
    frozen = x.copy()
    frozen.setflags(write=False)
    centers.setflags(write=False)
    for same in (x, np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], frozen, x.astype(float)):
        assert_same(assign(same, None, np.zeros(3), 1.0, centers), expected)


def test_farthest_row_counts_only_where_it_has_weight():
    x, labels = np.array([[0.0], [1.0], [9.0]]), np.zeros(3, np.int32)
    w = np.array([1.0, 1.0, 0.0])
    assert cluster_sums(x, None, np.zeros(1), 1.0, np.zeros((1, 1)), labels).row == 2
    assert cluster_sums(x, w, np.zeros(1), 1.0, np.zeros((1, 1)), labels).row == 1


@pytest.mark.parametrize("weighted", [False, True])
def test_seeds_of_fewer_rows_than_candidates(weighted, rng):
    x = rng.standard_normal((200, 70)) + 50.0
    x[150:] = x[:50]
    w, uniforms = rng.integers(1, 3, 200).astype(float) if weighted else None, rng.random((60, n_trials(60)))
    found = kmeans_plus_plus(x, w, 60, uniforms)
    np.testing.assert_array_equal(x[found], x[obvious_seeds(x, w, uniforms)])  # of equal rows, either


@pytest.mark.parametrize(("n", "d", "k"), SIZES)
@pytest.mark.parametrize("weighted", [False, True])
def test_seeds(n, d, k, weighted, rng):
    x, w = rng.standard_normal((n, d)), rng.integers(1, 3, n).astype(float) if weighted else None
    uniforms = rng.random((k, n_trials(k)))
    found = kmeans_plus_plus(x, w, k, uniforms)
    np.testing.assert_array_equal(found, obvious_seeds(x, w, uniforms))
    assert len(set(found.tolist())) == min(n, k)


@pytest.mark.parametrize("columns", [2, 12])
@pytest.mark.parametrize("n", [900, 40_000])
def test_seeds_of_clusters_that_lie_apart(n, columns, rng):
    """Distances that the triangle inequality spares change no seed, on one thread or by blocks."""
    centers = 9.0 * rng.standard_normal((30, columns))
    x, w = (
        np.repeat(centers, n // 30, axis=0) + rng.standard_normal((n // 30 * 30, columns)),
        rng.random(n // 30 * 30),
    )
    uniforms = rng.random((40, 5))
    found = kmeans_plus_plus(x, w, 40, uniforms)
    np.testing.assert_array_equal(found, obvious_seeds(x, w, uniforms))


def test_seeds_of_weighted_rows_are_those_of_repeated_rows(rng):
    x, times = rng.standard_normal((50, 2)), rng.integers(0, 4, 50)
    uniforms = rng.random((6, 3))
    weighted = x[kmeans_plus_plus(x, times.astype(float), 6, uniforms)]
    repeated = np.repeat(x, times, axis=0)
    np.testing.assert_array_equal(weighted, repeated[kmeans_plus_plus(repeated, None, 6, uniforms)])


def test_seeds_repeat_where_rows_are_too_few():
    found = kmeans_plus_plus(np.ones((5, 2)), np.array([0.0, 1, 1, 0, 0]), 4, np.full((4, 2), 0.99))
    assert found.tolist() == [2, 2, 2, 2]


def test_uniforms_need_one_row_a_centre():
    with pytest.raises(ValueError, match="uniforms"):
        kmeans_plus_plus(np.ones((5, 2)), None, 3, np.zeros((2, 2)))


def test_other_array_libraries(backend, rng):
    x, centers = rng.standard_normal((40, 3)), rng.standard_normal((4, 3))
    given = [backend.asarray(a) for a in (x, rng.random(40), np.zeros(3))]
    found = assign(*given, 0.5, backend.asarray(centers))
    assert backend.owns(found.sums)
    uniforms = rng.random((3, 2))
    seeds = kmeans_plus_plus(given[0], given[1], 3, backend.asarray(uniforms))
    np.testing.assert_array_equal(to_numpy(seeds), kmeans_plus_plus(x, to_numpy(given[1]), 3, uniforms))
    assert backend.owns(seeding_probabilities(given[0], given[1], backend.asarray(centers)))
