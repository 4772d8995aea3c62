"""The classic mistakes with counts, labels and samples, each rejected by a law."""

import numpy as np
import pytest

from tractable.arrays.saddle_point import count_deviance
from tractable.distributions import (
    BetaBinomial,
    Binomial,
    Categorical,
    DirichletMultinomial,
    Empirical,
    Multinomial,
    Poisson,
)
from tractable.statistics import Counts, Totals
from tractable.testing import density_laws, distribution_laws, statistic_laws
from tractable.value import value

SHARES = {"n_trials": 5, "probabilities": [0.5, 0.3, 0.2]}
TRIALS = {"n_trials": 12, "probability": 0.3}


class NoCoefficient(Multinomial):
    """Π μ_k^(n_k) alone: the probability of one order of the labels."""

    def _log_mass(self, x):
        return np.sum(x * np.log(self.probabilities), axis=-1)


class IndependentCounts(Multinomial):
    """Each count drawn by itself: nothing makes them add up."""

    def _sample(self, n, rng):
        return rng.binomial(5, self.probabilities, size=(n, 3)).astype(float)


class OneHotExponents(Multinomial):
    """N!/Π n_k! Π μ_k^(x_k) with x the code of one label: erratum E000-07."""

    def _log_mass(self, x):
        largest = np.log(self.probabilities)[np.argmax(x, axis=-1)]
        return super()._log_mass(x) - np.sum(x * np.log(self.probabilities), axis=-1) + largest


class StrictlyBelow(Binomial):
    """P(X < k) for P(X ≤ k)."""

    def cdf(self, x):
        return super().cdf(np.asarray(x) - 1)


class OneTooFar(Binomial):
    def icdf(self, q):
        return super().icdf(q) + 1


class TooNarrow(Binomial):
    def interval(self, coverage=0.9):
        low, high = super().interval(coverage)
        return low + 1, high - 1


class NormalEntropy(Binomial):
    def entropy(self):
        return 0.5 * np.log(2 * np.pi * np.e * self.variance)


class ForgetsTheTrials(Binomial):
    def kl_divergence(self, other):
        return super().kl_divergence(other) / self.n_trials


class MedianForMean(Poisson):
    @classmethod
    def fit(cls, X, sample_weight=None):
        assert sample_weight is None
        return cls(rate=np.median(X))


class TooSpreadOut(Poisson):
    def _sample(self, n, rng):
        return rng.poisson(rng.gamma(2.0, self.rate / 2.0, size=(n, *self.batch_shape))).astype(float)


class PlainDeviance(Poisson):
    """Without √(2πk): Stirling's formula without its root."""

    def _log_mass(self, k):
        return -count_deviance(k, self.rate)


class RoundedMode(Poisson):
    @property
    def mode(self):
        return np.ceil(self.rate)


class CountsFromOne(Categorical):
    """Labels 1, …, K."""

    def _sample(self, n, rng):
        return super()._sample(n, rng) + 1.0


class FirstLogits(Categorical):
    """A batch that looks all of its labels up in the first member."""

    def _log_mass(self, k):
        return np.log(self.probabilities.reshape(-1, self.n_classes)[0])[k.astype(int)]


class SquaredWeights(Categorical):
    @classmethod
    def fit(cls, X, sample_weight=None, *, n_classes=None):
        w = None if sample_weight is None else np.square(sample_weight)
        return super().fit(X, w, n_classes=n_classes)


class UnnormalisedNaN(Categorical):
    def __init__(self, *, probabilities):
        object.__setattr__(self, "given", "probabilities")
        object.__setattr__(self, "probabilities", np.asarray(probabilities))
        object.__setattr__(self, "logits", np.log(self.probabilities))


class OneShareForAll(BetaBinomial):
    """One probability drawn, and all draws made with it."""

    def _sample(self, n, rng):
        return rng.binomial(12, rng.beta(self.alpha, self.beta), size=n).astype(float)


class BinomialVariance(BetaBinomial):
    @property
    def variance(self):
        return self.mean * (1.0 - self.mean / self.n_trials)


class MultinomialCovariance(DirichletMultinomial):
    @property
    def covariance(self):
        p = self.expected_probabilities
        return self.n_trials * (np.diag(p) - np.outer(p, p))


class MomentsForLikelihood(BetaBinomial):
    """A fit that matches moments is near, and less likely."""

    @classmethod
    def fit(cls, X, sample_weight=None, *, n_trials):
        good = BetaBinomial.fit(X, sample_weight, n_trials=n_trials)
        return cls(n_trials=n_trials, alpha=2.0 * good.alpha, beta=2.0 * good.beta)


class TiesCountOnce(Empirical):
    def log_prob(self, x):
        return np.where(np.isneginf(super().log_prob(x)), -np.inf, np.log(1.0 / len(self.values)))


class UnbiasedVariance(Empirical):
    @property
    def variance(self):
        return super().variance * 12 / 11


class AlwaysInfinite(Poisson):
    def kl_divergence(self, other):
        return np.full(self.batch_shape, np.inf)


