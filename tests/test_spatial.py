"""Metrics, the choice of an index, what searches cost, and what is refused."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from tractable.spatial import (
    Brute,
    Chebyshev,
    Cosine,
    Euclidean,
    Hamming,
    KDTree,
    Mahalanobis,
    Minkowski,
    RandomizedForest,
    SpillTree,
    TSVQTree,
    as_index,
    choose_index,
    minkowski,
    neighbor_graph,
)
from tractable.spatial.index import _without
from tractable.value import replace

SPREAD = np.array([[4.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 0.5]])


@pytest.mark.spec("CLU-18")
@pytest.mark.parametrize("m", [1, 1.5, 2, 3, 10, np.inf])
def test_minkowski_is_a_distance(m, rng):
    x, y, z = rng.standard_normal((3, 50, 4))
    np.testing.assert_allclose(minkowski(x, y, m), (cdist(x, y, "minkowski", p=m)).diagonal(), rtol=1e-12)
    np.testing.assert_array_equal(minkowski(x, y, m), minkowski(y, x, m))
    assert np.all(minkowski(x, x, m) == 0.0)
    assert np.all(minkowski(x, z, m) <= (minkowski(x, y, m) + minkowski(y, z, m)) * (1 + 1e-15))
    np.testing.assert_allclose(Minkowski(m=m)(x, y).diagonal(), minkowski(x, y, m), rtol=1e-13)


@pytest.mark.spec("CLU-18")
def test_minkowski_broadcasts_and_does_not_overflow():
    assert minkowski(np.zeros(2), np.ones((3, 5, 2))).shape == (3, 5)
    np.testing.assert_allclose(minkowski([0.0, 0.0], [1e300, 1e300], 50), 1e300 * 2 ** (1 / 50))
    np.testing.assert_allclose(minkowski([0.0, 0.0], [1e-300, 0.0], 50), 1e-300)


@pytest.mark.spec("CLU-18")
@pytest.mark.parametrize("m", [0.5, 0, -1, np.nan, "two", None, True])
def test_orders_below_one_are_refused(m):
    for call in (lambda: Minkowski(m=m), lambda: minkowski([0.0], [1.0], m)):
        with pytest.raises(ValueError, match="m must be a number of at least 1"):
            call()


@pytest.mark.parametrize(
    ("metric", "name", "options"),
    [
        (Euclidean(), "euclidean", {}),
        (Minkowski(m=3), "minkowski", {"p": 3}),
        (Chebyshev(), "chebyshev", {}),
        (Cosine(), "cosine", {}),
        (Hamming(), "hamming", {}),
        (Mahalanobis(covariance=SPREAD), "mahalanobis", {"VI": np.linalg.inv(SPREAD)}),
    ],
)
def test_metrics_are_scipys(metric, name, options, rng):
    x, y = np.round(rng.standard_normal((2, 30, 3)), 1) + 0.05
    np.testing.assert_allclose(metric(x, y), cdist(x, y, name, **options), rtol=1e-10, atol=1e-14)


def test_cosines_of_near_directions_keep_their_digits():
    """1 - cos θ of an angle of 1e-7 has one digit left where it is taken from one."""
    x, y = np.array([[1.0, 0.0]]), np.array([[np.cos(1e-7), np.sin(1e-7)]])
    np.testing.assert_allclose(Cosine()(x, y), 2.0 * np.sin(0.5e-7) ** 2, rtol=1e-9)


@pytest.mark.parametrize(
    "covariance", [np.ones((2, 2)), -np.eye(2), [[1.0, 2.0], [0.0, 1.0]], np.ones((2, 3)), [[np.nan]]]
)
def test_what_is_no_covariance_is_refused(covariance):
    with pytest.raises(ValueError, match="covariance"):
        Mahalanobis(covariance=covariance)


def test_metrics_refuse_what_they_cannot_measure(rng):
    points = rng.standard_normal((9, 3))
    with pytest.raises(ValueError, match="points must have no row of zeros"):
        Brute(np.vstack([points, np.zeros(3)]), "cosine")
    with pytest.raises(ValueError, match="x must have no row of zeros"):
        Brute(points, "cosine").query(np.zeros((1, 3)))
    with pytest.raises(ValueError, match="points must have 2 columns"):
        Brute(points, Mahalanobis(covariance=np.eye(2)))
    with pytest.raises(ValueError, match=r"metric .* is not served by KDTree, .* not by hamming ones"):
        KDTree(points, "hamming")
    with pytest.raises(ValueError, match="metric must be one of euclidean"):
        Brute(points, "euklid")
    with pytest.raises(ValueError, match="leaf_size must be"):
        KDTree(points, leaf_size=0)
    with pytest.raises(ValueError, match="index must be one of auto"):
        as_index(points, index="ball_tree")
    with pytest.raises(ValueError, match="x has values so large"):
        Brute(points).query(1e200 * points)


def test_an_index_of_ones_own_serves_what_it_says(rng):
    class Mine(Brute):
        name = "mine"

    class ByStreets(Mine):
        forms = ("manhattan",)

    points = rng.standard_normal((9, 3))
    assert Mine(points, "hamming").query(points)[1].ravel().tolist() == list(range(9))
    assert ByStreets(points, Minkowski(m=1)).query(points)[1].ravel().tolist() == list(range(9))
    assert ByStreets.serves("manhattan")
    assert not ByStreets.serves(Euclidean())
    with pytest.raises(ValueError, match=r"metric .* not served by ByStreets, which searches by manhattan"):
        ByStreets(points)
    SpillTree(points, Minkowski(m=2))


@pytest.mark.parametrize("size", [1e-100, 1e100])
@pytest.mark.parametrize("index", [Brute, KDTree, SpillTree, TSVQTree, RandomizedForest])
def test_small_and_large_numbers(index, size):
    points = size * np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 0.0], [1.0, 1.0]])
    distances, indices = index(points).query(points, 2)
    assert indices.tolist() == [[0, 2], [1, 2], [2, 0], [3, 0]]
    np.testing.assert_allclose(distances, [[0.0, size]] * 4, rtol=1e-15)


def test_numbers_whose_squares_are_none():
    for index in (Brute, KDTree, SpillTree, TSVQTree, RandomizedForest):
        with pytest.raises(ValueError, match="points has values so large"):
            index([[1e160], [0.0]])
        with pytest.raises(ValueError, match="points has values so small"):
            index([[1e-160], [0.0]])
    for name in ("points", "X"):
        with pytest.raises(ValueError, match=f"{name} has values so large"):
            as_index(np.array([[1e160], [0.0]]), name=name)
    with pytest.raises(ValueError, match="points has values so large"):
        Brute([[1e149], [-1e149]], Mahalanobis(covariance=[[1e-4]]))
    with pytest.raises(ValueError, match="x has values so large"):
        Brute([[1.0], [2.0]], Mahalanobis(covariance=[[1e-4]])).query([[1e149]])


@pytest.mark.parametrize("size", [1e-200, 1e140])
def test_metrics_neither_overflow_nor_vanish(size):
    metrics = (Euclidean(), Chebyshev(), Minkowski(m=1), Minkowski(m=3), Mahalanobis(covariance=[[1.0]]))
    for metric in metrics:
        np.testing.assert_allclose(metric([[size]], [[0.0]]), [[size]], rtol=1e-14)


def test_bad_arguments_are_called_what_they_are():
    index = Brute(np.eye(3))
    for r, said in ((np.nan, "got NaN"), ("a", "must be a number"), (-1.0, "must not be negative")):
        with pytest.raises(ValueError, match=rf"r .*{said}"):
            index.query_radius(np.eye(3), r)
    with pytest.raises(ValueError, match=r"exclude must be whole numbers, .* bool"):
        index.query(np.eye(3), exclude=np.ones(3, bool))
    forest = RandomizedForest(np.eye(3), random_state=0)
    for ask, said in (
        (lambda: forest.leaves(np.eye(3), tree=9), "tree must be a whole number from 0 to 3"),
        (lambda: forest.leaves(np.eye(3), tree=-1), "tree"),
        (lambda: forest.leaf_points(999), "leaf must be a whole number from 0 to 3"),
    ):
        with pytest.raises(ValueError, match=said):
            ask()


def test_what_nobody_can_write_to_is_not_copied(rng):
    points = rng.standard_normal((9, 2))
    points.setflags(write=False)
    for same in (points, points[2:]):
        assert np.shares_memory(Brute(same).points, points)
    buffer = np.frombuffer(points.tobytes()).reshape(9, 2)
    assert np.shares_memory(Brute(buffer).points, buffer)
    shared = np.frombuffer(bytearray(points.tobytes())).reshape(9, 2)
    shared.setflags(write=False)
    assert not np.shares_memory(Brute(shared).points, shared)


def test_arrays_of_other_libraries_are_not_moved(backend):
    x = backend.asarray(np.eye(3))
    if isinstance(x, np.ndarray):
        assert Brute(x).query(x)[1].ravel().tolist() == [0, 1, 2]
        return
    with pytest.raises(ValueError, match="points must be a NumPy array"):
        Brute(x)


@pytest.mark.spec("TREE-06")
@pytest.mark.parametrize(
    ("dim", "metric", "name"),
    [
        (2, "euclidean", "kd_tree"),
        (50, "euclidean", "brute"),
        (2, "hamming", "brute"),
        (3, Mahalanobis(covariance=SPREAD), "kd_tree"),
    ],
)
def test_few_dimensions_are_given_to_a_tree(dim, metric, name, rng):
    points = rng.standard_normal((600, dim))
    assert choose_index(points, metric).name == as_index(points, metric, "auto").name == name
    assert isinstance(as_index(points, index=Brute), Brute)


@pytest.mark.spec("TREE-05", "DENS-24")
def test_a_tree_opens_logarithmically_many_nodes_where_a_scan_measures_all(rng):
    """With four times as many points the depth grows by two, and a few nodes more are opened."""
    x, opened, measured = rng.uniform(size=(200, 2)), [], []
    for n in (1024, 4096, 16384, 65536):
        index = KDTree(rng.uniform(size=(n, 2)), leaf_size=16)
        assert index.depth == np.log2(n / 16)
        *_, report = index.query(x, 1, report=True)
        opened.append(report.visited.mean())
        measured.append(report.measured.mean())
        *_, scan = Brute(index.points).query(x, 1, report=True)
        assert np.all(scan.measured == n)
    assert np.all(np.diff(opened) < 5.0)
    assert max(measured) < 16 * 5


@pytest.mark.spec("TREE-06")
def test_a_tree_suffers_in_many_dimensions(rng):
    """With 4,096 points a search in 2 dimensions opens a few nodes, in 50 nearly all."""
    share = {}
    for dim in (2, 50):
        index = KDTree(rng.standard_normal((4096, dim)))
        *_, report = index.query(rng.standard_normal((50, dim)), 10, report=True)
        share[dim] = report.visited.mean() / index.n_nodes
    assert share[2] < 0.1
    assert share[50] > 0.9


def test_cells_of_a_tree_fill_its_box(rng):
    index = KDTree(rng.uniform(size=(500, 2)), leaf_size=8)
    cells = index.cells()
    assert len(cells) == (index.n_nodes + 1) // 2
    low, high = index.points.min(axis=0), index.points.max(axis=0)
    np.testing.assert_allclose(np.prod(cells[:, 1] - cells[:, 0], axis=1).sum(), np.prod(high - low))


def test_the_graph_of_neighbours(rng):
    points = rng.standard_normal((100, 2))
    near = cdist(points, points) + np.diag(np.full(100, np.inf))
    for index in (Brute(points), KDTree(points)):
        distances, indices = neighbor_graph(index, 5)
        np.testing.assert_array_equal(indices, np.argsort(near, axis=1)[:, :5])
        np.testing.assert_allclose(distances, np.sort(near, axis=1)[:, :5])


def test_leaving_out_a_point_and_not_finding_one_are_told_apart():
    """An approximate search names what it did not find -1, and so does a row that leaves out nothing."""
    distances, indices = np.array([[0.0, 1.0, np.inf]] * 3), np.array([[4, 2, -1]] * 3)
    found = _without(distances, indices, np.array([-1, 2, 7]))
    assert found[1].tolist() == [[4, 2], [4, -1], [4, 2]]
    assert found[0].tolist() == [[0.0, 1.0], [0.0, np.inf], [0.0, 1.0]]


def test_values_are_rebuilt_with_changes(rng):
    index = KDTree(rng.standard_normal((100, 2)), leaf_size=4)
    assert replace(index, leaf_size=8).depth == index.depth - 1
    assert replace(index, metric="manhattan").metric.form == "manhattan"
    assert "leaf_size=4" in repr(index)


def test_neighbours_are_read_by_row():
    found = Brute([[0.0], [1.0], [5.0]]).query_radius([[0.0], [9.0], [1.0]], 1.0)
    assert [ids.tolist() for _, ids in found] == [[0, 1], [], [1, 0]]
    assert found[-1][0].tolist() == [0.0, 1.0]
    with pytest.raises(IndexError):
        found[3]
