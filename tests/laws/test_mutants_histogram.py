"""Classic bugs of histograms, planted: a law must reject each."""

import numpy as np
import pytest

from tractable.density import Histogram
from tractable.distributions import HistogramDensity
from tractable.statistics import BinCounts, Bins
from tractable.testing import density_laws, distribution_laws, estimator_laws, joint_laws, statistic_laws
from tractable.value import value

EDGES, COUNTS = [0.0, 0.1, 0.5, 3.0, 10.0], [5, 9, 4, 7]
SQUARE = ([0.0, 1.0, 4.0], [-1.0, 0.0, 0.5, 2.0])


class VolumeForgotten(HistogramDensity):
    """n_i / N: a probability for a density."""

    @property
    def log_heights(self):
        return np.log(self.probabilities)


class CountsForgotten(HistogramDensity):
    """n_i / V_i, not divided by N."""

    @property
    def log_heights(self):
        return np.log(self.counts / np.diff(self.edges))


class MiddlesAlone(HistogramDensity):
    """The variance of the middles, as if all rows of a bin were in it."""

    @property
    def variance(self):
        middles = 0.5 * self.edges[:-1] + 0.5 * self.edges[1:]
        return self.probabilities @ (middles - self.mean) ** 2


class DrawsMiddles(HistogramDensity):
    def _sample(self, n, rng):
        middles = 0.5 * self.edges[:-1] + 0.5 * self.edges[1:]
        return rng.choice(middles, size=n, p=self.probabilities)


class TallestCount(HistogramDensity):
    """The fullest bin for the densest."""

    @property
    def mode(self):
        i = int(np.argmax(self.counts))
        return np.asarray(0.5 * (self.edges[i] + self.edges[i + 1]))


class StepsForCdf(HistogramDensity):
    def cdf(self, x):
        return super().cdf(np.where(np.isfinite(x), np.floor(x), x))


class EntropyOfBins(HistogramDensity):
    """That of the probabilities, without the volumes."""

    def entropy(self):
        return -np.sum(self.probabilities * np.log(self.probabilities))


class EvenBinsAssumed(HistogramDensity):
    """Equal counts for equal heights: the fit to uneven bins is not the likeliest."""

    @classmethod
    def fit(cls, X, sample_weight=None, *, edges):
        right = HistogramDensity.fit(X, sample_weight, edges=edges)
        return cls(edges=edges, counts=right.counts / np.diff(edges))


NUMBERS = [
    (density_laws.density_integrates_to_one, VolumeForgotten),
    (density_laws.density_integrates_to_one, CountsForgotten),
    (density_laws.cdf_is_the_integral_of_prob, VolumeForgotten),
    (distribution_laws.samples_match_mean_and_variance, MiddlesAlone),
    (distribution_laws.samples_match_mean_and_variance, DrawsMiddles),
    (distribution_laws.samples_follow_the_cdf, DrawsMiddles),
    (density_laws.mode_has_the_greatest_density, TallestCount),
    (density_laws.cdf_is_the_integral_of_prob, StepsForCdf),
    (distribution_laws.entropy_is_the_expected_negative_log_prob, EntropyOfBins),
    (distribution_laws.fit_is_the_most_likely, EvenBinsAssumed),
]


@pytest.mark.parametrize(("law", "mutant"), NUMBERS)
def test_laws_reject_histograms_of_numbers(law, mutant, rng):
    with pytest.raises(AssertionError):
        law(mutant(edges=EDGES, counts=COUNTS), rng)


class ConditionsOnTheFirstBin(HistogramDensity):
    def condition(self, dims, values=None):
        return HistogramDensity.condition(self, dims, 0.0 * np.asarray(values))


class MarginalOfOneSlice(HistogramDensity):
    """The first slice for the sum over all."""

    def marginal(self, dims):
        right = super().marginal(dims)
        return right if right.dim == self.dim else replace_counts(right, np.take(self.counts, 0, 1 - dims[0]))


