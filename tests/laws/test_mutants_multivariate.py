"""The laws must reject the classic bugs of vectors, matrices and pairs."""

import numpy as np
import pytest

from tractable import (
    Dirichlet,
    InverseWishart,
    MultivariateLaplace,
    MultivariateStudentT,
    NormalGamma,
    NormalWishart,
    Wishart,
)
from tractable.arrays.gamma import gammaln, multigammaln
from tractable.distributions import MeanPrecision
from tractable.testing import density_laws, distribution_laws, joint_laws
from tractable.value import parameters

W = [[2.0, 0.6], [0.6, 1.0]]
SHARES = {"concentration": [4.0, 2.0, 1.5]}
MATRIX = {"dof": 8.0, "scale": W}
VECTOR = {"dof": 9.0, "location": [1.0, -2.0, 0.5], "scale": np.eye(3) + 0.5}
NUMBERS = {"mean": 1.0, "strength": 2.0, "shape": 6.0, "rate": 3.0}
PAIR = {"mean": [1.0, -1.0], "strength": 2.0, "dof": 12.0, "scale": W}


class GammaOfOneDimension(Wishart):
    """Γ(ν/2)^d in place of Γ_d(ν/2)."""

    def log_prob(self, x):
        half = 0.5 * self.dof
        return super().log_prob(x) + multigammaln(half, self.dim) - self.dim * gammaln(half)


class SameDofForEveryRow(Wishart):
    """Bartlett's factor with ν degrees of freedom on every row of the diagonal."""

    def _sample(self, n, rng):
        root = np.sqrt(rng.chisquare(self.dof, size=(n, self.dim)))[..., None] * np.eye(self.dim)
        lower = self.cholesky @ (root + np.tril(rng.standard_normal((n, self.dim, self.dim)), -1))
        return lower @ np.swapaxes(lower, -1, -2)


class ScaleIsTheMean(Wishart):
    @property
    def mean(self):
        return self.scale


class ScaleInvertedInTheTrace(Wishart):
    def log_prob(self, x):
        flipped = Wishart(dof=self.dof, scale=np.linalg.inv(self.scale))
        return flipped.log_prob(x)


class IndependentEntries(Wishart):
    """ν W_ii W_jj for every entry: the square of W_ij forgotten."""

    @property
    def variance(self):
        diagonal = np.diagonal(self.scale)
        return self.dof * np.outer(diagonal, diagonal)


class DofOfTheWishart(InverseWishart):
    @property
    def mean(self):
        return self.scale / self.dof


class VolumeForgotten(InverseWishart):
    """The Wishart density of the inverse, without the change of volume."""

    def log_prob(self, x):
        return super().log_prob(x) + (self.dim + 1) * np.linalg.slogdet(x)[1]


class NotNormalised(Dirichlet):
    def log_prob(self, x):
        return super().log_prob(x) - gammaln(self.strength)


class MeanIsTheMode(Dirichlet):
    @property
    def mode(self):
        return self.mean


class DrawsNotShared(Dirichlet):
    def _sample(self, n, rng):
        return np.sqrt(super()._sample(n, rng))


class PseudocountsFitted(Dirichlet):
    """The fit of moments that counts rows twice."""

    @classmethod
    def fit(cls, X, sample_weight=None):
        return cls(concentration=2.0 * Dirichlet.fit(X, sample_weight).concentration)


class CovarianceAsScale(MultivariateStudentT):
    @property
    def variance(self):
        return np.diagonal(self.scale)


class OneGammaForEachEntry(MultivariateStudentT):
    """Independent scales: each coordinate is right, the vector is not."""

    def _sample(self, n, rng):
        noise = self.structure.color(rng.standard_normal((n, self.dim)))
        scale = rng.chisquare(self.dof, size=(n, self.dim)) / self.dof
        return self.location + noise / np.sqrt(scale)


class ConditionsAsANormal(MultivariateStudentT):
    """Conditional location right, the scale not inflated by the surprise."""

    def condition(self, dims, values=None):
        right = super().condition(dims, values)
        _, structure = self.structure.condition(dims)
        return MultivariateStudentT(dof=right.dof, location=right.location, scale=structure)


class DofStays(MultivariateStudentT):
    def condition(self, dims, values=None):
        right = super().condition(dims, values)
        return MultivariateStudentT(dof=self.dof, location=right.location, scale=right.structure)


class MarginalLosesTails(MultivariateStudentT):
    def marginal(self, dims):
        right = super().marginal(dims)
        return MultivariateStudentT(
            dof=right.dof + self.dim - right.dim, location=right.location, scale=right.structure
        )


class OneOverTwoB(MultivariateLaplace):
    """The constant of one dimension in every dimension: erratum E000-14."""

    @property
    def log_peak(self):
        return -np.log(2.0 * self.scale)


class MeanNormIsTheScale(MultivariateLaplace):
    """b = mean norm, not divided by d."""

    @classmethod
    def fit(cls, X, sample_weight=None, *, norm="l2"):
        right = super().fit(X, sample_weight, norm=norm)
        return cls(location=right.location, scale=right.dim * right.scale, norm=norm)


class CoordinatesForTheRound(MultivariateLaplace):
    """Independent coordinates drawn for the Euclidean norm."""

    def _sample(self, n, rng):
        return self.location + self.scale[..., None] * rng.laplace(size=(n, *self.batch_shape, self.dim))


