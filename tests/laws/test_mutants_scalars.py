"""Classic bugs of the continuous families, planted: a law must reject each."""

import numpy as np
import pytest

from tractable.distributions import (
    Beta,
    Exponential,
    Gamma,
    Geometric,
    InverseGamma,
    Laplace,
    LogNormal,
    Pareto,
    StudentT,
    Uniform,
    VonMises,
    Weibull,
)
from tractable.statistics import Directions, Extremes, LogExcess, LogMoments
from tractable.testing import density_laws, distribution_laws, statistic_laws
from tractable.testing.statistic_laws import StatisticOfRows

GAMMA = {"shape": 3.0, "rate": 2.0}
SHARE = {"alpha": 2.0, "beta": 5.0}
STUDENT = {"dof": 9.0, "location": 1.0, "scale": 2.0}


class RateAsScale(Gamma):
    def _sample(self, n, rng):
        return rng.standard_gamma(self.shape, size=(n, *self.batch_shape)) * self.rate


class RoughShape(Gamma):
    """Likelier than the truth, but not the likeliest."""

    @classmethod
    def fit(cls, X, sample_weight=None):
        right = Gamma.fit(X, sample_weight)
        return cls(shape=1.01 * right.shape, rate=right.rate)


class OddsForMean(Beta):
    """α/β as the mean: erratum E000-05."""

    @property
    def mean(self):
        return self.alpha / self.beta


class PrintsItsAnswers(Beta):
    """Prints what it knows, not what it takes."""

    def __repr__(self):
        return f"PrintsItsAnswers(mean={self.mean!r}, variance={self.variance!r})"


class ModeInTheMiddle(Beta):
    """(α - 1) / (α + β - 2) whatever α and β: erratum E000-06."""

    @property
    def mode(self):
        return (self.alpha - 1.0) / (self.alpha + self.beta - 2.0)


class NoConstant(Beta):
    def log_prob(self, x):
        return (self.alpha - 1.0) * np.log(x) + (self.beta - 1.0) * np.log1p(-np.asarray(x))


class PrecisionAsScale(StudentT):
    def log_prob(self, x):
        return StudentT(dof=self.dof, location=self.location, scale=self.precision).log_prob(x)


class NormalVariance(StudentT):
    """scale² for the variance, without ν / (ν - 2)."""

    @property
    def variance(self):
        return self.scale**2


class DofAndOne(StudentT):
    """The exponent ν/2 in place of (ν + 1)/2."""

    def log_prob(self, x):
        z = (np.asarray(x) - self.location) / self.scale
        return super().log_prob(x) + 0.5 * np.log1p(z * z / self.dof)


class JacobianForgotten(InverseGamma):
    """The density of 1/x, without 1/x²."""

    def log_prob(self, x):
        return super().log_prob(x) + 2.0 * np.log(x)


class KLOfReciprocalRates(InverseGamma):
    def kl_divergence(self, other):
        mine, theirs = (Gamma(shape=d.shape, scale=d.scale) for d in (self, other))
        return mine.kl_divergence(theirs)


class DeviationAsScale(Laplace):
    @classmethod
    def fit(cls, X, sample_weight=None):
        right = super().fit(X, sample_weight)
        spread = np.average((X - right.location) ** 2, axis=0, weights=sample_weight)
        return cls(location=right.location, scale=np.sqrt(spread))


class ScaleIsDeviation(Laplace):
    @property
    def variance(self):
        return self.scale**2


class OneLessCdf(Laplace):
    def survival(self, x):
        return 1.0 - self.cdf(x)


class QuantilesOfTheFirst(Laplace):
    """One scale for the whole batch."""

    def icdf(self, q):
        first = Laplace(location=self.location, scale=np.full_like(self.scale, self.scale.flat[0]))
        return first.icdf(q)


class DoubleInside(Laplace):
    def survival(self, x):
        return super().survival(x).astype(np.float64)


class WholeWidth(Laplace):
    """exp(-|x - μ| / b) / b, without the ½."""

    def log_prob(self, x):
        return super().log_prob(x) + np.log(2.0)


