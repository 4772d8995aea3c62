"""Laws of indexes, and of approximate ones, on trees of planes; and the mutants they must reject."""

from functools import partial

import numpy as np
import pytest

from catalogue import cross
from quick import some
from rows.hyperplane_indexes import ROWS, WHITENED
from tractable import spatial
from tractable.spatial import Index, RandomizedForest, SpillTree, TSVQTree
from tractable.testing import index_laws
from tractable.testing.index_laws import APPROXIMATE_INDEX_LAWS, EXACT_INDEX_LAWS, INDEX_LAWS, check_index
from tractable.value import replace


@pytest.mark.spec("TREE-02", "TREE-03", "TREE-04")
@pytest.mark.parametrize(("law", "make"), cross(INDEX_LAWS, ROWS, most=1))
def test_index_law(law, make, rng):
    law(make(), rng)


@pytest.mark.spec("TREE-02", "TREE-03", "TREE-04")
@pytest.mark.parametrize(("law", "make"), cross(APPROXIMATE_INDEX_LAWS, ROWS, most=1))
def test_approximate_index_law(law, make, rng):
    law(make(), rng)


@pytest.mark.spec("TREE-02")
@pytest.mark.parametrize("law", EXACT_INDEX_LAWS)
@pytest.mark.parametrize("metric", some(["euclidean", "cosine", WHITENED]))
def test_a_tree_that_says_it_is_exact_is(law, metric, rng):
    make = partial(SpillTree, metric=metric, tau=0.0, leaf_size=8, search="hybrid", random_state=0)
    assert make(np.eye(3)).exact
    law(make, rng)


def test_every_approximate_index_is_in_the_catalogue():
    made = {type(row.make()(np.eye(3))) for row in ROWS}
    public = (getattr(spatial, name) for name in spatial.__all__)
    kinds = {kind for kind in public if isinstance(kind, type) and issubclass(kind, Index)}
    assert {kind for kind in kinds - {Index} if kind.exact is not True} == made
    check_index(partial(TSVQTree, random_state=0))


class GoesTheOtherWay(SpillTree):
    """Takes the wrong side of the first plane."""

    def _nearest(self, x, k):
        flipped = replace(self.trees, children=np.roll(self.trees.children, 1, axis=1))
        object.__setattr__(self, "trees", flipped)
        try:
            return super()._nearest(x, k)
        finally:
            object.__setattr__(self, "trees", replace(flipped, children=np.roll(flipped.children, 1, axis=1)))


class DropsALeafsLast(RandomizedForest):
    """A loop over a leaf that ends one early."""

    def _keep(self, first, *others):
        super()._keep(first, *others)
        ends = self.trees.ptr[1:] - 1
        members = self.trees.members.copy()
        members[ends] = members[ends - 1]
        self._set(trees=replace(self.trees, members=members))


class RandomPlanes(RandomizedForest):
    """Planes anywhere: leaves hold strangers."""

    def _tree(self, rows, number):
        return super()._tree(np.random.default_rng(number).permutation(rows), number)


class LooksAtEverything(TSVQTree):
    def __init__(self, points, metric="euclidean", *, leaf_size=64, max_depth=64, random_state=None):
        super().__init__(points, metric, leaf_size=10**6, max_depth=max_depth, random_state=random_state)


class ForgetsItsSeed(RandomizedForest):
    def _tree(self, rows, number):
        object.__setattr__(self, "random_state", int(np.random.default_rng().integers(2**32)))
        return super()._tree(rows, number)


class AnswersInSquares(RandomizedForest):
    def graph(self, k, **options):
        distances, *rest = super().graph(k, **options)
        return distances**2, *rest


class FewerThanAsked(RandomizedForest):
    """Makes a graph of half as many neighbours, and fills it up."""

    def graph(self, k, **options):
        distances, indices, *report = super().graph(k, **options)
        distances[:, k // 2 :], indices[:, k // 2 :] = np.inf, -1
        return distances, indices, *report


class ItsOwnNeighbour(RandomizedForest):
    def graph(self, k, **options):
        distances, indices, *report = super().graph(k, **options)
        indices[:, 0] = np.arange(len(self))
        return distances, indices, *report


class NamesThePadding(RandomizedForest):
    """A leaf read beyond its end."""

    def graph(self, k, **options):
        distances, indices, *report = super().graph(k, **options)
        indices[-1, -1] = len(self)
        return distances, indices, *report


class NeverLooksBack(SpillTree):
    """A hybrid tree in name."""

    def _keep(self, first, *others):
        super()._keep(replace(first, look_back=np.zeros_like(first.look_back)), *others)


class KeepsAwayFromZero(SpillTree):
    """A small number that has a unit."""

    def _nearest(self, x, k):
        distances, *rest = super()._nearest(x, k)
        return distances + 1e-9, *rest


@pytest.mark.parametrize(
    ("law", "mutant"),
    [
        ("points_find_themselves", GoesTheOtherWay),
        ("points_find_themselves", RandomPlanes),
        ("one_leaf_is_exact", DropsALeafsLast),
        ("one_leaf_is_exact", KeepsAwayFromZero),
        ("neighbours_along_a_curve_are_found", RandomPlanes),
        ("neighbours_along_a_curve_are_found", LooksAtEverything),
        ("graphs_are_those_of_the_points", AnswersInSquares),
        ("graphs_are_those_of_the_points", FewerThanAsked),
        ("graphs_name_other_points", ItsOwnNeighbour),
        ("graphs_name_other_points", NamesThePadding),
        ("looking_back_finds_no_less", NeverLooksBack),
        ("seeds_and_threads_determine_the_result", ForgetsItsSeed),
        ("powers_of_two_do_not_matter", KeepsAwayFromZero),
    ],
)
def test_laws_have_power(law, mutant, rng):
    run = getattr(index_laws, law)
    run(partial(mutant.__base__, random_state=0), rng)
    with pytest.raises(AssertionError):
        run(partial(mutant, random_state=0), rng)


def test_repair_is_worth_its_name(rng):
    """Without repair of its graph a forest of small leaves finds far less."""
    points = rng.standard_normal((1500, 5))
    true, _ = spatial.neighbor_graph(spatial.Brute(points), 8)
    shares = []
    for repair in (0, 1, 2):
        forest = RandomizedForest(points, n_trees=4, leaf_size=24, repair=repair, random_state=0)
        shares.append(np.mean(spatial.neighbor_graph(forest, 8)[0] <= true[:, -1:]))
    assert shares[0] + 0.1 < shares[1] <= shares[2]
