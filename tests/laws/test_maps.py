"""Every map obeys the laws of maps, and the laws reject the classic mistakes."""

import numpy as np
import pytest

from catalogue import cross
from rows.manifold import ROWS
from tractable.manifold import TSNE, ClassicalMDS, Isomap, MetricMDS
from tractable.testing import check_map
from tractable.testing.map_laws import MAP_LAWS


@pytest.mark.parametrize(("law", "make"), cross(MAP_LAWS, ROWS))
@pytest.mark.spec("DR-31", "DR-33", "DR-38")
def test_map_law(law, make, rng):
    law(make(), rng)


class KeepsTheOrigin(ClassicalMDS):
    """Inner products of rows that are not centred."""

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X)
        u, s, _ = np.linalg.svd(self.rows_, full_matrices=False)
        self.embedding_ = (u * s)[:, : self.n_components]
        return self


class EmbedsAboutTheNewMean(ClassicalMDS):
    """Centres the rows of `transform` by themselves."""

    def transform(self, X):
        found = super().transform(X)
        return found - found.mean(axis=0)


class PlacesAnywhere(MetricMDS):
    """New rows at the middle, unless they are known."""

    def _embed(self, rows):
        known = self._distances_from(rows).min(axis=1) == 0.0
        return np.where(known[:, None], super()._embed(rows), 0.0)


class TakesASecondColumnAsItIs(Isomap):
    """A coordinate that depends on the axes."""

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X)
        self.embedding_[:, 1] = self.rows_[:, 1]
        return self


class OneWidthForAll(TSNE):
    """σ = 1, in whatever unit the rows are."""

    def _conditional(self, squared, times):
        p = times * np.exp(-0.5 * (squared - squared.min(axis=1, keepdims=True)))
        return p / p.sum(axis=1, keepdims=True)


class StartsByTheNumberOfTheRow(TSNE):
    """The start depends on the order of the rows."""

    def _start(self, rng):
        n = len(self._distinct_)
        return np.column_stack([np.arange(n), np.arange(n) % 3]) * 1e-4


class PullsCopiesApart(MetricMDS):
    """A random start for every row, copies too, and no steps."""

    def _search(self, distances, weights):
        found = super()._search(distances, weights)
        found.points[...] += 1e-3 * np.arange(len(found.points))[:, None]
        return found


class DrawsAfresh(TSNE):
    """A seed that is not used."""

    def _start(self, rng):
        return super()._start(np.random.default_rng())


class CountsPairsTwice(MetricMDS):
    """Σ over all ordered pairs."""

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X)
        self.stress_ *= 2.0
        return self


class TracesTheSteps(MetricMDS):
    """A trace that does not rise: the stress itself in place of minus the stress."""

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X)
        self.objective_trace_ = -self.objective_trace_
        return self


class NormalisesByRows(TSNE):
    """Q of each row sums to one, then symmetrised."""

    def fit(self, X, y=None, sample_weight=None):
        super().fit(X)
        near = 1.0 / (1.0 + np.sum((self.embedding_[:, None] - self.embedding_) ** 2, axis=2))
        np.fill_diagonal(near, 0.0)
        q = near / near.sum(axis=1, keepdims=True)
        q, p = (q + q.T) / (2 * len(q)), self._joint(exact=True).dense()
        self.kl_divergence_ = float(np.sum(p[p > 0] * np.log(p[p > 0] / q[p > 0])))
        return self


MUTANTS = [
    KeepsTheOrigin(),
    EmbedsAboutTheNewMean(),
    PlacesAnywhere(metric="manhattan"),
    TakesASecondColumnAsItIs(),
    OneWidthForAll(perplexity=5),
    StartsByTheNumberOfTheRow(perplexity=5),
    PullsCopiesApart(),
    DrawsAfresh(init="random", perplexity=5),
    CountsPairsTwice(1),
    TracesTheSteps(1),
    NormalisesByRows(),
]
LAWS_BROKEN = {
    "KeepsTheOrigin": "motions_of_the_rows_do_not_change_the_map",
    "EmbedsAboutTheNewMean": "rows_are_placed_one_by_one",
    "PlacesAnywhere": "new_rows_come_beside_the_rows_they_are_near",
    "TakesASecondColumnAsItIs": "motions_of_the_rows_do_not_change_the_map",
    "OneWidthForAll": "units_scale_the_map_or_leave_it",
    "StartsByTheNumberOfTheRow": "the_order_of_rows_does_not_matter",
    "PullsCopiesApart": "equal_rows_have_one_position",
    "DrawsAfresh": "a_seed_gives_one_map",
    "CountsPairsTwice": "the_stress_is_that_of_the_map",
    "TracesTheSteps": "the_stress_is_that_of_the_map",
    "NormalisesByRows": "the_divergence_is_that_of_the_map",
}


@pytest.mark.spec("E000-66")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda made: type(made).__name__)
def test_mutants_are_rejected(mutant, rng):
    law = next(law for law in MAP_LAWS if law.__name__ == LAWS_BROKEN[type(mutant).__name__])
    with pytest.raises(AssertionError):
        law(mutant, rng)


class ForgetsTheRows(ClassicalMDS):
    """New rows are placed by a fit of their own."""

    def transform(self, X):
        return ClassicalMDS(self.n_components).fit_transform(X + 1.0)[::-1]


def test_all_laws_are_checked():
    check_map(MetricMDS(metric="manhattan"))
    with pytest.raises(AssertionError):
        check_map(ForgetsTheRows())
