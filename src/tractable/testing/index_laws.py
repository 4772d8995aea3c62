"""Laws of neighbour indexes: what is found is right, sorted, and the same however the search is called.

A law is given a maker of indexes, a class or a partial of one: ``law(Brute, rng)`` makes ``Brute(points)``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator
from tractable.spatial import Brute, Index, Precomputed, neighbor_graph, recall
from tractable.testing.assertions import laws_above, refused
from tractable.value import parameters, replace

Maker = Callable[[Any], Any]


def _drawn(make: Maker, rng: np.random.Generator, n: int, m: int = 0) -> tuple[Any, np.ndarray, np.ndarray]:
    """Return an index of n random points, the points, and m random rows to search for."""
    points = rng.standard_normal((n, 3))
    return make(points), points, rng.standard_normal((m, 3))


def distances_are_those_of_the_points(make: Maker, rng: np.random.Generator) -> None:
    """Each distance is the metric's between the row and the point named; sorted, without repetition."""
    index, points, x = _drawn(make, rng, 200, 20)
    distances, indices = index.query(x, 7)
    assert distances.shape == indices.shape == (20, 7), "there is no answer for each row and neighbour"
    every = index.metric(x, points)
    for row, (near, ids) in enumerate(zip(distances, indices, strict=True)):
        found = ids >= 0
        np.testing.assert_allclose(near[found], every[row, ids[found]], rtol=1e-12, atol=1e-14)
        assert np.all(np.isinf(near[~found])), "what was not found has a distance"
        assert len(set(ids[found])) == found.sum(), "a point was found twice"
        assert np.all(near[:-1] <= near[1:]), "distances are not sorted"


def ties_go_to_the_smaller_index(make: Maker, rng: np.random.Generator) -> None:
    """Of points at one distance the smaller index comes first."""
    points, x = lattice(rng, 150), lattice(rng, 20)
    index = make(points)
    for near, ids in [*zip(*index.query(x, 9), strict=True), *index.query_radius(x, 1.0)]:
        found = ids >= 0
        tied = near[found][:-1] == near[found][1:]
        assert np.all(ids[found][:-1][tied] < ids[found][1:][tied]), "a tie went to the larger index"


def rows_are_searched_alone(make: Maker, rng: np.random.Generator) -> None:
    """Neither the other rows nor the number of threads change a bit of an answer."""
    index, _, x = _drawn(make, rng, 300, 700)
    whole, reach = index.query(x, 4, n_threads=1), index.query_radius(x, 0.5, n_threads=1)
    for n_threads in (2, 3):
        assert_identical(index.query(x, 4, n_threads=n_threads), whole)
        again = index.query_radius(x, 0.5, n_threads=n_threads)
        assert_identical(
            (again.indptr, again.indices, again.distances), (reach.indptr, reach.indices, reach.distances)
        )
    for row in (0, 255, 256, 384, 699):
        assert_identical(index.query(x[row : row + 1], 4), tuple(a[row : row + 1] for a in whole))
        assert_identical(index.query_radius(x[row : row + 1], 0.5)[0], reach[row])


def an_empty_query_has_an_empty_result(make: Maker, rng: np.random.Generator) -> None:
    """No rows, no neighbours: of the right shape."""
    index = make(rng.standard_normal((30, 3)))
    distances, indices, report = index.query(np.empty((0, 3)), 5, report=True)
    assert distances.shape == indices.shape == (0, 5)
    assert report.visited.shape == (0,)
    found = index.query_radius(np.empty((0, 3)), 1.0)
    assert len(found) == len(found.indices) == 0
    assert found.indptr.tolist() == [0]


