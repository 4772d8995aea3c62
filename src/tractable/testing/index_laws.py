"""Laws of neighbour indexes: what is found is true, in order, and the same however it is asked for.

A law is given a maker of indexes, a class or a partial of one: ``law(Brute, rng)`` makes ``Brute(points)``.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator
from tractable.spatial import Index, neighbor_graph, recall
from tractable.testing.exact_index_laws import EXACT_INDEX_LAWS, lattice, settled
from tractable.testing.refusals import refused
from tractable.value import parameters

__all__ = ["INDEX_LAWS", "check_index"]

Maker = Callable[[Any], Index]


def distances_are_those_of_the_points(make: Maker, rng: np.random.Generator) -> None:
    """Each distance is the metric's between the row and the point named; sorted, without repetition."""
    points, x = rng.standard_normal((200, 3)), rng.standard_normal((20, 3))
    index = make(points)
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
    points, x = rng.standard_normal((300, 3)), rng.standard_normal((700, 3))
    index = make(points)
    whole, reach = index.query(x, 4, n_threads=1), index.query_radius(x, 0.5, n_threads=1)
    for n_threads in (2, 3):
        settled(index.query(x, 4, n_threads=n_threads), whole)
        again = index.query_radius(x, 0.5, n_threads=n_threads)
        settled(
            (again.indptr, again.indices, again.distances), (reach.indptr, reach.indices, reach.distances)
        )
    for row in (0, 255, 256, 384, 699):
        settled(index.query(x[row : row + 1], 4), tuple(a[row : row + 1] for a in whole))
        settled(index.query_radius(x[row : row + 1], 0.5)[0], reach[row])


def an_empty_query_has_an_empty_answer(make: Maker, rng: np.random.Generator) -> None:
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
    settled(index.query(x, 4), before)
    np.testing.assert_array_equal(index.points, points)
    assert not index.points.flags.writeable, "the points can be changed"
    frozen = (base := points.copy()).view()
    frozen.setflags(write=False)
    index = make(frozen)
    base[...] = 0.0
    settled(index.query(x, 4), before)
    settled(type(index)(**parameters(index)).query(x, 4), before)


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
    settled(index.query(points, 3, exclude=np.full(80, -1)), index.query(points, 3))


def radii_hold_what_they_should(make: Maker, rng: np.random.Generator) -> None:
    """Nothing beyond the radius is found; what is found is measured and sorted; radii may differ by row."""
    points, x = rng.standard_normal((200, 3)), rng.standard_normal((20, 3))
    index = make(points)
    every = index.metric(x, points)
    radii = np.quantile(every, 0.1, axis=1)
    found = index.query_radius(x, radii)
    assert len(found) == 20
    for row, (near, ids) in enumerate(found):
        assert np.all(near <= radii[row]), "a point beyond the radius was found"
        assert np.all(near[:-1] <= near[1:]), "distances are not sorted"
        np.testing.assert_allclose(near, every[row, ids], rtol=1e-12, atol=1e-14)


def every_kind_of_array_will_do(make: Maker, rng: np.random.Generator) -> None:
    """Single precision, integers, read-only, strided arrays and lists of the same numbers give the same."""
    points, x = lattice(rng, 90), lattice(rng, 9)
    before = make(points).query(x, 5)
    frozen = points.copy()
    frozen.setflags(write=False)
    strided = np.zeros((90, 6))
    strided[:, ::2] = points
    alike = [
        points.astype(np.float32),
        points.astype(int),
        frozen,
        strided[:, ::2],
        np.asfortranarray(points),
    ]
    for same in [*alike, points.tolist()]:
        settled(make(same).query(x, 5), before)
    for same in (x.astype(np.float32), x.astype(int), np.asfortranarray(x), x.tolist()):
        settled(make(points).query(same, 5), before)


def what_a_search_costs_is_counted(make: Maker, rng: np.random.Generator) -> None:
    """A report counts at least one node and k points for each row, no more than there are; and bytes."""
    points, x = rng.standard_normal((500, 3)), rng.standard_normal((9, 3))
    index = make(points)
    *found, report = index.query(x, 4, report=True)
    settled(tuple(found), index.query(x, 4))
    assert report.n_nodes == index.n_nodes >= 1
    assert report.memory == index.memory >= 0
    assert np.all((report.visited >= 1) & (report.visited <= report.n_nodes)), "nodes are miscounted"
    assert np.all(report.measured >= np.sum(found[1] >= 0, axis=1)), "points found were not measured"
    near, report = index.query_radius(x, 0.5, report=True)
    assert np.all(report.measured >= near.counts), "points found were not measured"


def candidates_are_what_is_measured(make: Maker, rng: np.random.Generator) -> None:
    """The points that a search measures are as many as it reports, and what it finds is among them."""
    points, x = rng.standard_normal((500, 3)), rng.standard_normal((9, 3))
    index = make(points)
    for k in (1, 6):
        _, indices, report = index.query(x, k, report=True)
        for row, found, measured in zip(x, indices, report.measured, strict=True):
            seen = index.candidates(row, k)
            assert np.all(np.diff(seen) > 0), "candidates are not in order"
            assert len(seen) == measured, f"{len(seen)} candidates, {measured} measured"
            assert np.all(np.isin(found[found >= 0], seen)), "what was found was no candidate"
    refused(lambda: index.candidates(x, 1), "row")
    refused(lambda: index.candidates(x[0], 0), "k")


def recall_is_a_share(make: Maker, rng: np.random.Generator) -> None:
    """From 0 to 1, and 1 for an exact index."""
    points = rng.standard_normal((300, 3))
    index = make(points)
    share = recall(index, points[:50], 5)
    assert 0.0 <= share <= 1.0
    assert share == 1.0 or not index.exact, "an exact index missed a neighbour"


def bad_input_is_refused_in_words(make: Maker, rng: np.random.Generator) -> None:
    """One ValueError that names the argument."""
    points = rng.standard_normal((30, 3))
    index = make(points)
    hole = np.where(np.eye(3) > 0, np.nan, 1.0)
    for bad in (hole, points[0], points[:0], points + np.inf, [["a", "b", "c"]], np.ones((2, 3)) * 1j):
        refused(lambda bad=bad: make(bad), "points")  # type: ignore[misc]
    for bad in (hole, points[0], np.ones((2, 4)), [["a", "b", "c"]]):
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
    for bad in (
        np.arange(29),
        np.arange(30) + 1,
        np.arange(30) - 2,
        np.ones(30),
        np.ones(30, bool),
        [[1], []],
    ):
        refused(lambda bad=bad: index.query(points, 2, exclude=bad), "exclude")  # type: ignore[misc]


INDEX_LAWS: tuple[Callable[[Maker, np.random.Generator], None], ...] = (
    distances_are_those_of_the_points,
    ties_go_to_the_smaller_index,
    rows_are_searched_alone,
    an_empty_query_has_an_empty_answer,
    an_index_is_a_value,
    a_point_left_out_is_not_found,
    radii_hold_what_they_should,
    every_kind_of_array_will_do,
    what_a_search_costs_is_counted,
    candidates_are_what_is_measured,
    recall_is_a_share,
    bad_input_is_refused_in_words,
)


def check_index(make: Maker, rng: int | np.random.Generator | None = 0) -> None:
    """Run every law of indexes, and those of exact ones if it says it is exact.

    Parameters
    ----------
    make : callable
        Makes an index of points (n, 3): a class, or a partial of one.
    rng : int or Generator

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