class PrecisionAsVariance(NormalGamma):
    def _sample(self, n, rng):
        x = super()._sample(n, rng)
        gap = rng.standard_normal(n) * np.sqrt(x.precision / self.strength)
        return MeanPrecision(mean=self.location + gap, precision=x.precision)


class PartsDrawnApart(NormalGamma):
    """Mean and precision each right, but drawn apart: their joint density is not."""

    def _sample(self, n, rng):
        x = super()._sample(n, rng)
        return MeanPrecision(mean=x.mean, precision=np.roll(x.precision, 1, axis=0))


class ModeOfTheMarginal(NormalGamma):
    """(α - 1)/β, the mode of the precision by itself."""

    @property
    def mode(self):
        return MeanPrecision(mean=self.location, precision=(self.shape - 1.0) / self.rate)


class GlobalPrecisions(NormalWishart):
    def _sample(self, n, rng):
        return super()._sample(n, np.random.default_rng())


class BackwardPair(NormalWishart):
    def kl_divergence(self, other):
        return NormalWishart(**parameters(other)).kl_divergence(NormalWishart(**parameters(self)))


class HalfTheDimension(NormalWishart):
    """(b/2π)^(1/2) in place of (b/2π)^(d/2)."""

    def log_prob(self, x):
        return super().log_prob(x) - 0.5 * (self.dim - 1) * np.log(self.strength / (2.0 * np.pi))


class WritesToThePair(NormalGamma):
    def log_prob(self, x):
        found = super().log_prob(x)
        if isinstance(x[0], np.ndarray) and x[0].flags.writeable:
            x[0][...] = 0.0
        return found


BATCH = {"mean": np.zeros((2, 2)), "strength": [1.0, 4.0], "dof": [12.0, 20.0], "scale": W}
MUTANTS = [
    (distribution_laws.entropy_is_the_expected_negative_log_prob, GammaOfOneDimension(dof=2.5, scale=W)),
    (distribution_laws.samples_match_mean_and_variance, SameDofForEveryRow(**MATRIX)),
    (distribution_laws.samples_match_mean_and_variance, ScaleIsTheMean(**MATRIX)),
    (distribution_laws.samples_match_mean_and_variance, IndependentEntries(**MATRIX)),
    (distribution_laws.entropy_is_the_expected_negative_log_prob, ScaleInvertedInTheTrace(**MATRIX)),
    (distribution_laws.samples_match_mean_and_variance, DofOfTheWishart(**MATRIX)),
    (distribution_laws.entropy_is_the_expected_negative_log_prob, VolumeForgotten(**MATRIX)),
    (distribution_laws.entropy_is_the_expected_negative_log_prob, NotNormalised(**SHARES)),
    (density_laws.mode_has_the_greatest_density, MeanIsTheMode(**SHARES)),
    (distribution_laws.samples_match_covariance, DrawsNotShared(**SHARES)),
    (distribution_laws.fit_is_the_most_likely, PseudocountsFitted(**SHARES)),
    (distribution_laws.samples_match_mean_and_variance, CovarianceAsScale(**VECTOR)),
    (
        distribution_laws.entropy_is_the_expected_negative_log_prob,
        OneGammaForEachEntry(**{**VECTOR, "dof": 3.0}),
    ),
    (joint_laws.chain_rule_holds_for_columns, ConditionsAsANormal(**VECTOR)),
    (joint_laws.chain_rule_holds_for_columns, DofStays(**VECTOR)),
    (joint_laws.marginals_compose, MarginalLosesTails(**VECTOR)),
    (density_laws.density_integrates_to_one, OneOverTwoB(location=[0.0, 0.0], scale=0.7, norm="l2")),
    (density_laws.density_integrates_to_one, OneOverTwoB(location=[0.0, 0.0], scale=0.7, norm="l1")),
    (distribution_laws.fit_is_the_most_likely, MeanNormIsTheScale(location=[0.0, 0.0], scale=0.7, norm="l2")),
    (
        distribution_laws.samples_match_mean_and_variance,
        CoordinatesForTheRound(location=[0.0, 0.0], scale=0.7, norm="l2"),
    ),
    (distribution_laws.samples_match_mean_and_variance, PrecisionAsVariance(**NUMBERS)),
    (distribution_laws.entropy_is_the_expected_negative_log_prob, PartsDrawnApart(**NUMBERS)),
    (density_laws.mode_has_the_greatest_density, ModeOfTheMarginal(**NUMBERS)),
    (distribution_laws.seeds_reproduce, GlobalPrecisions(**PAIR)),
    (distribution_laws.arguments_are_left_alone, WritesToThePair(**NUMBERS)),
    (distribution_laws.kl_is_the_expected_log_ratio, BackwardPair(**BATCH)),
    (distribution_laws.entropy_is_the_expected_negative_log_prob, HalfTheDimension(**PAIR)),
]


@pytest.mark.spec("E000-14")
@pytest.mark.parametrize(("law", "broken"), MUTANTS, ids=lambda x: getattr(x, "__name__", type(x).__name__))
def test_laws_reject_the_classic_bugs(law, broken, rng):
    with pytest.raises(AssertionError):
        law(broken, rng)