def an_index_is_a_value(make: Maker, rng: np.random.Generator) -> None:
    """Later changes of the given array, and searches, change nothing; its parameters rebuild it."""
    points, x = rng.standard_normal((60, 3)), rng.standard_normal((10, 3))
    given = points.copy()
    index = make(given)
    before = index.query(x, 4)
    given[...] = 0.0
    assert_identical(index.query(x, 4), before)
    np.testing.assert_array_equal(index.points, points)
    assert not index.points.flags.writeable, "the points can be changed"
    frozen = (base := points.copy()).view()
    frozen.setflags(write=False)
    index = make(frozen)
    base[...] = 0.0
    assert_identical(index.query(x, 4), before)
    assert_identical(type(index)(**parameters(index)).query(x, 4), before)


def a_point_left_out_is_not_found(make: Maker, rng: np.random.Generator) -> None:
    """A point is not its own neighbour in a graph; its duplicate is."""
    points = np.repeat(rng.standard_normal((40, 3)), 2, axis=0)
    index = make(points)
    own = np.arange(80)[:, None]
    distances, indices = neighbor_graph(index, 3)
    assert not np.any(indices == own), "a point is its own neighbour"
    assert np.all(distances[:, 0] <= 1e-12), "a duplicate was lost with the point itself"
    near = index.query_radius(points, 0.1, exclude=own[:, 0])
    assert not np.any(near.indices == np.repeat(own, near.counts)), "a point is within its own radius"
    assert_identical(index.query(points, 3, exclude=np.full(80, -1)), index.query(points, 3))


def radii_hold_what_they_should(make: Maker, rng: np.random.Generator) -> None:
    """Nothing beyond the radius is found; what is found is measured and sorted; radii may differ by row."""
    index, points, x = _drawn(make, rng, 200, 20)
    every = index.metric(x, points)
    radii = np.quantile(every, 0.1, axis=1)
    found = index.query_radius(x, radii)
    assert len(found) == 20
    for row, (near, ids) in enumerate(found):
        assert np.all(near <= radii[row]), "a point beyond the radius was found"
        assert np.all(near[:-1] <= near[1:]), "distances are not sorted"
        np.testing.assert_allclose(near, every[row, ids], rtol=1e-12, atol=1e-14)


def every_kind_of_array_is_taken(make: Maker, rng: np.random.Generator) -> None:
    """Single precision, integers, read-only, strided arrays and lists of the same numbers give the same."""
    points, x = lattice(rng, 90), lattice(rng, 9)
    before = make(points).query(x, 5)
    frozen = points.copy()
    frozen.setflags(write=False)
    strided = np.zeros((90, 6))
    strided[:, ::2] = points
    alike = (points.astype(np.float32), points.astype(int), np.asfortranarray(points), points.tolist())
    for same in (*alike, frozen, strided[:, ::2]):
        assert_identical(make(same).query(x, 5), before)
    for same in (x.astype(np.float32), x.astype(int), np.asfortranarray(x), x.tolist()):
        assert_identical(make(points).query(same, 5), before)


def what_a_search_costs_is_counted(make: Maker, rng: np.random.Generator) -> None:
    """A report counts at least one node and k points for each row, no more than there are; and bytes."""
    index, _, x = _drawn(make, rng, 500, 9)
    *found, report = index.query(x, 4, report=True)
    assert_identical(tuple(found), index.query(x, 4))
    assert report.n_nodes == index.n_nodes >= 1
    assert report.memory == index.memory >= 0
    assert np.all((report.visited >= 1) & (report.visited <= report.n_nodes)), "nodes are miscounted"
    assert np.all(report.measured >= np.sum(found[1] >= 0, axis=1)), "points found were not measured"
    near, report = index.query_radius(x, 0.5, report=True)
    assert np.all(report.measured >= near.counts), "points found were not measured"


def given_distances_have_the_same_neighbours(make: Maker, rng: np.random.Generator) -> None:
    """Brute force through the distances of the metric finds what the index finds, or what is as near."""
    index, points, x = _drawn(make, rng, 200, 20)
    given = Brute(index.metric(points, points), Precomputed())
    distances, indices = index.query(x, 7)
    near, _ = given.query(index.metric(x, points), 7)
    tied = np.where(indices >= 0, distances, np.inf)
    assert np.all(near <= tied * (1.0 + 1e-9) + 1e-12), "given distances have farther neighbours"
    if index.exact:
        np.testing.assert_allclose(distances, near, rtol=1e-9, atol=1e-12)