class OpenForever(Uniform):
    def log_prob(self, x):
        return 0.0 * np.asarray(x) - self.entropy()


class FiniteKL(Uniform):
    def kl_divergence(self, other):
        return np.abs(other.entropy() - self.entropy())


class ZerosCount(Extremes):
    @classmethod
    def of(cls, x, weights=None):
        plain, counted = Extremes.of(x), Extremes.of(x, weights)
        return cls(weight=counted.weight, low=plain.low, high=plain.high)


class GapsAlone(LogMoments):
    """Merges gaps as if both blocks had one mean."""

    def __add__(self, other):
        right = LogMoments.__add__(self, other)
        share = other.weight / (right.weight or 1.0)
        return type(self)(weight=right.weight, mean=right.mean, gap=self.gap + share * (other.gap - self.gap))


def positive(rng, shape):
    return rng.gamma(2.0, size=shape)


class ClampedQuantiles(StudentT):
    """Quantiles that end where the square of t does."""

    def icdf(self, q):
        return np.clip(super().icdf(q), -1e20, 1e20)


class QuantilesThatVanish(Beta):
    """Quantiles that are zero before there is need."""

    def icdf(self, q):
        x = super().icdf(q)
        return np.where(x < 1e-20, 0.0, x)


class TrialsForFailures(Geometric):
    """The mean number of trials, 1/p."""

    @property
    def mean(self):
        return 1.0 / self.probability


class MedianForMean(LogNormal):
    @property
    def mean(self):
        return np.exp(self.log_mean)


class DensityOfTheLogarithm(LogNormal):
    """N(log x | μ, σ²), without 1/x."""

    def log_prob(self, x):
        return super().log_prob(x) + np.log(x)


class MeanPower(Weibull):
    """λ fitted by the mean of x, which holds for k = 1 alone."""

    @classmethod
    def fit(cls, X, sample_weight=None):
        right = super().fit(X, sample_weight)
        return cls(shape=right.shape, scale=np.average(X, axis=0, weights=sample_weight))


class ThresholdForgotten(Pareto):
    """The divergence of the exponential distributions of log x/m alone."""

    def _divergence(self, other):
        return Exponential(rate=self.shape).kl_divergence(Exponential(rate=other.shape))


class ExcessAlone(LogExcess):
    """Merges mean excesses as if both blocks had one least entry."""

    def _merged(self, other):
        right = super()._merged(other)
        fraction = other.weight / (right.weight or 1.0)
        mean = self.mean + fraction * (other.mean - self.mean)
        return type(self)(weight=right.weight, low=right.low, mean=mean)


class UnderflowingTail(Gamma):
    """Takes the logarithm of a probability that underflows."""

    def log_cdf(self, x):
        with np.errstate(divide="ignore"):
            return np.log(np.maximum(self.cdf(x), 1e-300))


class OneLessQuantile(Laplace):
    """Finds the quantile from above as that of 1 - q."""

    def isf(self, q):
        return self.icdf(1.0 - np.asarray(q))


class DirectionsAveraged(Directions):
    """Averages directions as numbers, and their variances as they are."""

    def _merged(self, other):
        weight = self.weight + other.weight
        part = other.weight / (weight or 1.0)
        mean = [(1.0 - part) * a + part * b for a, b in zip(*map(_pair, (self, other)), strict=True)]
        return type(self)(weight=weight, direction=mean[0], variance=mean[1])


def _pair(s):
    return s.direction, s.variance


def angles(rng, n):
    return rng.vonmises(3.0, 1.0, size=n)


class PeriodForgotten(VonMises):
    """Spreads the angles as a normal distribution does."""

    @property
    def variance(self):
        return 1.0 / self.concentration