BETA = {"n_trials": 12, "alpha": 2.0, "beta": 3.0}
MUTANTS = [
    (density_laws.density_integrates_to_one, NoCoefficient(**SHARES)),
    (density_laws.density_integrates_to_one, OneHotExponents(**SHARES)),
    (density_laws.density_integrates_to_one, PlainDeviance(rate=3.5)),
    (density_laws.density_integrates_to_one, TiesCountOnce(values=[1.0, 1.0, 2.0])),
    (density_laws.mode_has_the_greatest_density, RoundedMode(rate=3.5)),
    (density_laws.icdf_inverts_cdf, OneTooFar(**TRIALS)),
    (density_laws.cdf_is_the_integral_of_prob, StrictlyBelow(**TRIALS)),
    (density_laws.intervals_hold_their_coverage, TooNarrow(**TRIALS)),
    (distribution_laws.samples_match_mean_and_variance, TooSpreadOut(rate=3.5)),
    (distribution_laws.samples_match_mean_and_variance, BinomialVariance(**BETA)),
    (distribution_laws.samples_match_mean_and_variance, CountsFromOne(probabilities=[0.2, 0.5, 0.3])),
    (
        distribution_laws.samples_match_mean_and_variance,
        UnbiasedVariance(values=np.arange(24.0).reshape(12, 2)),
    ),
    (distribution_laws.samples_match_covariance, IndependentCounts(**SHARES)),
    (
        distribution_laws.samples_match_covariance,
        MultinomialCovariance(n_trials=6, concentration=[1.0, 2.0, 0.5]),
    ),
    (distribution_laws.samples_follow_the_cdf, StrictlyBelow(**TRIALS)),
    (distribution_laws.draws_are_independent, OneShareForAll(**BETA)),
    (distribution_laws.entropy_is_the_expected_negative_log_prob, NormalEntropy(n_trials=2, probability=0.1)),
    (distribution_laws.kl_is_the_expected_log_ratio, ForgetsTheTrials(n_trials=12, probability=[0.3, 0.7])),
    (distribution_laws.kl_is_the_expected_log_ratio, AlwaysInfinite(rate=[1.0, 2.0])),
    (distribution_laws.fit_is_the_most_likely, MedianForMean(rate=0.6)),
    (distribution_laws.fit_is_the_most_likely, MomentsForLikelihood(**BETA)),
    (distribution_laws.weights_of_fit_are_repetitions, SquaredWeights(probabilities=[0.2, 0.5, 0.3])),
    (distribution_laws.batch_is_a_loop, FirstLogits(probabilities=[[0.2, 0.8], [0.7, 0.3]])),
    (distribution_laws.nan_parameters_are_refused, UnnormalisedNaN(probabilities=np.array([0.2, 0.8]))),
]


@pytest.mark.spec("E000-07")
@pytest.mark.parametrize(("law", "broken"), MUTANTS)
def test_laws_of_counts_have_power(law, broken, rng):
    with pytest.raises(AssertionError):
        law(broken, rng)


@value
class RawCounts:
    """Counts with one bug switched on in each mutant below."""

    counts: np.ndarray

    @classmethod
    def of(cls, x, weights=None):
        return cls(counts=Counts.of(x, weights).counts)

    @classmethod
    def empty(cls, dim):
        return cls(counts=np.zeros((dim, 0)))

    def __add__(self, other):
        return type(self)(counts=(Counts(counts=self.counts) + Counts(counts=other.counts)).counts)

    def discount(self, rate):
        return type(self)(counts=Counts(counts=self.counts).discount(rate).counts)


class SharesInPlaceOfCounts(RawCounts):
    @classmethod
    def of(cls, x, weights=None):
        counts = Counts.of(x, weights).counts
        return cls(counts=counts / np.maximum(counts.sum(axis=-1, keepdims=True), 1.0))


class DropsNewClasses(RawCounts):
    """Keeps the categories of the left operand."""

    def __add__(self, other):
        both = super().__add__(other).counts
        return type(self)(counts=both[..., : max(1, self.counts.shape[-1])])


class SeesRowsOfNoWeight(RawCounts):
    """The number of categories depends on rows that do not count."""

    @classmethod
    def of(cls, x, weights=None):
        found = Counts.of(x, weights)
        return cls(counts=found.padded(int(np.max(x, initial=-1)) + 1).counts)


class MixesColumns(RawCounts):
    def __add__(self, other):
        wide = max(len(self.counts), len(other.counts))
        grown = (np.resize(s.counts, (wide, s.counts.shape[-1])) for s in (self, other))
        one, two = (Counts(counts=c) for c in grown)
        return type(self)(counts=(one + two).counts)


@value
class IgnoresWeights(Totals):
    @classmethod
    def of(cls, x, weights=None):
        good = Totals.of(x)
        return cls(weight=good.weight, total=good.total)

    def __add__(self, other):
        return IgnoresWeights(weight=self.weight + other.weight, total=self.total + other.total)


def labels(rng, shape):
    """The last label is in the first row alone."""
    x = rng.integers(0, 3, shape)
    x[0] = 4
    return x


STATISTIC_MUTANTS = [
    (statistic_laws.sum_is_the_statistic_of_both, SharesInPlaceOfCounts),
    (statistic_laws.addition_is_commutative, DropsNewClasses),
    (statistic_laws.weights_are_repetitions, SeesRowsOfNoWeight),
    (statistic_laws.other_widths_do_not_merge, MixesColumns),
    (statistic_laws.weights_are_repetitions, IgnoresWeights),
    (statistic_laws.weights_are_checked, IgnoresWeights),
]


def few_then_many(rng, shape):
    """The first block has fewer categories than the second."""
    return np.full(shape, 1 if shape[0] == 7 else 4)


@pytest.mark.parametrize(("law", "broken"), STATISTIC_MUTANTS)
def test_laws_of_statistics_of_counts_have_power(law, broken, rng):
    draw = few_then_many if broken is DropsNewClasses else labels
    with pytest.raises(AssertionError):
        law(statistic_laws.StatisticOfRows(statistic=broken, draw=draw), rng)
    law(statistic_laws.StatisticOfRows(statistic=Counts, draw=draw), rng)
