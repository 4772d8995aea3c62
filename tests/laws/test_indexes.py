"""Every law of neighbour indexes on every index and metric, and the mutants they must reject."""

from functools import partial

import numpy as np
import pytest

import tractable.primitives
from catalogue import cross
from rows.indexes import EXACT, ROWS, SPREAD
from tractable.primitives import COMPILED_WORK
from tractable.primitives.neighbors import nearest, within
from tractable.spatial import Brute, Index, Mahalanobis
from tractable.testing import index_laws
from tractable.testing.index_laws import EXACT_INDEX_LAWS, INDEX_LAWS, check_index
from tractable.value import value


@pytest.mark.spec("TREE-01")
@pytest.mark.parametrize(("law", "make"), cross(INDEX_LAWS, ROWS, most=1))
def test_index_law(law, make, rng):
    law(make(), rng)


@pytest.mark.spec("TREE-01")
@pytest.mark.parametrize("least", [0, COMPILED_WORK])
@pytest.mark.parametrize(("law", "make"), cross(EXACT_INDEX_LAWS, EXACT, most=1))
def test_exact_index_law(law, make, least, rng, monkeypatch):
    """Of compiled code, and of what runs for few points."""
    monkeypatch.setattr(tractable.primitives, "COMPILED_WORK", least)
    law(make(), rng)


def test_exact_indexes_say_so():
    assert all(row.make()(np.eye(3)).exact for row in EXACT)
    check_index(Brute)


@value
class OnesOwn(Index):
    """What a user has to write: a sort of all distances."""

    name = "ones_own"
    forms = ("euclidean", "manhattan")
    exact = True
    memory = 0

    points: np.ndarray
    metric: object

    def __init__(self, points, metric="euclidean"):
        self._prepare(points, metric)

    def _nearest(self, x, k):
        ones = np.ones(len(x), int)
        return *nearest(x, self._rows, k, self.metric.form), ones, ones * len(self)

    def _within(self, x, radii):
        ones = np.ones(len(x), int)
        return *within(x, self._rows, radii, self.metric.form), ones, ones * len(self)


@pytest.mark.parametrize("metric", ["euclidean", "manhattan", "cosine", Mahalanobis(covariance=SPREAD)])
def test_an_index_of_ones_own_obeys(metric):
    check_index(partial(OnesOwn, metric=metric))
    assert not OnesOwn.serves("chebyshev")


class LargerIndexFirst(Brute):
    """Ties as a search from the end finds them."""

    def _nearest(self, x, k):
        flipped = Brute(self.points[::-1], self.metric)
        distances, indices, *cost = flipped._nearest(x, k)
        return distances, len(self) - 1 - indices, *cost


class Squared(Brute):
    """Forgets the root."""

    def _nearest(self, x, k):
        distances, *rest = super()._nearest(x, k)
        return distances**2, *rest


class Single(Brute):
    """Answers from the filter, unmeasured."""

    def _nearest(self, x, k):
        distances, *rest = super()._nearest(x, k)
        return distances.astype(np.float32), *rest


class Uncentred(Brute):
    """|x|² + |y|² - 2 x·y, wherever the points lie."""

    def _nearest(self, x, k):
        y = self._rows
        squares = (x**2).sum(1)[:, None] + (y**2).sum(1) - 2.0 * x @ y.T
        ids = np.argsort(squares, axis=1, kind="stable")[:, :k]
        near = np.sqrt(np.maximum(np.take_along_axis(squares, ids, axis=1), 0.0))
        return near, ids, *self._cost(len(x))


class MissesTheLast(Brute):
    """A loop that ends one early."""

    def _nearest(self, x, k):
        if k == len(self):
            return super()._nearest(x, k)
        return Brute(self.points[:-1], self.metric)._nearest(x, k)