def replace_counts(d, counts):
    return HistogramDensity(edges=d.edges, counts=counts)


@pytest.mark.parametrize(
    ("law", "mutant"),
    [
        (joint_laws.chain_rule_holds_for_columns, ConditionsOnTheFirstBin),
        (joint_laws.chain_rule_holds_for_columns, MarginalOfOneSlice),
        (joint_laws.marginals_compose, MarginalOfOneSlice),
    ],
)
def test_laws_reject_histograms_of_vectors(law, mutant, rng):
    with pytest.raises(AssertionError):
        law(mutant(edges=SQUARE, counts=[[1, 5, 2], [4, 3, 3]]), rng)


@value
class OutsideForgotten(BinCounts):
    def __add__(self, other):
        return OutsideForgotten(bins=self.bins, counts=self.counts + other.counts, outside=self.outside)


@value
class Forgetful(Bins):
    def of(self, x, weights=None):
        found = super().of(x, weights)
        return OutsideForgotten(bins=found.bins, counts=found.counts, outside=found.outside)


@value
class WeightsForgotten(Bins):
    def of(self, x, weights=None):
        super().of(x, weights)  # refuses what it should
        return super().of(x)


@pytest.mark.parametrize(
    ("law", "mutant"),
    [
        (statistic_laws.addition_is_commutative, Forgetful),
        (statistic_laws.sum_is_the_statistic_of_both, Forgetful),
        (statistic_laws.weights_are_repetitions, WeightsForgotten),
    ],
)
def test_laws_reject_statistics(law, mutant, rng):
    with pytest.raises(AssertionError):
        law(mutant(edges=[[-3.0, 0.0, 1.0, 4.0]] * 3), rng)


class RoundedEdges(Histogram):
    """Bins as wide as the first block is: pieces do not make the whole."""

    def _bins(self, edges):
        return super()._bins(
            tuple(np.array([*axis[:-1], axis[-1] + 1e-3 * len(vars(self))]) for axis in edges)
        )

    def _learn(self, statistic):
        if hasattr(self, "statistic_"):
            statistic = self.statistic_
        super()._learn(statistic)


class WeightBlind(Histogram):
    """Chooses its bins as if all rows counted once."""

    def _fold(self, subject, X, y, sample_weight, **options):
        super()._fold(subject, X, y, sample_weight, **options)
        return super()._fold(subject, X, y, None, **options)


class OwnUnits(Histogram):
    """Bins one unit wide whatever the units."""

    def _bins(self, edges):
        return super()._bins(tuple(np.linspace(a[0] - 0.5, a[-1] + 0.5, len(a)) for a in edges))


@pytest.mark.parametrize(
    ("law", "make"),
    [
        (estimator_laws.pieces_make_the_whole, lambda: RoundedEdges([-1e3, 0.0, 4.0, 1e3])),
        (estimator_laws.weights_are_repetitions, lambda: WeightBlind("scott")),
        (estimator_laws.extreme_scales_change_the_scale_alone, lambda: OwnUnits(3)),
    ],
)
def test_laws_reject_estimators(law, make, rng):
    with pytest.raises((AssertionError, ValueError)):
        law(make(), rng)


def placed_by_arithmetic(x, edges):
    """Counts by arithmetic alone, as a naive histogram does."""
    n = len(edges) - 1
    place = np.minimum(((x - edges[0]) / (edges[-1] - edges[0]) * n).astype(int), n - 1)
    return np.bincount(place, minlength=n)


def test_arithmetic_alone_misplaces_numbers_on_edges():
    """The mutant that the test of edges is for: some edge of some grid goes to the wrong bin."""
    grids = [np.linspace(-1.0, 2.3, n + 1) for n in (7, 100, 1000)]
    wrong = [not np.array_equal(placed_by_arithmetic(e, e), np.histogram(e, e)[0]) for e in grids]
    assert any(wrong)
    for e in grids:
        np.testing.assert_array_equal(Bins(edges=[e]).of(e[:, None]).counts, np.histogram(e, e)[0])
