"""Compiled seeds and nearest centres equal the obvious ones, whatever their blocks, weights and memory."""

import numpy as np
import pytest

from tractable import KMeans
from tractable.arrays.namespace import to_numpy
from tractable.engines.kmeans import initial_responsibilities
from tractable.primitives.compiled_options import Kernel
from tractable.primitives.kmeans import (
    assign,
    cluster_sums,
    kmeans_plus_plus,
    lloyd,
    movement_of,
    n_trials,
    reassign,
    seeding_probabilities,
)
from tractable.primitives.kmeans.agnostic import assign as obvious
from tractable.primitives.kmeans.agnostic import kmeans_plus_plus as obvious_seeds
from tractable.primitives.kmeans.agnostic import lloyd as plain_lloyd
from tractable.primitives.kmeans.compiled import seeds as compiled_seeds

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


@pytest.mark.parametrize("d", [1, 2, 16])
@pytest.mark.parametrize("step", [0.0, 0.01, 0.3, 3.0])
def test_bounds_change_nothing(d, step, rng):
    """Labels, sums and cost after moves of every size are those of a fresh look."""
    x, centers = rng.standard_normal((2000, d)), rng.standard_normal((7, d))
    labels, upper, lower = np.full(2000, -1, np.int32), np.zeros(2000, np.float32), np.zeros(2000, np.float32)
    total, before, cost = np.zeros((7, d)), centers, 0.0
    for _ in range(8):
        movement = movement_of(before, centers)
        old = labels.copy()
        sums, _, more, gain, changed = reassign(
            x, None, np.zeros(d), 1.0, centers, movement, labels, upper, lower
        )
        expected = obvious(x, None, np.zeros(d), 1.0, centers)
        np.testing.assert_array_equal(labels, expected["labels"])
        assert changed == np.sum(labels != old)
        total = total + sums
        np.testing.assert_allclose(total, expected["sums"], atol=1e-10)
        stayed = np.sum((x - centers[old]) ** 2) if old[0] >= 0 else more
        cost = stayed - gain
        np.testing.assert_allclose(cost, expected["cost"], rtol=1e-11)
        before, centers = centers, centers + step * rng.standard_normal(centers.shape)


@pytest.mark.parametrize(("columns", "n_clusters"), [(2, 8), (5, 40), (40, 7)])
@pytest.mark.parametrize("weighted", [False, True])
def test_a_search_in_one_call_is_that_of_its_steps(columns, n_clusters, weighted, rng):
    """With few centres, whose distances are all measured, and with bounds."""
    x = 3.0 * rng.standard_normal((n_clusters, columns))[rng.integers(n_clusters, size=4000)]
    x += rng.standard_normal(x.shape)
    w = rng.random(4000) if weighted else None
    given, centers = (x, w, np.full(columns, 0.3), 0.5), 0.5 * (x[:n_clusters] - 0.3)
    few = lloyd(*given, centers, max_iter=1, least=0.0)
    found, labels, costs, settled = lloyd(*given, centers, max_iter=200, least=1e-12)
    for cost in costs:
        last = assign(*given, centers)
        np.testing.assert_allclose(cost, last.cost, rtol=1e-9)
        before, centers = centers, last.sums / last.counts[:, None]
    assert settled
    np.testing.assert_allclose(found, before, rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(labels, last.labels)
    assert len(few[2]) == 2
    assert not few[3]
    start, plain_labels = 0.5 * (x[:n_clusters] - 0.3), np.empty(4000, np.int32)
    plain, plain_costs, plain_settled = plain_lloyd(*given, start, plain_labels, 200, 1e-12)
    np.testing.assert_allclose(plain, found, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(plain_costs, costs, rtol=1e-9)
    np.testing.assert_array_equal(plain_labels, labels)
    assert plain_settled


@pytest.mark.parametrize("weighted", [False, True])
def test_the_start_of_a_wide_mixture_compiles_nothing_and_is_that_of_the_kernel(weighted, rng, monkeypatch):
    x = rng.standard_normal((6, 150))[rng.integers(6, size=3000)] + 2.0 * rng.standard_normal((3000, 150))
    w = rng.integers(0, 3, 3000).astype(float) if weighted else None
    seeds = kmeans_plus_plus(x, w, 6, np.random.default_rng(1).random((6, n_trials(6))))
    np.testing.assert_array_equal(
        seeds, compiled_seeds(x, w, np.random.default_rng(1).random((6, n_trials(6))))
    )
    given = {"max_iter": 100, "least": 1e-20}
    _, labels, *_ = lloyd(x, w, np.zeros(150), 1.0, x[seeds], **given)
    _, found, *_ = lloyd(x, w, np.zeros(150), 1.0, x[seeds], **given, by_products=True)
    np.testing.assert_array_equal(found, labels)

    def called(kernel, *given):
        raise AssertionError(f"{kernel.__name__} is compiled")

    monkeypatch.setattr(Kernel, "__call__", called)
    start = initial_responsibilities("kmeans", x, w, 6, np.random.default_rng(0))
    assert set(start.sum(axis=1)) == {1.0}


def test_a_search_in_one_call_leaves_empty_clusters_to_others(rng):
    x = rng.standard_normal((4000, 3))
    centers = np.concatenate([x[:5], np.full((1, 3), 99.0)])
    assert lloyd(x, None, np.zeros(3), 1.0, centers, max_iter=9, least=0.0) is None
    assert plain_lloyd(x, None, np.zeros(3), 1.0, centers, np.empty(4000, np.int32), 9, 0.0) is None
    model = KMeans(6, init=centers).fit(x)
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
    np.testing.assert_array_equal(x[found], x[compiled_seeds(x, w, uniforms)])  # of equal rows, either


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