class Half(Brute):
    """Calls itself exact, and looks through half of the points."""

    def _nearest(self, x, k):
        return Brute(self.points[: (len(self) + 1) // 2], self.metric)._nearest(x, k)


class RepeatsTheFirst(Brute):
    def _nearest(self, x, k):
        distances, indices, *cost = super()._nearest(x, k)
        indices[:, -1] = indices[:, 0]
        return distances, indices, *cost


class KeepsAwayFromZero(Brute):
    """A small number added, lest something be divided by zero."""

    def _nearest(self, x, k):
        distances, *rest = super()._nearest(x, k)
        return distances + 1e-12, *rest


class OpenBall(Brute):
    """Leaves out what lies at the radius."""

    def _within(self, x, radii):
        return super()._within(x, np.nextafter(radii, -1.0))


class Unsorted(Brute):
    def _nearest(self, x, k):
        distances, indices, *cost = super()._nearest(x, k)
        return distances[:, ::-1], indices[:, ::-1], *cost


class SearchesOnlyTheFirstBlock(Brute):
    def _blocks(self, search, n_rows, n_threads):
        search(slice(0, n_rows if n_rows < 512 or n_threads == 1 else 512))


class Forgetful(Brute):
    """Counts nothing."""

    def _cost(self, n_rows):
        return np.zeros(n_rows, np.int64), np.zeros(n_rows, np.int64)


class CallsTheNeighboursCandidates(Brute):
    def candidates(self, row, k=1):
        return np.sort(self.query([row], k)[1][0])


class KeepsTheGivenArray(Brute):
    def __init__(self, points, metric="euclidean"):
        super().__init__(points, metric)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "_rows", points)


class DropsTheNearest(Brute):
    """Takes the nearest for the point itself, which a duplicate may be."""

    def query(self, x, k=1, *, exclude=None, **options):
        if exclude is None:
            return super().query(x, k, **options)
        distances, indices = super().query(x, k + 1, **options)
        return distances[:, 1:], indices[:, 1:]


class TakesAnything(Brute):
    def query(self, x, k=1, **options):
        return super().query(np.nan_to_num(np.atleast_2d(x)), max(1, int(k)), **options)


class Claims(Brute):
    """Says a radius holds ten neighbours."""

    def _within(self, x, radii):
        distances, indices, *cost = self._nearest(x, 10)
        return np.repeat(np.arange(len(x)), 10), indices.ravel(), 0 * distances.ravel(), *cost


class FlatAnswer(Brute):
    def query(self, x, k=1, **options):
        found = super().query(x, k, **options)
        return found if len(x) else (np.empty(0), np.empty(0, int), *found[2:])


class ReadsOnlyDoubles(Brute):
    def __init__(self, points, metric="euclidean"):
        points = np.asarray(points)
        super().__init__(points if points.dtype == np.float64 else points + 1e-3 * points**2, metric)


@pytest.mark.parametrize(
    ("law", "mutant"),
    [
        ("distances_are_those_of_the_points", Squared),
        ("distances_are_those_of_the_points", Unsorted),
        ("ties_go_to_the_smaller_index", LargerIndexFirst),
        ("rows_are_searched_alone", SearchesOnlyTheFirstBlock),
        ("an_empty_query_has_an_empty_result", FlatAnswer),
        ("an_index_is_a_value", KeepsTheGivenArray),
        ("a_point_left_out_is_not_found", DropsTheNearest),
        ("radii_hold_what_they_should", Claims),
        ("every_kind_of_array_is_taken", ReadsOnlyDoubles),
        ("what_a_search_costs_is_counted", Forgetful),
        ("given_distances_have_the_same_neighbours", Half),
        ("candidates_are_what_is_measured", CallsTheNeighboursCandidates),
        ("recall_is_a_fraction", Half),
        ("bad_input_is_refused_in_words", TakesAnything),
        ("nothing_nearer_is_missed", MissesTheLast),
        ("nothing_nearer_is_missed", LargerIndexFirst),
        ("nothing_within_is_missed", OpenBall),
        ("all_points_can_be_asked_for", RepeatsTheFirst),
        ("points_that_coincide_are_all_found", LargerIndexFirst),
        ("another_order_of_points_is_another_name", Half),
        ("scale_does_not_matter", KeepsAwayFromZero),
        ("location_does_not_matter", Uncentred),
        ("location_does_not_matter", Single),
    ],
)
def test_index_laws_have_power(law, mutant, rng):
    run = getattr(index_laws, law)
    run(Brute, rng)
    with pytest.raises(AssertionError):
        run(mutant, rng)