MUTANTS = [
    (density_laws.log_tails_are_logarithms, UnderflowingTail(shape=200.0, rate=1.0)),
    (density_laws.isf_inverts_survival, OneLessQuantile(location=1.0, scale=2.0)),
    (distribution_laws.samples_match_mean_and_variance, PeriodForgotten(location=0.0, concentration=1.0)),
    (statistic_laws.sum_is_the_statistic_of_both, StatisticOfRows(statistic=DirectionsAveraged, draw=angles)),
    (distribution_laws.samples_match_mean_and_variance, TrialsForFailures(probability=0.25)),
    (distribution_laws.samples_match_mean_and_variance, MedianForMean(log_mean=1.0, log_variance=0.25)),
    (density_laws.density_integrates_to_one, DensityOfTheLogarithm(log_mean=1.0, log_variance=0.25)),
    (distribution_laws.fit_is_the_most_likely, MeanPower(shape=2.0, scale=3.0)),
    (distribution_laws.kl_is_the_expected_log_ratio, ThresholdForgotten(shape=[9.0, 5.0], scale=[2.0, 1.0])),
    (density_laws.icdf_inverts_cdf, ClampedQuantiles(**STUDENT)),
    (density_laws.icdf_inverts_cdf, QuantilesThatVanish(**SHARE)),
    (distribution_laws.samples_match_mean_and_variance, RateAsScale(**GAMMA)),
    (distribution_laws.samples_match_mean_and_variance, OddsForMean(**SHARE)),
    (distribution_laws.repr_rebuilds, PrintsItsAnswers(**SHARE)),
    (density_laws.mode_has_the_greatest_density, ModeInTheMiddle(alpha=0.7, beta=0.9)),
    (density_laws.density_integrates_to_one, NoConstant(**SHARE)),
    (density_laws.cdf_is_the_integral_of_prob, PrecisionAsScale(**STUDENT)),
    (distribution_laws.samples_match_mean_and_variance, NormalVariance(**STUDENT)),
    (density_laws.density_integrates_to_one, DofAndOne(**STUDENT)),
    (distribution_laws.entropy_is_the_expected_negative_log_prob, DofAndOne(**STUDENT)),
    (density_laws.density_integrates_to_one, JacobianForgotten(shape=9.0, scale=4.0)),
    (distribution_laws.kl_is_the_expected_log_ratio, KLOfReciprocalRates(shape=[9.0, 3.0], scale=[4.0, 1.0])),
    (distribution_laws.fit_is_the_most_likely, RoughShape(**GAMMA)),
    (distribution_laws.fit_is_the_most_likely, DeviationAsScale(location=1.0, scale=2.0)),
    (distribution_laws.samples_match_mean_and_variance, ScaleIsDeviation(location=1.0, scale=2.0)),
    (density_laws.density_integrates_to_one, WholeWidth(location=1.0, scale=2.0)),
    (density_laws.cdf_is_the_integral_of_prob, WholeWidth(location=1.0, scale=2.0)),
    (distribution_laws.batch_is_a_loop, QuantilesOfTheFirst(location=0.0, scale=[1.0, 2.0])),
    (distribution_laws.float32_gives_float32, DoubleInside(location=1.0, scale=2.0)),
    (density_laws.survival_falls_by_prob, OneLessCdf(location=1.0, scale=2.0)),
    (distribution_laws.kl_is_the_expected_log_ratio, OpenForever(low=0.0, high=1.0)),
    (distribution_laws.kl_is_the_expected_log_ratio, FiniteKL(low=[0.0, 0.5], high=[1.0, 2.0])),
    (
        distribution_laws.stddev_is_the_root_of_variance,
        type("Mutant", (Gamma,), {"stddev": Gamma.variance})(**GAMMA),
    ),
    (statistic_laws.weights_are_repetitions, ZerosCount),
    (statistic_laws.sum_is_the_statistic_of_both, StatisticOfRows(statistic=GapsAlone, draw=positive)),
    (statistic_laws.sum_is_the_statistic_of_both, StatisticOfRows(statistic=ExcessAlone, draw=positive)),
]


@pytest.mark.spec("E000-05", "E000-06")
@pytest.mark.parametrize(("law", "broken"), MUTANTS)
def test_laws_reject_the_bugs_of_these_families(law, broken, rng):
    with pytest.raises(AssertionError):
        law(broken, rng)