def candidates_are_what_is_measured(make: Maker, rng: np.random.Generator) -> None:
    """The points that a search measures are as many as it reports, and what it finds is among them."""
    index, _, x = _drawn(make, rng, 500, 9)
    for k in (1, 6):
        _, indices, report = index.query(x, k, report=True)
        for row, found, measured in zip(x, indices, report.measured, strict=True):
            seen = index.candidates(row, k)
            assert np.all(np.diff(seen) > 0), "candidates are not in order"
            assert len(seen) == measured, f"{len(seen)} candidates, {measured} measured"
            assert np.all(np.isin(found[found >= 0], seen)), "what was found was no candidate"
    refused(lambda: index.candidates(x, 1), "row")
    refused(lambda: index.candidates(x[0], 0), "k")


def recall_is_a_fraction(make: Maker, rng: np.random.Generator) -> None:
    """From 0 to 1, and 1 for an exact index."""
    index, points, _ = _drawn(make, rng, 300)
    share = recall(index, points[:50], 5)
    assert 0.0 <= share <= 1.0
    assert share == 1.0 or not index.exact, "an exact index missed a neighbour"


def bad_input_is_refused_in_words(make: Maker, rng: np.random.Generator) -> None:
    """One ValueError that names the argument."""
    index, points, _ = _drawn(make, rng, 30)
    hole = np.where(np.eye(3) > 0, np.nan, 1.0)
    holes = () if index.metric.missing else (hole,)
    for bad in (*holes, points[0], points[:0], points + np.inf, [["a", "b", "c"]], np.ones((2, 3)) * 1j):
        refused(lambda bad=bad: make(bad), "points")  # type: ignore[misc]
    for bad in (*holes, points[0], np.ones((2, 4)), [["a", "b", "c"]]):
        refused(lambda bad=bad: index.query(bad, 2), "x")  # type: ignore[misc]
        refused(lambda bad=bad: index.query_radius(bad, 1.0), "x")  # type: ignore[misc]
    for bad in (0, -1, 31, 2.5, True, "two"):
        refused(lambda bad=bad: index.query(points, bad), "k")  # type: ignore[misc]
    refused(lambda: index.query(points, 30, exclude=np.arange(30)), "k")
    for bad in (-1.0, np.nan, "far", np.ones(7), None, True, [[1.0], []]):
        refused(lambda bad=bad: index.query_radius(points, bad), "r")  # type: ignore[misc]
    for bad in (0, -1, "a", 1.5, True):
        refused(lambda bad=bad: index.query(points[:1], n_threads=bad), "n_threads")  # type: ignore[misc]
        refused(lambda bad=bad: index.graph(1, n_threads=bad), "n_threads")  # type: ignore[misc]
    every = np.arange(30)
    for bad in (every[:29], every + 1, every - 2, np.ones(30), np.ones(30, bool), [[1], []]):
        refused(lambda bad=bad: index.query(points, 2, exclude=bad), "exclude")  # type: ignore[misc]


INDEX_LAWS = laws_above(globals())


