"""The laws of EM, and the count of seeds, reject the classic mistakes of k-means."""

from contextlib import nullcontext

import numpy as np
import pytest

from rows.em_kmeans import kmeans
from tractable.engines.kmeans import Centers, KMeansProblem
from tractable.primitives import native
from tractable.primitives.kmeans import kmeans_plus_plus, seeding_probabilities
from tractable.testing import em_laws
from tractable.value import replace, value

FAR = np.array([[-9.0, -9.0], [9.0, 9.0], [40.0, 40.0]])


class DropsEmptyClusters(KMeansProblem):
    """Divides by the weight of no rows."""

    def maximize(self, clusters):
        with np.errstate(invalid="ignore"):
            return Centers(centers=clusters.sums / clusters.counts[:, None])


class StartsEmptyClustersAtRandom(KMeansProblem):
    """Moves centres that hold rows as well."""

    def maximize(self, clusters):
        rng = np.random.default_rng(int(clusters.inertia))
        return Centers(centers=clusters.means[rng.permutation(3)] + rng.standard_normal((3, 2)))


class TakesMedians(KMeansProblem):
    """The centre of another objective."""

    def maximize(self, clusters):
        rows = self.standardizer.transform(self.source.X)
        labels = np.argmin([np.sum((rows - c) ** 2, axis=1) for c in clusters.centers], axis=0)
        held = [rows[labels == k] for k in range(len(clusters.centers))]
        return Centers(centers=np.stack([np.median(r, axis=0) if len(r) else np.zeros(2) for r in held]))


class ForgetsThatCentersMoved(KMeansProblem):
    """Bounds of centres that were elsewhere."""

    def expect(self, params):
        return replace(super().expect(params), known=None if params.before is None else params.centers)


@value
class Stale:
    """An E-step that does not compute J."""

    step: object

    def __call__(self, block):
        return replace(self.step(block).clusters, inertia=1.0)


class CountsTheOldObjective(KMeansProblem):
    """J before the rows moved."""

    seen = 0

    def expect(self, params):
        self.seen += 1
        return Stale(step=super().expect(params)) if self.seen > 1 else super().expect(params)


MUTANTS = [
    (em_laws.the_objective_never_decreases, StartsEmptyClustersAtRandom),
    (em_laws.the_objective_never_decreases, TakesMedians),
    (em_laws.the_trace_is_the_objective, CountsTheOldObjective),
]


@pytest.mark.parametrize(("law", "kind"), MUTANTS)
def test_the_laws_of_em_have_teeth(law, kind, rng):
    law(kmeans(bounds=False, start=FAR), rng)
    with pytest.raises(AssertionError):
        law(kmeans(kind, bounds=False, start=FAR), rng)


def test_clusters_that_are_dropped_are_found_out():
    """A centre that no row was near at first holds rows at the end."""

    def every_cluster_holds_rows(kind, bounds=False):
        problem = kmeans(kind, start=FAR, bounds=bounds)
        params = problem.start
        for _ in range(30):
            params = problem.maximize(problem.statistic(params))
        assert np.all(problem.statistic(params).clusters.counts > 0.0)

    every_cluster_holds_rows(KMeansProblem)
    every_cluster_holds_rows(KMeansProblem, bounds=True)
    with pytest.raises(AssertionError):
        every_cluster_holds_rows(DropsEmptyClusters)


def test_stale_bounds_are_found_out():
    """A fresh look disagrees with bounds that did not follow the centres; the array API has none."""
    many = np.random.default_rng(3).uniform(-9.0, 9.0, (20, 2))  # of few, all distances are measured

    def settles_where_a_fresh_look_does(kind):
        problem, fresh = kmeans(kind, start=many), kmeans(bounds=False, start=many)
        params = problem.start
        for _ in range(10):
            found, expected = problem.statistic(params), fresh.statistic(params)
            np.testing.assert_allclose(found.clusters.counts, expected.counts)
            params = problem.maximize(found)

    settles_where_a_fresh_look_does(KMeansProblem)
    with pytest.raises(AssertionError) if native(many) else nullcontext():
        settles_where_a_fresh_look_does(ForgetsThatCentersMoved)


def test_distances_that_were_not_squared_are_found_out():
    """One uniform for each share of the whole: seeds drawn by distance have other counts (E001-23)."""
    x = np.array([[0.0], [1.0], [3.0]])

    def follows_squares(drawn):
        levels = (np.arange(10) + 0.5) / 10
        assert [sum(drawn(u) == i for u in levels) for i in range(3)] == [0, 1, 9]

    def by_distance(u):
        shares = np.sqrt(seeding_probabilities(x, None, x[:1]))
        return int(np.searchsorted(np.cumsum(shares / shares.sum()), u, side="right"))

    follows_squares(lambda u: kmeans_plus_plus(x, None, 2, np.array([[0.0], [u]]))[1])
    with pytest.raises(AssertionError):
        follows_squares(by_distance)
