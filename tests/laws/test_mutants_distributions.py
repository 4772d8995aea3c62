"""A law that cannot fail is not a law: each must reject a planted bug."""

from functools import partial

import numpy as np
import pytest

from tractable.covariance import Diagonal
from tractable.distributions import MultivariateNormal, Normal
from tractable.distributions.vectors import taken
from tractable.testing import density_laws, distribution_laws, joint_laws

NORMAL = {"mean": 1.0, "variance": 4.0}
GAUSSIAN = {"mean": [1.0, -2.0, 0.5], "covariance": [[4.0, 1.2, 0.0], [1.2, 1.0, -0.3], [0.0, -0.3, 0.5]]}
PAIR = {"mean": [1.0, -2.0], "covariance": [[2.0, 0.6], [0.6, 1.0]]}


class VarianceAsScale(Normal):
    def _sample(self, n, rng):
        return self.mean + self.variance * rng.standard_normal((n, *self.batch_shape))


class OneDrawForAll(Normal):
    def _sample(self, n, rng):
        return self.mean + self.stddev * rng.standard_normal(n).reshape((n,) + (1,) * len(self.batch_shape))


class DrawsInPairs(Normal):
    def _sample(self, n, rng):
        return np.repeat(super()._sample(n // 2 + 1, rng), 2, axis=0)[:n]


class GlobalState(Normal):
    def _sample(self, n, rng):
        return super()._sample(n, np.random.default_rng())


class UniformDraws(Normal):
    """The right mean and variance, the wrong distribution."""

    def _sample(self, n, rng):
        return self.mean + self.stddev * rng.uniform(-(3**0.5), 3**0.5, size=(n, *self.batch_shape))


class NoConstant(Normal):
    def log_prob(self, x):
        return super().log_prob(x) + 0.5 * np.log(2.0 * np.pi)


class EntropyInBits(Normal):
    def entropy(self):
        return super().entropy() / np.log(2.0)


class BackwardKL(Normal):
    def kl_divergence(self, other):
        return Normal(mean=other.mean, variance=other.variance).kl_divergence(
            Normal(mean=self.mean, variance=self.variance)
        )


class HalfKL(Normal):
    def kl_divergence(self, other):
        return 0.5 * super().kl_divergence(other) + 0.01


class ScaleForgottenInCdf(Normal):
    def cdf(self, x):
        return super().cdf(self.mean + (np.asarray(x) - self.mean) * 1.05)


class DecreasingCdf(Normal):
    def cdf(self, x):
        return 1.0 - super().cdf(x)


class OneTail(Normal):
    def interval(self, coverage=0.9):
        return self.icdf(1.0 - coverage), self.icdf(coverage)


class ModeIsOff(Normal):
    @property
    def mode(self):
        return self.mean + self.stddev


class NotTheMostLikely(Normal):
    @classmethod
    def fit(cls, X, sample_weight=None):
        return super().fit(X, sample_weight, ddof=20.0)


class WeightsSquared(Normal):
    @classmethod
    def fit(cls, X, sample_weight=None):
        return super().fit(X, None if sample_weight is None else np.square(sample_weight))


class BatchAxisSummed(Normal):
    def log_prob(self, x):
        found = super().log_prob(x)
        return found.sum(axis=-1, keepdims=True) if self.batch_shape else found


class NeedsAMember(Normal):
    def entropy(self):
        return super().entropy() + 0.0 * np.max(self.mean)


class FirstOfTheBatch(Normal):
    def __getitem__(self, index):
        return Normal(mean=self.mean.flat[0], variance=self.variance.flat[0])


class DoublePrecision(Normal):
    def log_prob(self, x):
        return np.float64(1.0) * np.asarray(super().log_prob(x), dtype=np.float64)


class ForgetsOnPickling(Normal):
    def __reduce__(self):
        return partial(ForgetsOnPickling, mean=0.0, variance=1.0), ()


class Writable(Normal):
    def __init__(self, **given):
        super().__init__(**given)
        object.__setattr__(self, "mean", np.array(self.mean))


class TakesAnything(Normal):
    def __init__(self, *, mean, variance):
        object.__setattr__(self, "mean", np.asarray(mean))
        object.__setattr__(self, "variance", np.asarray(variance))


class WritesToItsArgument(Normal):
    def log_prob(self, x):
        x = np.asarray(x)
        if x.flags.writeable:
            x -= self.mean
            return super().log_prob(x + self.mean)
        return super().log_prob(x)


class WrongShape(Normal):
    def _sample(self, n, rng):
        return super()._sample(n, rng)[..., None]


class NoEntropy(Normal):
    @property
    def entropy(self):
        raise AttributeError


class LinearProb(Normal):
    def prob(self, x):
        return 1.0 + self.log_prob(x)


class StddevIsVariance(Normal):
    @property
    def stddev(self):
        return self.variance


class IgnoresBadCounts(Normal):
    def sample(self, n_samples=1, *, rng=None):
        return super().sample(max(int(n_samples), 0), rng=rng)


class NoBroadcast(Normal):
    def log_prob(self, x):
        x = np.asarray(x)
        return super().log_prob(x.reshape((*x.shape[:1], -1)).mean(axis=1) if x.ndim > 1 else x)


class WrongSignOfGain(MultivariateNormal):
    """The conditional mean μ_a - Σ_ab Σ_bb⁻¹ (x_b - μ_b) of the slides: erratum E003-05."""

    def condition(self, dims, values):
        right = super().condition(dims, values)
        rest = [i for i in range(self.dim) if i not in dims]
        return MultivariateNormal(mean=2.0 * taken(self.mean, rest) - right.mean, covariance=right.structure)


class DividesByTheWrongMarginal(MultivariateNormal):
    """p(x_a, x_b) / p(x_a) in place of p(x_a, x_b) / p(x_b): erratum E003-02."""

    def condition(self, dims, values):
        right, joint = super().condition(dims, values), self
        rest = [i for i in range(self.dim) if i not in dims]

        class Ratio:
            def log_prob(self, x):
                whole = np.empty((*x.shape[:-1], joint.dim))
                whole[..., rest], whole[..., dims] = x, values
                return joint.log_prob(whole) - joint.marginal(rest).log_prob(x)

        return Ratio() if rest and len(dims) else right


class ConditionalKeepsItsVariance(MultivariateNormal):
    def condition(self, dims, values):
        right = super().condition(dims, values)
        rest = [i for i in range(self.dim) if i not in dims]
        return MultivariateNormal(mean=right.mean, covariance=self.structure.marginal(rest))


class WholeLogDet(MultivariateNormal):
    """The log-determinant without its ½."""

    def _log_density(self, x):
        return super()._log_density(x) - 0.5 * self.structure.log_det

    def log_prob(self, x):
        return super().log_prob(x) - 0.5 * self.structure.log_det


class ImputesTheMean(MultivariateNormal):
    def log_prob(self, x):
        return super().log_prob(np.where(np.isnan(x), self.mean, x))


class ProductWithoutScale(MultivariateNormal):
    def product(self, other):
        both, log_scale = super().product(other)
        return both, 0.0 * log_scale


class AddsDeviations(MultivariateNormal):
    def __add__(self, other):
        covariance = Diagonal(variances=(self.stddev + other.stddev) ** 2)
        return MultivariateNormal(mean=self.mean + other.mean, covariance=covariance)


class MapsOnce(MultivariateNormal):
    def affine(self, A, b=None, *, names=None):
        right = super().affine(A, b)
        return MultivariateNormal(mean=right.mean, covariance=right.structure.scaled(2.0))


class AxesInColumns(MultivariateNormal):
    def principal_axes(self):
        axes, variances = super().principal_axes()
        return np.swapaxes(axes, -1, -2), variances


class PrecisionOnTheAxes(MultivariateNormal):
    """diag(1/λ) as the covariance along the principal axes: erratum E000-09."""

    def principal_axes(self):
        axes, variances = super().principal_axes()
        return axes, 1.0 / variances


class SquaredDistance(MultivariateNormal):
    """The squared form called the distance: erratum E000-08."""

    def mahalanobis(self, x, *, squared=False):
        return super().mahalanobis(x, squared=True)


class DropsTheOrder(MultivariateNormal):
    def marginal(self, dims):
        return super().marginal(sorted(dims))


class CovarianceAsPrecision(MultivariateNormal):
    @property
    def precision(self):
        return self.covariance


class ForgetsOne(MultivariateNormal):
    def condition(self, dims, values):
        if not len(dims):
            return MultivariateNormal(mean=self.mean + 1.0, covariance=self.structure)
        return super().condition(dims, values)


class StepsGoAstray(MultivariateNormal):
    """Right at once, wrong in steps: the conditional forgets what it was conditioned on."""

    def condition(self, dims, values):
        right = super().condition(dims, values)
        if len(dims) > 1:
            return right
        return type(self)(mean=right.mean, covariance=right.structure.scaled(1.1))


class UncorrelatedDraws(MultivariateNormal):
    def _sample(self, n, rng):
        return self.mean + self.stddev * rng.standard_normal((n, *self.batch_shape, self.dim))


BATCH = {"mean": [0.0, 3.0], "variance": [1.0, 0.25]}
DISTRIBUTION_MUTANTS = [
    (distribution_laws.has_the_common_names, NoEntropy(**NORMAL)),
    (distribution_laws.shapes_are_sample_batch_event, WrongShape(**NORMAL)),
    (distribution_laws.empty_batches_give_empty_results, NeedsAMember(**NORMAL)),
    (distribution_laws.stddev_is_the_root_of_variance, StddevIsVariance(**NORMAL)),
    (distribution_laws.prob_is_exp_of_log_prob, LinearProb(**NORMAL)),
    (distribution_laws.batch_is_a_loop, BatchAxisSummed(**BATCH)),
    (distribution_laws.batch_is_a_loop, FirstOfTheBatch(**BATCH)),
    (distribution_laws.arguments_broadcast, NoBroadcast(**NORMAL)),
    (distribution_laws.seeds_reproduce, GlobalState(**NORMAL)),
    (distribution_laws.survives_pickling_and_copying, ForgetsOnPickling(**NORMAL)),
    (distribution_laws.cannot_be_changed, Writable(**NORMAL)),
    (distribution_laws.arguments_are_left_alone, WritesToItsArgument(**NORMAL)),
    (distribution_laws.float32_gives_float32, DoublePrecision(**NORMAL)),
    (distribution_laws.nan_parameters_are_refused, TakesAnything(**NORMAL)),
    (distribution_laws.bad_arguments_are_refused, IgnoresBadCounts(**NORMAL)),
    (density_laws.density_integrates_to_one, NoConstant(**NORMAL)),
    (density_laws.density_integrates_to_one, WholeLogDet(**PAIR)),
    (density_laws.mode_has_the_greatest_density, ModeIsOff(**NORMAL)),
    (density_laws.cdf_is_monotone, DecreasingCdf(**NORMAL)),
    (density_laws.icdf_inverts_cdf, ScaleForgottenInCdf(**NORMAL)),
    (density_laws.cdf_is_the_integral_of_prob, ScaleForgottenInCdf(**NORMAL)),
    (density_laws.intervals_hold_their_coverage, OneTail(**NORMAL)),
    (distribution_laws.samples_match_mean_and_variance, VarianceAsScale(**NORMAL)),
    (distribution_laws.samples_match_covariance, UncorrelatedDraws(**PAIR)),
    (distribution_laws.samples_follow_the_cdf, UniformDraws(**NORMAL)),
    (distribution_laws.draws_are_independent, DrawsInPairs(**NORMAL)),
    (distribution_laws.draws_are_independent, OneDrawForAll(**BATCH)),
    (distribution_laws.entropy_is_the_expected_negative_log_prob, EntropyInBits(**NORMAL)),
    (distribution_laws.kl_vanishes_on_itself, HalfKL(**NORMAL)),
    (distribution_laws.kl_is_the_expected_log_ratio, BackwardKL(**BATCH)),
    (distribution_laws.fit_is_the_most_likely, NotTheMostLikely(**NORMAL)),
    (distribution_laws.weights_of_fit_are_repetitions, WeightsSquared(**NORMAL)),
]
GAUSSIAN_MUTANTS = [
    (joint_laws.chain_rule_holds, WrongSignOfGain(**GAUSSIAN)),
    (joint_laws.chain_rule_holds, DividesByTheWrongMarginal(**GAUSSIAN)),
    (joint_laws.chain_rule_holds, ConditionalKeepsItsVariance(**GAUSSIAN)),
    (joint_laws.chain_rule_holds, WholeLogDet(**GAUSSIAN)),
    (joint_laws.conditioning_in_steps_is_conditioning_at_once, StepsGoAstray(**GAUSSIAN)),
    (joint_laws.condition_on_nothing_changes_nothing, ForgetsOne(**GAUSSIAN)),
    (joint_laws.marginal_of_marginal_is_marginal, DropsTheOrder(**GAUSSIAN)),
    (joint_laws.missing_entries_are_marginalised, ImputesTheMean(**GAUSSIAN)),
    (joint_laws.affine_maps_move_the_density, MapsOnce(**GAUSSIAN)),
    (joint_laws.products_hold_pointwise, ProductWithoutScale(**GAUSSIAN)),
    (joint_laws.sums_add_means_and_covariances, AddsDeviations(**GAUSSIAN)),
    (joint_laws.principal_axes_decorrelate, AxesInColumns(**GAUSSIAN)),
    (joint_laws.principal_axes_decorrelate, PrecisionOnTheAxes(**GAUSSIAN)),
    (joint_laws.mahalanobis_is_in_the_density, SquaredDistance(**GAUSSIAN)),
    (joint_laws.precision_inverts_covariance, CovarianceAsPrecision(**GAUSSIAN)),
]


@pytest.mark.spec("E003-02", "E003-05")
@pytest.mark.parametrize(("law", "broken"), DISTRIBUTION_MUTANTS + GAUSSIAN_MUTANTS)
def test_laws_of_distributions_have_power(law, broken, rng):
    with pytest.raises(AssertionError):
        law(broken, rng)


def test_every_law_has_a_mutant():
    tried = {law for law, _ in DISTRIBUTION_MUTANTS + GAUSSIAN_MUTANTS}
    laws = {*distribution_laws.VALUE_LAWS, *density_laws.DENSITY_LAWS, *distribution_laws.SAMPLE_LAWS}
    assert {law.__name__ for law in (laws | set(joint_laws.GAUSSIAN_LAWS)) - tried} == set()