def lattice(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return rows of small whole numbers, none of them zeros: many distances are equal, and exact."""
    return rng.integers(-2, 4, (n, 3)) * 1.0 + 10.0


def assert_identical(found: Any, expected: Any) -> None:
    """Raise AssertionError unless two answers are equal to the bit."""
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def assert_equals_brute(index: Any, points: np.ndarray, x: np.ndarray, k: int) -> None:
    """Raise AssertionError unless an index finds the neighbours and distances of brute force.

    To the bit, except for powers of any order: NumPy's power of an array and the C library's power of a
    number may round the last digit apart.
    """
    (distances, indices), (expected, same) = index.query(x, k), Brute(points, index.metric).query(x, k)
    powers = getattr(index.metric, "form", "") == "minkowski"
    np.testing.assert_array_equal(indices, same)
    np.testing.assert_allclose(distances, expected, rtol=4 * np.finfo(float).eps if powers else 0.0, atol=0.0)


def nothing_nearer_is_missed(make: Maker, rng: np.random.Generator) -> None:
    """Distances are the smallest there are, and equal those of brute force to the bit, ties included."""
    draws = (rng.standard_normal((400, 3)), rng.standard_normal((30, 3)))
    for points, x in (draws, (lattice(rng, 400), lattice(rng, 30))):
        index = make(points)
        for k in (1, 2, 10, 399):
            _is_right(index, x, k)
            assert_equals_brute(index, points, x, k)


def nothing_within_is_missed(make: Maker, rng: np.random.Generator) -> None:
    """All points within the radius are found, those at the radius too; none at radius zero but duplicates."""
    points, x = lattice(rng, 300), lattice(rng, 20)
    index = make(points)
    exact, _ = index.query(x, 300)
    for radii in (exact[:, 0], exact[:, 150], np.full(20, np.inf), np.zeros(20)):
        found = index.query_radius(x, radii)
        np.testing.assert_array_equal(found.counts, np.sum(exact <= radii[:, None], axis=1))
    themselves = index.query_radius(points, 0.0)
    assert np.all(np.isin(np.arange(300), themselves.indices)), "a point is not within zero of itself"


def all_points_can_be_asked_for(make: Maker, rng: np.random.Generator) -> None:
    """K = n gives every point once; so does one point alone."""
    points, x = rng.standard_normal((50, 3)), rng.standard_normal((5, 3))
    _, indices = make(points).query(x, 50)
    np.testing.assert_array_equal(np.sort(indices, axis=1), np.tile(np.arange(50), (5, 1)))
    distances, indices = make(points[:1]).query(x, 1)
    assert np.all(indices == 0)
    np.testing.assert_allclose(distances, make(points[:1]).metric(x, points[:1]), rtol=1e-12)


def points_that_coincide_are_all_found(make: Maker, rng: np.random.Generator) -> None:
    """Hundreds of copies of a point are neighbours at no distance, by index."""
    points = np.repeat(rng.standard_normal((2, 3)), 300, axis=0)
    distances, indices = make(points).query(points[[0, 300]], 120)
    assert np.all(distances <= 1e-12)
    np.testing.assert_array_equal(indices, [np.arange(120), np.arange(300, 420)])


def another_order_of_points_is_another_name(make: Maker, rng: np.random.Generator) -> None:
    """Points in another order are found under their new indices, at the same distances."""
    points, x = rng.standard_normal((200, 3)), rng.standard_normal((20, 3))
    order = rng.permutation(200)
    index = make(points)
    distances, indices = index.query(x, 6)
    moved, renamed = make(points[order]).query(x, 6)
    np.testing.assert_allclose(moved, distances, rtol=1e-12, atol=1e-15)
    apart = np.diff(index.query(x, 7)[0], axis=1) > 1e-9
    np.testing.assert_array_equal(order[renamed][apart], indices[apart])


def scale_does_not_matter(make: Maker, rng: np.random.Generator) -> None:
    """Points and rows 1e100 or 1e-100 times as large are found as well."""
    points, x = rng.standard_normal((200, 3)), rng.standard_normal((20, 3))
    for scale in (1e100, 1e-100):
        _is_right(make(points * scale), x * scale, 6)
    _, indices = make(points).query(x, 6)
    for scale in (2.0**400, 2.0**-400):
        np.testing.assert_array_equal(make(points * scale).query(x * scale, 6)[1], indices)


def location_does_not_matter(make: Maker, rng: np.random.Generator) -> None:
    """Far from the origin, and for rows far outside, neighbours keep their digits."""
    points, x = rng.standard_normal((200, 3)), rng.standard_normal((20, 3))
    for shift in (1e8, -1e8):
        _is_right(make(points + shift), x + shift, 6)
    _is_right(make(points), 1e6 * x, 6)
    _is_right(make(np.vstack([points, 1e9 * points[:1]])), x, 6)


EXACT_INDEX_LAWS = laws_above(globals())


def _is_right(index: Index, x: np.ndarray, k: int) -> None:
    """Compare with the metric's distances from all points."""
    distances, indices = index.query(x, k)
    every = index.metric(x, index.points)
    unit = float(np.median(every)) or 1.0  # squares of what is compared are numbers
    kth = np.sort(every, axis=1)[:, :k]
    np.testing.assert_allclose(distances / unit, kth / unit, rtol=1e-9, atol=1e-14)
    named = np.take_along_axis(every, indices, axis=1)
    np.testing.assert_allclose(named / unit, kth / unit, rtol=1e-9, atol=1e-14)


def points_find_themselves(make: Maker, rng: np.random.Generator) -> None:
    """A row that is a point descends to a leaf that holds it, coincide as they may, and wherever they lie."""
    plain = rng.standard_normal((300, 3))
    for points in (plain, np.repeat(plain[:100], 3, axis=0), plain + 1e7, np.round(plain) + 9.0):
        distances, _ = make(points).query(points, 1)
        assert np.all(distances <= 1e-7), "a point is not its own nearest"


def one_leaf_is_exact(make: Maker, rng: np.random.Generator) -> None:
    """A tree whose leaves may hold every point is a list of them."""
    points, x = rng.standard_normal((200, 3)), rng.standard_normal((20, 3))
    index = replace(make(points), leaf_size=200)
    exact = Brute(points, index.metric)
    assert_identical(index.query(x, 200), exact.query(x, 200))
    found, every = index.query_radius(x, 0.5), exact.query_radius(x, 0.5)
    assert_identical((found.indptr, found.indices), (every.indptr, every.indices))
    assert_identical(neighbor_graph(index, 6), neighbor_graph(exact, 6))


def neighbours_along_a_curve_are_found(make: Maker, rng: np.random.Generator) -> None:
    """Of points on a curve most neighbours are found, though few points are looked at."""
    turn = np.sort(rng.uniform(0.5, 9.0, 2000))
    points = np.stack([np.cos(turn), np.sin(turn), 0.3 * turn], axis=1)
    index = make(points)
    share = recall(index, points, 3)
    assert share > 0.75, f"of neighbours along a curve {share:.0%} are found"
    *_, report = index.query(points, 3, report=True)
    assert report.measured.mean() < 500, "nearly all points are looked at"


def graphs_are_those_of_the_points(make: Maker, rng: np.random.Generator) -> None:
    """Distances of a graph are the metric's, sorted; it finds no less than searches of the points do."""
    index, points, _ = _drawn(make, rng, 400)
    answer: Any = neighbor_graph(index, 5, report=True)
    distances, indices, report = answer
    every = index.metric(points, points)
    found = indices >= 0
    rows = np.nonzero(found)[0]
    np.testing.assert_allclose(distances[found], every[rows, indices[found]], rtol=1e-12, atol=1e-14)
    assert np.all(np.isinf(distances[~found])), "what was not found has a distance"
    assert np.all(distances[:, :-1] <= distances[:, 1:]), "distances are not sorted"
    assert np.all(report.measured >= found.sum(axis=1)), "points found were not measured"
    searched, _ = index.query(points, 5, exclude=np.arange(400))
    true, _ = neighbor_graph(Brute(points, index.metric), 5)
    hits = [np.mean(near <= true[:, -1:]) for near in (distances, searched)]
    assert recall(index, None, 5) == hits[0], "the recall of a graph is not that of its neighbours"
    assert hits[0] >= hits[1], f"a graph finds {hits[0]:.0%}, searches {hits[1]:.0%}"


def graphs_name_other_points(make: Maker, rng: np.random.Generator) -> None:
    """Neighbours in a graph are points, others, each once; also of more than a leaf holds."""
    for n in (64, 256, 300):
        index = make(rng.standard_normal((n, 3)))
        for k in (5, min(n - 1, index.leaf_size + 20), n - 1):
            distances, indices = index.graph(k)
            assert indices.min() >= -1, "a neighbour has no name"
            assert indices.max() < n, "a neighbour is no point"
            assert not np.any(indices == np.arange(n)[:, None]), "a point is its own neighbour"
            ranked = np.sort(indices, axis=1)
            twice = (ranked[:, 1:] == ranked[:, :-1]) & (ranked[:, 1:] >= 0)
            assert not twice.any(), "a neighbour comes twice"
            np.testing.assert_array_equal(np.isinf(distances), indices < 0)


def looking_back_finds_no_less(make: Maker, rng: np.random.Generator) -> None:
    """A tree of the kind that may look back has planes to look behind, and loses nothing by it."""
    index, points, x = _drawn(make, rng, 300, 100)
    if not hasattr(index, "search"):
        return
    back, straight = (
        replace(index, leaf_size=8, search=search, max_copies=1e9) for search in ("hybrid", "defeatist")
    )
    assert back.trees.look_back.any(), "there is no plane behind which it looks"
    assert not straight.trees.look_back.any(), "it looks back"
    near, far = back.query(x, 4)[0], straight.query(x, 4)[0]
    assert np.all(near <= far), "a search that looks back loses a neighbour"
    assert np.any(near < far), "looking back finds nothing"
    share = np.mean(near <= Brute(points, index.metric).query(x, 4)[0])
    assert share == 1.0 or not back.exact, "a tree that is marked exact is not"


def seeds_and_threads_determine_the_result(make: Maker, rng: np.random.Generator) -> None:
    """The same seed gives the same index and graph; threads change nothing."""
    points = rng.standard_normal((700, 3))
    index, again = make(points), make(points)
    assert index.memory == again.memory
    assert index.n_nodes == again.n_nodes
    assert_identical(index.query(points, 4), again.query(points, 4))
    for n_threads in (1, 3):
        assert_identical(neighbor_graph(index, 4, n_threads=n_threads), neighbor_graph(again, 4))


def powers_of_two_do_not_matter(make: Maker, rng: np.random.Generator) -> None:
    """Points a power of two as large have the same neighbours, at their distances."""
    points, x = rng.standard_normal((300, 3)), rng.standard_normal((20, 3))
    _, expected = make(points).query(x, 3)
    for unit in (2.0**-400, 2.0**-200, 1.0, 2.0**200, 2.0**400):
        index = make(points * unit)
        distances, indices = index.query(x * unit, 3)
        np.testing.assert_array_equal(indices, expected)
        every = index.metric(x * unit, points * unit)
        np.testing.assert_allclose(distances, np.take_along_axis(every, indices, axis=1), rtol=1e-9)


APPROXIMATE_INDEX_LAWS = laws_above(globals())


def check_index(make: Maker, rng: int | np.random.Generator | None = 0) -> None:
    """Run every law of indexes, and those of exact ones if it is exact.

    Parameters
    ----------
    make : callable
        Makes an index of points (n, 3): a class, or a partial of one.
    rng : int or Generator
        Where the randomness of the points comes from.

    Examples
    --------
    >>> from tractable.spatial import KDTree
    >>> check_index(KDTree)
    """
    rng = as_generator(rng)
    for law in INDEX_LAWS:
        law(make, rng)
    if make(np.eye(3)).exact:
        for law in EXACT_INDEX_LAWS:
            law(make, rng)


def check_approximate_index(make: Maker, rng: int | np.random.Generator | None = 0) -> None:
    """Run every law of approximate indexes.

    Parameters
    ----------
    make : callable
        Makes an index of points (n, 3), the same whenever it is called.
    rng : int or Generator
        Where the randomness of the points comes from.

    Examples
    --------
    >>> from functools import partial
    >>> from tractable.spatial import RandomizedForest
    >>> check_approximate_index(partial(RandomizedForest, leaf_size=32, random_state=0))
    """
    rng = as_generator(rng)
    for law in APPROXIMATE_INDEX_LAWS:
        law(make, rng)
