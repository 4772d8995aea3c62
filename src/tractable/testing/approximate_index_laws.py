"""Laws of approximate neighbour indexes made of trees: what they miss is bounded, and so is what they cost.

A law is given a maker of indexes, as in :mod:`tractable.testing.index_laws`; the index has a `leaf_size`.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.arrays.random import as_generator
from tractable.spatial import Brute, neighbor_graph, recall
from tractable.testing.exact_index_laws import settled
from tractable.value import replace

__all__ = ["APPROXIMATE_INDEX_LAWS", "check_approximate_index"]

Maker = Callable[[Any], Any]


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
    settled(index.query(x, 200), exact.query(x, 200))
    found, every = index.query_radius(x, 0.5), exact.query_radius(x, 0.5)
    settled((found.indptr, found.indices), (every.indptr, every.indices))
    settled(neighbor_graph(index, 6), neighbor_graph(exact, 6))


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
    points = rng.standard_normal((400, 3))
    index = make(points)
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
    points, x = rng.standard_normal((300, 3)), rng.standard_normal((100, 3))
    index = make(points)
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
    assert share == 1.0 or not back.exact, "a tree that says so is not exact"


def seeds_and_threads_settle_the_answer(make: Maker, rng: np.random.Generator) -> None:
    """The same seed gives the same index and graph; threads change nothing."""
    points = rng.standard_normal((700, 3))
    index, again = make(points), make(points)
    assert index.memory == again.memory
    assert index.n_nodes == again.n_nodes
    settled(index.query(points, 4), again.query(points, 4))
    for n_threads in (1, 3):
        settled(neighbor_graph(index, 4, n_threads=n_threads), neighbor_graph(again, 4))


def units_do_not_matter(make: Maker, rng: np.random.Generator) -> None:
    """Points a power of two as large have the same neighbours, at their distances."""
    points, x = rng.standard_normal((300, 3)), rng.standard_normal((20, 3))
    _, expected = make(points).query(x, 3)
    for unit in (2.0**-600, 2.0**-300, 1.0, 2.0**300, 2.0**600):
        index = make(points * unit)
        distances, indices = index.query(x * unit, 3)
        np.testing.assert_array_equal(indices, expected)
        every = index.metric(x * unit, points * unit)
        np.testing.assert_allclose(distances, np.take_along_axis(every, indices, axis=1), rtol=1e-9)


APPROXIMATE_INDEX_LAWS: tuple[Callable[[Maker, np.random.Generator], None], ...] = (
    points_find_themselves,
    one_leaf_is_exact,
    neighbours_along_a_curve_are_found,
    graphs_are_those_of_the_points,
    graphs_name_other_points,
    looking_back_finds_no_less,
    seeds_and_threads_settle_the_answer,
    units_do_not_matter,
)


def check_approximate_index(make: Maker, rng: int | np.random.Generator | None = 0) -> None:
    """Run every law of approximate indexes.

    Parameters
    ----------
    make : callable
        Makes an index of points (n, 3), the same whenever it is called.
    rng : int or Generator

    Examples
    --------
    >>> from functools import partial
    >>> from tractable.spatial import RandomizedForest
    >>> check_approximate_index(partial(RandomizedForest, leaf_size=32, random_state=0))
    """
    rng = as_generator(rng)
    for law in APPROXIMATE_INDEX_LAWS:
        law(make, rng)
