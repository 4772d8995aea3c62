"""Every law of families of columns on every family; laws with power."""

import numpy as np
import pytest

from catalogue import cross
from rows import columns
from tractable.columns import CategoricalColumns, CategoryPrior, NormalColumns, independent_columns
from tractable.statistics import Counts
from tractable.testing import column_laws
from tractable.testing.column_laws import COLUMN_LAWS
from tractable.value import replace


@pytest.mark.parametrize(("law", "make"), cross(COLUMN_LAWS, columns.ROWS))
def test_column_law(law, make, rng):
    law(make(), rng)


class FillsHoles(CategoricalColumns):
    """Takes what is missing for the first category."""

    def summarize(self, x, membership):
        return super().summarize(np.nan_to_num(x), membership)


class SmoothsByPosition(CategoricalColumns):
    """Believes more in categories of larger codes."""

    def prior(self, sums, how, classes=None):
        found = super().prior(sums, how, classes)
        return replace(found, pseudocounts=np.arange(1.0, 1.0 + found.sizes.sum()))


class LargerCounts(Counts):
    def _merged(self, other):
        most = max(self.n_classes, other.n_classes)
        return LargerCounts(counts=np.maximum(self.padded(most).counts, other.padded(most).counts))


class KeepsTheLargerCount(CategoricalColumns):
    """Its counts of two blocks are no sums."""

    def summarize(self, x, membership):
        return LargerCounts(counts=super().summarize(x, membership).counts)


class ForgetsWeights(NormalColumns):
    """Counts every row of codes once."""

    def summarize(self, x, membership):
        weighted = getattr(membership, "weights", None) is not None
        return super().summarize(x, replace(membership, weights=None) if weighted else membership)


class RoundsResponsibilities(NormalColumns):
    """Gives every row to the class with the most of it."""

    def summarize(self, x, membership):
        if not hasattr(membership, "values"):
            return super().summarize(x, membership)
        shares = membership.values
        hard = (shares == shares.max(axis=1, keepdims=True)) * shares.sum(axis=1, keepdims=True)
        return super().summarize(x, replace(membership, values=hard))


class ForgetsThePrior(NormalColumns):
    """A class without rows is at the origin."""

    def estimate(self, sums, prior):
        return super().estimate(sums, replace(prior, mean=np.zeros_like(prior.mean)))


class PrefersLaterClasses(NormalColumns):
    """Classes with larger codes are wider."""

    def estimate(self, sums, prior):
        found = super().estimate(sums, prior)
        return {**found, "variance": found["variance"] * np.arange(1.0, len(sums.mean) + 1.0)[:, None]}


class LosesNormalization(NormalColumns):
    """Scores are distances: there is no density of which they are logarithms."""

    @staticmethod
    def scores(columns, **options):
        whole = NormalColumns.scores(columns, **options)
        return replace(whole, log_norm=np.zeros_like(whole.log_norm))


@pytest.mark.parametrize(
    ("mutant", "good", "law"),
    [
        (FillsHoles, "categorical", column_laws.a_missing_entry_says_nothing),
        (SmoothsByPosition, "categorical", column_laws.categories_have_no_order),
        (KeepsTheLargerCount, "categorical", column_laws.blocks_add_up),
        (ForgetsWeights, "normal", column_laws.weights_repeat_rows),
        (ForgetsWeights, "normal", column_laws.codes_are_one_hot_responsibilities),
        (RoundsResponsibilities, "normal", column_laws.responsibilities_share_rows),
        (ForgetsThePrior, "normal", column_laws.nothing_but_the_prior_gives_its_mean),
        (PrefersLaterClasses, "normal", column_laws.classes_have_no_order),
        (LosesNormalization, "normal", column_laws.scores_are_log_densities),
    ],
)
def test_the_law_rejects(mutant, good, law):
    [make] = [row.make for row in columns.ROWS if row.name == good]
    case = make()
    law(case, np.random.default_rng(0))
    broken = replace(case, family=mutant(case.family.layout, case.family.where))
    with pytest.raises(AssertionError):
        law(broken, np.random.default_rng(0))


def test_pseudocounts_of_each_category_shrink_to_a_marginal():
    """The leaves of a latent tree: responsibilities of a hidden state, and a marginal as prior."""
    case = columns.case("categorical", draw=columns.codes, kinds=["categorical"])
    rng = np.random.default_rng(0)
    x, marginal = rng.integers(0, 3, (40, 1)).astype(float), np.array([0.5, 0.3, 0.2])
    states = column_laws.Responsibilities.of(rng.dirichlet(np.ones(4), 40))
    prior = CategoryPrior(sizes=np.array([3]), pseudocounts=2.0 * marginal, otherwise=marginal[None])
    sums = case.family.summarize(x, states)
    counts = np.stack([states.values[x[:, 0] == c].sum(axis=0) for c in range(3)], axis=1)
    found = independent_columns(1, [case.family.estimate(sums, prior)]).probabilities
    expected = (counts + 2.0 * marginal) / (counts.sum(axis=1, keepdims=True) + 2.0)
    np.testing.assert_allclose(found, expected, rtol=1e-12)
