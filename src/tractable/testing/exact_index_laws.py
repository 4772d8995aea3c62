"""Laws of exact neighbour indexes: they miss nothing, wherever points lie and however many coincide."""

from collections.abc import Callable
from typing import Any

import numpy as np

from tractable.spatial import Brute, Index

__all__ = ["EXACT_INDEX_LAWS", "lattice", "settled"]

Maker = Callable[[Any], Index]


def lattice(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return rows of small whole numbers, none of them zeros: many distances are equal, and exact."""
    return rng.integers(-2, 4, (n, 3)) * 1.0 + 10.0


def settled(found: Any, expected: Any) -> None:
    """Raise AssertionError unless two answers are equal to the bit."""
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_array_equal(a, b)


def nothing_nearer_is_missed(make: Maker, rng: np.random.Generator) -> None:
    """Distances are the smallest there are, and equal those of brute force to the bit, ties included."""
    draws = (rng.standard_normal((400, 3)), rng.standard_normal((30, 3)))
    for points, x in (draws, (lattice(rng, 400), lattice(rng, 30))):
        index = make(points)
        for k in (1, 2, 10, 399):
            _is_true(index, x, k)
            settled(index.query(x, k), Brute(points, index.metric).query(x, k))


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


def units_do_not_matter(make: Maker, rng: np.random.Generator) -> None:
    """Points and rows 1e100 or 1e-100 times as large are found as well."""
    points, x = rng.standard_normal((200, 3)), rng.standard_normal((20, 3))
    for scale in (1e100, 1e-100):
        _is_true(make(points * scale), x * scale, 6)
    _, indices = make(points).query(x, 6)
    for scale in (2.0**600, 2.0**-600):
        np.testing.assert_array_equal(make(points * scale).query(x * scale, 6)[1], indices)


def places_do_not_matter(make: Maker, rng: np.random.Generator) -> None:
    """Far from the origin, and for rows far outside, neighbours keep their digits."""
    points, x = rng.standard_normal((200, 3)), rng.standard_normal((20, 3))
    for place in (1e8, -1e8):
        _is_true(make(points + place), x + place, 6)
    _is_true(make(points), 1e6 * x, 6)
    _is_true(make(np.vstack([points, 1e9 * points[:1]])), x, 6)


def _is_true(index: Index, x: np.ndarray, k: int) -> None:
    """Compare with the metric's distances from all points."""
    distances, indices = index.query(x, k)
    every = index.metric(x, index.points)
    unit = float(np.median(every)) or 1.0  # squares of what is compared are numbers
    kth = np.sort(every, axis=1)[:, :k]
    np.testing.assert_allclose(distances / unit, kth / unit, rtol=1e-9, atol=1e-14)
    named = np.take_along_axis(every, indices, axis=1)
    np.testing.assert_allclose(named / unit, kth / unit, rtol=1e-9, atol=1e-14)


EXACT_INDEX_LAWS: tuple[Callable[[Maker, np.random.Generator], None], ...] = (
    nothing_nearer_is_missed,
    nothing_within_is_missed,
    all_points_can_be_asked_for,
    points_that_coincide_are_all_found,
    another_order_of_points_is_another_name,
    units_do_not_matter,
    places_do_not_matter,
)
